#ifndef ORDO_SCHEDULER_CORE_ATTEMPTS_H_
#define ORDO_SCHEDULER_CORE_ATTEMPTS_H_

#include <string>

#include "scheduler/core/event.h"
#include "scheduler/core/exits.h"
#include "scheduler/core/turn.h"
#include "scheduler/policy/policy.h"

// The life of an attempt: placed, ended, cancelled. Internal to
// scheduler/core.

namespace ordo::scheduler::core {

// The newest attempts kept in a job's record.
inline constexpr int kMaxAttemptsKept = 100;

// Gives free devices to waiting jobs, as the policy says.
void PlaceJobs(Turn& turn);

// Counts the device's time since it was last counted, as what it was used for.
// Called before `live.use` changes and at each observation, so that the count
// of a long attempt grows while it runs.
void CountUse(Turn& turn, Live& live);

// Ends the live attempt of `edit`'s job, and the job or its wait for another.
// The caller commits the edit.
void EndAttempt(JobEdit& edit, const AttemptEnd& end);

// A user asks to end a job; answers the call.
void HandleCancel(Turn& turn, const Cancel& cancel);

// The backoff of a queued job is over.
void EndBackoff(Turn& turn, const std::string& job);

// Records that the jobs of turn.backoff_ended which found no device wait for
// one.
void RecordWaits(Turn& turn);

// Moves the job along kTransitions; that it leads somewhere is a precondition.
void Follow(JobEdit& edit, Trigger trigger, const std::string& reason,
            const std::string& message);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_ATTEMPTS_H_
