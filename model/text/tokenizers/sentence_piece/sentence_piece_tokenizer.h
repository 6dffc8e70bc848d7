#ifndef ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_SENTENCE_PIECE_TOKENIZER_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_SENTENCE_PIECE_TOKENIZER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "model/text/tokenizers/sentence_piece/library.h"
#include "model/text/tokenizers/tokenizer.h"

namespace ordo::model::text::tokenizers::sentence_piece {

// SentencePiece from the content of its model file (tokenizer.model). Text is
// normalised as the model says; begin and end are its <s> and </s>. `library`
// is that of LoadLibrary. INVALID_ARGUMENT: the file is not one.
absl::StatusOr<std::unique_ptr<TextTokenizer>> ParseSentencePiece(
    const Library* library, const std::string& bytes);

}  // namespace ordo::model::text::tokenizers::sentence_piece

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_SENTENCE_PIECE_TOKENIZER_H_
