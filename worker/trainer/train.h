#ifndef ORDO_WORKER_TRAINER_TRAIN_H_
#define ORDO_WORKER_TRAINER_TRAIN_H_

#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "worker/trainer/context.h"
#include "worker/trainer/progress.h"

namespace ordo::worker::trainer {

// Runs one training task to its end, or to a request to stop: trains, reports
// to `progress`, writes checkpoints and evaluates. FINISHED or STOPPED; errors
// are marked with their exit code. What evaluations read is looked at before
// the first step. A checkpoint that cannot be written is reported and tried
// again at the next occasion; only at the end it is an error, STORAGE_ERROR,
// and where the storage does not even refuse it (Checkpoints::kLongestWrite);
// then the process is left. `spec` is resolved. The last record
// (TrainerFinished) is written in every case. Configures the numerics of the
// process.
//
// With several ranks, `spec` says which of them this is; rank 0 does what is
// said above, the others train beside it, with progress of their own, and end
// as it does. A request to stop reaches all of them, whichever was asked.
// PEER_LOST: one of them ended, or did not come. NCCL_ERROR: its library cannot
// be loaded, or it failed while none of them had ended.
absl::StatusOr<ordo::training::v1::ExitCode> Train(
    const TrainerContext& context, const ordo::training::v1::TrainSpec& spec,
    Progress* progress);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_TRAIN_H_
