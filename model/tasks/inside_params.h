#ifndef ORDO_MODEL_TASKS_INSIDE_PARAMS_H_
#define ORDO_MODEL_TASKS_INSIDE_PARAMS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/catalog/catalog.h"
#include "model/tasks/data_access.h"
#include "model/tasks/inside.h"
#include "model/tasks/task.h"

namespace ordo::model::tasks {

// Where the texts come from that a model reads while it is looked into.
struct InsideSource {
  // The model's training task; null where it is not known, or reads text.
  std::unique_ptr<TrainingTask> trained_on;
  const DataAccess& access;
};

// An evaluation of a model's inside, from the parameters that the catalogue has
// for it (entries_inside.cc), which are resolved. Without data it reads rows of
// `source.trained_on`. INVALID_ARGUMENT, with the field: data or tokenizer are
// left out, and that does not stand for them.
absl::StatusOr<std::unique_ptr<EvaluationTask>> InsideOf(
    InsideQuery::Kind kind, const catalog::Params& params, InsideSource source);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_INSIDE_PARAMS_H_
