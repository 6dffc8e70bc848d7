#ifndef ORDO_MODEL_TEXT_TOKENIZERS_TOKENIZER_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_TOKENIZER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "model/tasks/task.h"

namespace ordo::model::text::tokenizers {

// Any text as tokens and back. Immutable, thread-safe.
//
// Encode takes well-formed UTF-8 (INVALID_ARGUMENT otherwise) and puts no marks
// of documents before or after it. Decode gives well-formed UTF-8: bytes that
// are not become U+FFFD. Ids outside of the vocabulary give "?".
class TextTokenizer : public tasks::Tokenizer {
 public:
  // SHA-256, 64 lower-case hexadecimal digits, over all that decides ids: that
  // of its file, where it has one and no option changes ids.
  virtual const std::string& digest() const = 0;

  // What stands before and after a document, where the tokenizer has such
  // tokens.
  virtual std::optional<int64_t> begin_token() const = 0;
  virtual std::optional<int64_t> end_token() const = 0;
};

}  // namespace ordo::model::text::tokenizers

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_TOKENIZER_H_
