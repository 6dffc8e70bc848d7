#ifndef ORDO_MODEL_TEXT_SCORING_CONTINUATION_H_
#define ORDO_MODEL_TEXT_SCORING_CONTINUATION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/task.h"

namespace ordo::model::text::scoring {

// A context and what continues it, as tokens.
struct Continuation {
  std::vector<int64_t> context;
  // At least one; scored.
  std::vector<int64_t> continuation;
};

// As EleutherAI's lm-evaluation-harness parts them: blanks at the end of the
// context go to the continuation, both are tokenized together, and the first so
// many tokens as the context alone has are the context. So a token that reaches
// across the border counts for the continuation, or is lost to the context.
//
// INVALID_ARGUMENT: nothing is left to be scored. Errors of the tokenizer are
// passed on.
absl::StatusOr<Continuation> SplitContinuation(
    const tasks::Tokenizer& tokenizer, std::string_view context,
    std::string_view continuation);

}  // namespace ordo::model::text::scoring

#endif  // ORDO_MODEL_TEXT_SCORING_CONTINUATION_H_
