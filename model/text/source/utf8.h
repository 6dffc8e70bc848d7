#ifndef ORDO_MODEL_TEXT_SOURCE_UTF8_H_
#define ORDO_MODEL_TEXT_SOURCE_UTF8_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ordo::model::text::source {

// Offset of the first byte that does not belong to well-formed UTF-8 (Unicode
// 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF), or
// nothing. Of a sequence that breaks off, that of its first byte.
std::optional<size_t> FirstInvalidUtf8(std::string_view text);

// Well-formed UTF-8: each longest part of `bytes` that begins a sequence and
// breaks off, and each byte that begins none, becomes one U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view bytes);

// Bytes of the character of Unicode's White_Space that `text`, well-formed
// UTF-8, begins with; 0: it begins with none.
size_t WhiteSpaceAt(std::string_view text);

}  // namespace ordo::model::text::source

#endif  // ORDO_MODEL_TEXT_SOURCE_UTF8_H_
