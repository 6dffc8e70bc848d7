#ifndef ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_TRAIN_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_TRAIN_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "model/text/tokenizers/sentence_piece/library.h"

namespace ordo::model::text::tokenizers::sentence_piece {

enum class Kind { kBpe, kUnigram };

struct TrainOptions {
  Kind kind = Kind::kBpe;
  // Of the model, with <unk>, <s>, </s> and the 256 bytes, 1000 and less fail
  // where the text has many letters.
  int vocabulary_size = 32000;
  // Share of the text's letters that get a piece of their own; others become
  // bytes. (0.98, 1].
  double character_coverage = 0.9995;
  // Bytes of text after which no more is read: it is in memory, several times.
  size_t max_bytes = size_t{256} << 20;
};

// Gives the next document, well-formed UTF-8; nothing after the last.
using Documents = std::function<absl::StatusOr<std::optional<std::string>>()>;

// The content of a new model's file, made as Llama-2's: text as it is, a blank
// put first, digits by themselves, bytes for letters that have no piece. The
// same documents and options make the same file.
//
// INVALID_ARGUMENT: the library refuses; of a vocabulary that is too small or
// too large for this text it says what fits. Errors of `documents` are passed
// on.
absl::StatusOr<std::string> TrainSentencePiece(const Library* library,
                                               const TrainOptions& options,
                                               const Documents& documents);

}  // namespace ordo::model::text::tokenizers::sentence_piece

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_TRAIN_H_
