#ifndef ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_LOAD_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_LOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "model/text/tokenizers/sentence_piece/library.h"

namespace ordo::model::text::tokenizers::sentence_piece {

// Loads libordo_sentence_piece.so, for as long as the program runs; a second
// time it is the same. NOT_FOUND: no file is there. FAILED_PRECONDITION: it
// cannot be loaded (the message has the loader's reason), or is not of this
// build. Not under the address sanitizer, which ends a program that loads a
// library so: its tests have the tag `deepbind`.
absl::StatusOr<const Library*> LoadLibrary(const std::string& path);

}  // namespace ordo::model::text::tokenizers::sentence_piece

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_SENTENCE_PIECE_LOAD_H_
