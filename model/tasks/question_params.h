#ifndef ORDO_MODEL_TASKS_QUESTION_PARAMS_H_
#define ORDO_MODEL_TASKS_QUESTION_PARAMS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/catalog/catalog.h"
#include "model/tasks/data_access.h"
#include "model/tasks/task.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::model::tasks {

// Questions in words, from the parameters that the catalogue has for them
// (entries_text.cc), which are resolved. INVALID_ARGUMENT, with the field: the
// tokenizer is left out, and so it was by the training.
absl::StatusOr<std::unique_ptr<EvaluationTask>> QuestionsOf(
    const catalog::Params& params, const ordo::training::v1::Data* trained_on,
    const DataAccess& access);

inline constexpr char kScrollsTask[] = "scrolls";

// Training on the answers of such questions (entries_scrolls.cc).
absl::StatusOr<std::unique_ptr<TrainingTask>> ScrollsOf(
    const catalog::Params& params, const DataAccess& access);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_QUESTION_PARAMS_H_
