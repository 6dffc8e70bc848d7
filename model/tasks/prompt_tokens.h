#ifndef ORDO_MODEL_TASKS_PROMPT_TOKENS_H_
#define ORDO_MODEL_TASKS_PROMPT_TOKENS_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/tokenizers/tokenizer.h"

namespace ordo::model::tasks {

// Prompts in words as tokens of a tokenizer's file. Immutable, thread-safe.
class PromptTokens {
 public:
  // With `begin` the tokenizer's mark of a beginning, where it has one, stands
  // before each prompt.
  PromptTokens(std::unique_ptr<text::tokenizers::TextTokenizer> tokenizer,
               bool begin);

  const text::tokenizers::TextTokenizer& tokenizer() const {
    return *tokenizer_;
  }

  // The beginning of a prompt. Errors are those of Tokenizer::Encode.
  absl::StatusOr<std::vector<int64_t>> Begin(std::string_view text) const;

  // Text behind that, by itself.
  absl::StatusOr<std::vector<int64_t>> Encode(std::string_view text) const;

 private:
  std::unique_ptr<text::tokenizers::TextTokenizer> tokenizer_;
  bool begin_;
};

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_PROMPT_TOKENS_H_
