#ifndef ORDO_SCHEDULER_CORE_PAST_H_
#define ORDO_SCHEDULER_CORE_PAST_H_

#include "scheduler/core/event.h"
#include "scheduler/core/state.h"

// Jobs that have ended leave the state once all that was recorded of them is
// stored, and come back from the store with an event that names them. So the
// rest of the core finds whatever an event names among the jobs it holds.

namespace ordo::scheduler::core {

void HandleRecall(State& state, Recall recall);
void HandleForget(State& state, const Forget& forget);

// Takes a stored job that has ended into the state, unless it is there.
void TakeBack(State& state, const PastJob& past);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_PAST_H_
