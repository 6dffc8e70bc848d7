#ifndef ORDO_MODEL_TASKS_REGISTRY_H_
#define ORDO_MODEL_TASKS_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/task.h"
#include "proto/ordo/training/v1/spec.pb.h"

// The tables of tasks. A new task is a file and a row here and in
// model/catalog, which says what its parameters are; this code takes the
// parameters of a resolved spec, where all are set and within their ranges.

namespace ordo::model::tasks {

// NOT_FOUND for a name that is not in the table.
absl::StatusOr<std::unique_ptr<TrainingTask>> MakeTrainingTask(
    const training::v1::Data& data);

// `trained_on` is what the model was trained on, or null when not known.
absl::StatusOr<std::unique_ptr<EvaluationTask>> MakeEvaluationTask(
    const training::v1::Evaluation& evaluation,
    const training::v1::Data* trained_on);

// Names in the tables, sorted.
std::vector<std::string> TrainingTaskNames();
std::vector<std::string> EvaluationTaskNames();

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_REGISTRY_H_
