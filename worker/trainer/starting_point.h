#ifndef ORDO_WORKER_TRAINER_STARTING_POINT_H_
#define ORDO_WORKER_TRAINER_STARTING_POINT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/training/initial_values.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "worker/trainer/context.h"

namespace ordo::worker::trainer {

// Where a run goes on from.
struct StartingPoint {
  // Resource name or path of the checkpoint; empty at step 0.
  std::string resumed_from;
  // The id of the checkpoint if it is one of this job's own, else empty.
  std::string own_checkpoint;
  // Ids of the job's own checkpoints that were tried before it.
  std::vector<std::string> passed_over;
  // Every step so far ran in `environment` below.
  bool exact = true;
  // The same of this job's own steps: those before spec.start do not count.
  bool own_exact = true;
  // What the run began with at step 0: as its own checkpoint records it, which
  // may not know; without one the values that it begins with now, of spec.start
  // and spec.base too.
  ordo::model::training::InitialValues initial;
  // Digest of the state that was loaded, or of the initial one.
  std::string state_digest;
  // Which checkpoints were passed over and why, and why it is not exact.
  std::vector<std::string> warnings;
};

// Brings `run`, which stands at step 0, to the first checkpoint of spec.resume
// that verifies and is of the same recipe; without any to spec.start, whose
// recipe may be another; else leaves it at step 0, with the weights of
// spec.base where there is one. CHECKPOINT_DAMAGED when spec.start or spec.base
// is needed and cannot be loaded, or when the run may not start over and would;
// INVALID_ARGUMENT when spec.base is of another architecture.
absl::StatusOr<StartingPoint> LoadStartingPoint(
    const TrainerContext& context,
    const ordo::model::training::Environment& environment,
    ordo::model::training::Run* run);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_STARTING_POINT_H_
