#ifndef ORDO_MODEL_TASKS_RETRIEVAL_FITTED_H_
#define ORDO_MODEL_TASKS_RETRIEVAL_FITTED_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "model/tasks/prompt_tokens.h"
#include "model/tasks/retrieval/items.h"
#include "model/tasks/task.h"

// Questions of items.h in the tokens of a file, of which a text has as many as
// are known once it is read.

namespace ordo::model::tasks::retrieval {

struct FittedSize {
  // Of a prompt.
  int64_t tokens = 0;
  // Fewest that `draw` takes.
  int64_t least_bytes = 0;
};

// The item of about the most bytes whose prompt has no more tokens than that,
// of which new lines between the text and the question make just as many.
// `draw` gives the same item for as many bytes.
//
// INVALID_ARGUMENT: that of the fewest bytes has more, or the tokenizer has no
// tokens for it.
absl::StatusOr<Question> FittedQuestion(
    const PromptTokens& tokens, const FittedSize& size,
    const std::function<Item(int64_t bytes)>& draw);

}  // namespace ordo::model::tasks::retrieval

#endif  // ORDO_MODEL_TASKS_RETRIEVAL_FITTED_H_
