#ifndef ORDO_MODEL_TASKS_TEXT_PARAMS_H_
#define ORDO_MODEL_TASKS_TEXT_PARAMS_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status/details.h"
#include "model/catalog/catalog.h"
#include "model/tasks/data_access.h"
#include "model/tasks/prompt_tokens.h"
#include "model/tasks/task.h"
#include "model/text/store/facts.h"
#include "model/text/task/token_data.h"
#include "model/text/task/token_stream.h"
#include "proto/ordo/training/v1/spec.pb.h"

// The tasks on text, from the parameters that the catalogue has for them
// (entries_text.cc), which are resolved.

namespace ordo::model::tasks {

inline constexpr char kTextTask[] = "text";
// Where the parameters of an evaluation stand, for messages.
inline constexpr char kEvaluationField[] = "params";

// What text is and which of it is read, of a training task or of an evaluation,
// at `field`; the split is an evaluation's.
text::task::TextOptions TextOptionsOf(const catalog::Params& params,
                                      const char* field);
text::store::HeldOut HeldOutOf(const catalog::Params& params);
text::task::Split SplitOf(const catalog::Params& params);

// Complains about an evaluation without data or without a tokenizer, which then
// the training would have to say.
void CheckTextGiven(const text::task::TextOptions& options,
                    std::vector<base::FieldViolation>* violations);

absl::StatusOr<std::unique_ptr<TrainingTask>> TextOf(
    const catalog::Params& params, const DataAccess& access);

// INVALID_ARGUMENT, with the field: data, tokenizer or lengths are left out,
// and `trained_on` is null or does not say them.
absl::StatusOr<std::unique_ptr<EvaluationTask>> PerplexityOf(
    const catalog::Params& params, const ordo::training::v1::Data* trained_on,
    const DataAccess& access);

// Those that the parameters of an evaluation with made-up prompts name; nothing
// where these are bytes. Errors are those of text::task::OpenTokenizer.
absl::StatusOr<std::optional<PromptTokens>> PromptTokensOf(
    const catalog::Params& params, const DataAccess& access);

// Of the parameters of a training task that names its tokenizer.
absl::StatusOr<std::unique_ptr<Tokenizer>> TextTokenizerOf(
    const catalog::Params& params, const DataAccess& access);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_TEXT_PARAMS_H_
