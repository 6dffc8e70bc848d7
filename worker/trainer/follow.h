#ifndef ORDO_WORKER_TRAINER_FOLLOW_H_
#define ORDO_WORKER_TRAINER_FOLLOW_H_

#include "absl/status/statusor.h"
#include "model/training/collective.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "worker/trainer/context.h"
#include "worker/trainer/progress.h"

namespace ordo::worker::trainer {

// A rank of a run. All of it outlives the call.
struct FollowerRun {
  ordo::model::training::Collective* collective = nullptr;
  ordo::model::training::Run* run = nullptr;
  // What `run` computes in.
  ordo::model::training::Environment environment;
};

// The training of a rank other than 0: begins where rank 0 begins (leader.h),
// makes the same steps, waits where that pauses, and ends as it does. Writes
// its own progress and nothing else. The exit code is rank 0's, as is an
// error's while this rank waited; PEER_LOST when a rank is lost.
absl::StatusOr<ordo::training::v1::ExitCode> Follow(
    const TrainerContext& context, const FollowerRun& run, Progress* progress);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_FOLLOW_H_
