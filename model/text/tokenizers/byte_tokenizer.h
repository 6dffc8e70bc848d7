#ifndef ORDO_MODEL_TEXT_TOKENIZERS_BYTE_TOKENIZER_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_BYTE_TOKENIZER_H_

#include <memory>

#include "model/text/tokenizers/tokenizer.h"

namespace ordo::model::text::tokenizers {

// A token for each byte: byte b is 4 + b, behind the ids that tasks share
// (padding, unknown, begin, end). 260 in all.
std::unique_ptr<TextTokenizer> MakeByteTokenizer();

}  // namespace ordo::model::text::tokenizers

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_BYTE_TOKENIZER_H_
