#ifndef ORDO_WORKER_TRAINER_CONTROL_H_
#define ORDO_WORKER_TRAINER_CONTROL_H_

#include "absl/status/status.h"
#include "model/training/initial_values.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "worker/trainer/context.h"

// What a training task records of itself beside its numbers, so that others can
// say whether two runs may be compared.

namespace ordo::worker::trainer {

// Digests of a run's initial values, in its attempt's folder.
inline constexpr char kInitialFile[] = "initial.json";

// What of a run that begins with these values others are compared with;
// `environment` is what it computes in.
ordo::training::v1::RunControl ControlOf(
    const ordo::model::training::Run& run,
    const ordo::model::training::Environment& environment,
    const ordo::model::training::InitialValues& initial);

// Writes kInitialFile; nothing where the values are not known.
absl::Status WriteInitialValues(
    const TrainerContext& context, int attempt,
    const ordo::model::training::InitialValues& values);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_CONTROL_H_
