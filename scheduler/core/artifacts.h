#ifndef ORDO_SCHEDULER_CORE_ARTIFACTS_H_
#define ORDO_SCHEDULER_CORE_ARTIFACTS_H_

#include <memory>

#include "proto/ordo/agent/v1/agent.pb.h"
#include "scheduler/core/turn.h"

// What a live attempt has made durable: checkpoints, reports, warnings.
// Internal to scheduler/core.

namespace ordo::scheduler::core {

// Warnings kept for an attempt.
inline constexpr int kMaxWarnings = 20;

// Takes one durable record of a rank of the live attempt of `edit`. A record
// that does not fit its attempt (a checkpoint of another number, or of another
// rank than 0) is counted as refused and leaves a warning; one that is
// registered already changes nothing.
void TakeDurableRecord(JobEdit& edit, int32_t rank,
                       const agent::v1::DurableRecord& record);

// Adds a warning to the newest attempt, unless it has kMaxWarnings already.
void AddWarning(JobEdit& edit, const std::string& message);

// Put `next`, a copy of the checkpoint at `slot`, in its place, and record it:
// as DELETED, with its folder removed; or without the optimizer's state, which
// it has, and with that file removed.
void MarkDeleted(Turn& turn, std::shared_ptr<checkpoints::v1::Checkpoint> next,
                 CheckpointPtr* slot);
void MarkThinned(Turn& turn, std::shared_ptr<checkpoints::v1::Checkpoint> next,
                 CheckpointPtr* slot);

// Marks the checkpoints of a job that are beyond its `keep` newest as deleted,
// and those beyond its `keep_optimizer` newest as thinned; but for those that
// are held (State.pins) or have yet to be evaluated by a job that follows. The
// best (BestCheckpoint) is not deleted, and not thinned either while a job
// needs it as that.
void ApplyRetention(Turn& turn, JobEntry& entry);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_ARTIFACTS_H_
