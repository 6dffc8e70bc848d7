#ifndef ORDO_SCHEDULER_CORE_NEEDS_H_
#define ORDO_SCHEDULER_CORE_NEEDS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "scheduler/core/state.h"
#include "scheduler/core/transitions.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::core {

// Whether jobs that are to be created, by id, may need what their specs say;
// `retired`: how those have ended that left the store, by id. NOT_FOUND: a job
// is nowhere among all of these. FAILED_PRECONDITION: it has ended, and not as
// it must have. INVALID_ARGUMENT: they need each other in a circle, or a name
// is none.
absl::Status CheckNeeds(const State& state,
                        const std::map<std::string, NewJob>& created,
                        const std::map<std::string, JobState>& retired);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_NEEDS_H_
