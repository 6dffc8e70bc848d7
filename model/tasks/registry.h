#ifndef ORDO_MODEL_TASKS_REGISTRY_H_
#define ORDO_MODEL_TASKS_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/data_access.h"
#include "model/tasks/task.h"
#include "proto/ordo/training/v1/spec.pb.h"

// The tables of tasks. A new task is a file and a row here and in
// model/catalog, which says what its parameters are.

namespace ordo::model::tasks {

// INVALID_ARGUMENT for a name or parameters that the catalogue does not have,
// and data that is not as it says; errors of reading have the reason
// kDataMissingReason. Parameters that are left out take their defaults.
absl::StatusOr<std::unique_ptr<TrainingTask>> MakeTrainingTask(
    const ordo::training::v1::Data& data, const DataAccess& access = {});

// `trained_on` is what the model was trained on, or null when not known.
absl::StatusOr<std::unique_ptr<EvaluationTask>> MakeEvaluationTask(
    const ordo::training::v1::Evaluation& evaluation,
    const ordo::training::v1::Data* trained_on, const DataAccess& access = {});

// The tokens of what a model was trained on, without reading the data itself.
// Errors as MakeTrainingTask.
absl::StatusOr<std::shared_ptr<const Tokenizer>> MakeTokenizer(
    const ordo::training::v1::Data& data, const DataAccess& access = {});

// Names in the tables, sorted.
std::vector<std::string> TrainingTaskNames();
std::vector<std::string> EvaluationTaskNames();

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_REGISTRY_H_
