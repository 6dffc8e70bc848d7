#ifndef ORDO_SCHEDULER_CORE_LIFE_H_
#define ORDO_SCHEDULER_CORE_LIFE_H_

#include <string>

#include "scheduler/core/turn.h"

// How a job's state changes, how it ends, and what its end means for others.
// Internal to scheduler/core.

namespace ordo::scheduler::core {

// Moves the job along kTransitions; that it leads somewhere is a precondition.
void Follow(JobEdit& edit, Trigger trigger, const std::string& reason,
            const std::string& message);

// The job is in a terminal state: it holds nothing any more. The caller commits
// the edit.
void FinishJob(JobEdit& edit);

// Tells the jobs that need one of turn.ended: they may start, or fail, which
// others may need.
void SettleNeeds(Turn& turn);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_LIFE_H_
