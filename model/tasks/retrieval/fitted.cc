#include "model/tasks/retrieval/fitted.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"

namespace ordo::model::tasks::retrieval {
namespace {

// Fewer new lines than this are not worth another try.
constexpr int64_t kFewNewLines = 16;
constexpr int kMaxTries = 16;

using Tokens = std::vector<int64_t>;

struct Fitted {
  Item item;
  // Up to the end of the text, and from the question on.
  Tokens head;
  Tokens tail;

  int64_t size() const {
    return static_cast<int64_t>(head.size() + tail.size());
  }
};

absl::StatusOr<Fitted> InTokens(const PromptTokens& tokens, Item item) {
  Fitted fitted;
  const std::string_view prompt = item.prompt;
  std::string_view text = prompt.substr(0, item.question_begin);
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  ORDO_ASSIGN_OR_RETURN(fitted.head, tokens.Begin(text));
  ORDO_ASSIGN_OR_RETURN(fitted.tail,
                        tokens.Encode(prompt.substr(item.question_begin)));
  fitted.item = std::move(item);
  return fitted;
}

absl::StatusOr<Fitted> Fit(const PromptTokens& tokens, const FittedSize& size,
                           const std::function<Item(int64_t bytes)>& draw) {
  int64_t fits = size.least_bytes;
  ORDO_ASSIGN_OR_RETURN(Fitted best, InTokens(tokens, draw(fits)));
  if (best.size() > size.tokens) {
    return absl::InvalidArgumentError(
        absl::StrCat("the shortest prompt has ", best.size(),
                     " tokens, and there is room "
                     "for ",
                     size.tokens, "; raise the length"));
  }
  // The fewest bytes that are known to be too many; 0: none are.
  int64_t too_many = 0;
  bool was_too_many = false;
  for (int i = 0; i < kMaxTries; ++i) {
    if (size.tokens - best.size() < kFewNewLines) break;
    int64_t bytes = std::max(fits + 1, fits * size.tokens / best.size());
    if (was_too_many) bytes = (fits + too_many) / 2;
    if (too_many > 0) bytes = std::min(bytes, too_many - 1);
    if (bytes <= fits) break;
    ORDO_ASSIGN_OR_RETURN(Fitted next, InTokens(tokens, draw(bytes)));
    was_too_many = next.size() > size.tokens;
    if (was_too_many) {
      too_many = bytes;
    } else {
      fits = bytes;
      best = std::move(next);
    }
  }
  return best;
}

}  // namespace

absl::StatusOr<Question> FittedQuestion(
    const PromptTokens& tokens, const FittedSize& size,
    const std::function<Item(int64_t bytes)>& draw) {
  ORDO_ASSIGN_OR_RETURN(Fitted fitted, Fit(tokens, size, draw));
  ORDO_ASSIGN_OR_RETURN(const Tokens new_line, tokens.Encode("\n"));
  if (new_line.empty()) {
    return absl::InvalidArgumentError(
        "the tokenizer has no token for a new line");
  }
  Question question;
  question.prompt = std::move(fitted.head);
  question.prompt.resize(static_cast<size_t>(size.tokens) - fitted.tail.size(),
                         new_line.back());
  question.prompt.insert(question.prompt.end(), fitted.tail.begin(),
                         fitted.tail.end());
  ORDO_ASSIGN_OR_RETURN(question.answer, tokens.Encode(fitted.item.answer));
  const auto end = tokens.tokenizer().end_token();
  if (end.has_value()) question.answer.push_back(*end);
  question.references = std::move(fitted.item.references);
  return question;
}

}  // namespace ordo::model::tasks::retrieval
