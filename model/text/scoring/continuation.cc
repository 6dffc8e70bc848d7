#include "model/text/scoring/continuation.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "model/text/scoring/unicode.h"

namespace ordo::model::text::scoring {

absl::StatusOr<Continuation> SplitContinuation(
    const tasks::Tokenizer& tokenizer, std::string_view context,
    std::string_view continuation) {
  const std::string_view stripped = StripEnd(context);
  ORDO_ASSIGN_OR_RETURN(
      std::vector<int64_t> whole,
      tokenizer.Encode(std::string(context).append(continuation)));
  Continuation split;
  ORDO_ASSIGN_OR_RETURN(split.context, tokenizer.Encode(stripped));
  if (whole.size() <= split.context.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", std::string(continuation),
                     "' adds no token to its context: give it other text"));
  }
  const auto border =
      whole.begin() + static_cast<int64_t>(split.context.size());
  split.continuation.assign(border, whole.end());
  split.context.assign(whole.begin(), border);
  return split;
}

}  // namespace ordo::model::text::scoring
