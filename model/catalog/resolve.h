#ifndef ORDO_MODEL_CATALOG_RESOLVE_H_
#define ORDO_MODEL_CATALOG_RESOLVE_H_

#include "absl/status/statusor.h"
#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// Checks a task's specification, part by part (resolve_model.h and so on), and
// fills in every default, the same way in command line, scheduler and trainer.
// Ranges and defaults are those in proto/ordo/training/v1/spec.proto.
//
// The functions append all that is wrong to `violations`; `field` is the path
// of the message there. Resolving what is resolved changes nothing. After a
// violation the message is not to be used.

namespace ordo::model::catalog {

// What training jobs and training tasks have in common. Not owned.
struct TrainingParts {
  ordo::training::v1::Data* data;
  // Null: not known yet, since it is that of a checkpoint; `encoding` then may
  // be null too, and neither is checked against the rest.
  ordo::training::v1::Model* model;
  ordo::training::v1::Component* encoding;
  ordo::training::v1::Training* training;
  ordo::training::v1::CheckpointPolicy* checkpoint;
  google::protobuf::RepeatedPtrField<ordo::training::v1::Evaluation>*
      evaluations;
  ordo::training::v1::Resources* resources;
  int max_ranks = 1;
};

// Resolves all of it, and checks what each part asks of the others. The fields
// have the names above.
void ResolveTrainingParts(const TrainingParts& parts, Violations* violations);

// A whole task. INVALID_ARGUMENT with every violation.
absl::StatusOr<ordo::training::v1::TrainSpec> ResolveTrainSpec(
    ordo::training::v1::TrainSpec spec);
absl::StatusOr<ordo::training::v1::EvaluateSpec> ResolveEvaluateSpec(
    ordo::training::v1::EvaluateSpec spec);
absl::StatusOr<ordo::training::v1::BenchmarkSpec> ResolveBenchmarkSpec(
    ordo::training::v1::BenchmarkSpec spec);
absl::StatusOr<ordo::training::v1::GateSpec> ResolveGateSpec(
    ordo::training::v1::GateSpec spec);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_RESOLVE_H_
