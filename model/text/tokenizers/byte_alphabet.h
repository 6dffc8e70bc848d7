#ifndef ORDO_MODEL_TEXT_TOKENIZERS_BYTE_ALPHABET_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_BYTE_ALPHABET_H_

#include <optional>
#include <string>
#include <string_view>

namespace ordo::model::text::tokenizers {

// How the files of byte-level BPE write bytes as printable characters: 33 to
// 126, 161 to 172 and 174 to 255 as the code points of these numbers, the other
// 68, in rising order, as U+0100, U+0101, ...

// The bytes that `text`, well-formed UTF-8, stands for; nothing when one of its
// characters stands for none.
std::optional<std::string> BytesOfPrintable(std::string_view text);

// The text that stands for `bytes`.
std::string PrintableOfBytes(std::string_view bytes);

}  // namespace ordo::model::text::tokenizers

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_BYTE_ALPHABET_H_
