#include "model/tasks/prompt_tokens.h"

#include <utility>

#include "base/status/status.h"

namespace ordo::model::tasks {

PromptTokens::PromptTokens(
    std::unique_ptr<text::tokenizers::TextTokenizer> tokenizer, bool begin)
    : tokenizer_(std::move(tokenizer)), begin_(begin) {}

absl::StatusOr<std::vector<int64_t>> PromptTokens::Begin(
    std::string_view text) const {
  ORDO_ASSIGN_OR_RETURN(std::vector<int64_t> tokens, Encode(text));
  const auto mark = tokenizer_->begin_token();
  if (begin_ && mark.has_value()) tokens.insert(tokens.begin(), *mark);
  return tokens;
}

absl::StatusOr<std::vector<int64_t>> PromptTokens::Encode(
    std::string_view text) const {
  return base::AddContext(tokenizer_->Encode(text), "a prompt as tokens");
}

}  // namespace ordo::model::tasks
