#ifndef ORDO_SCHEDULER_POLICY_FAIR_H_
#define ORDO_SCHEDULER_POLICY_FAIR_H_

#include "absl/time/time.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/decisions.h"

namespace ordo::scheduler::policy {

// The policy `fair`: queues by weighted share of used device-time, those below
// their guarantee first; within a queue by priority and age; gangs whole, on as
// few workers as there is room; room kept for what is blocked, and nothing
// started that would delay it; preemption by priority within a queue, and by
// queues that take back their guarantee.
//
// Stateless and idempotent: carried out, and asked again at the same moment, it
// answers nothing. Each job and each device at most once.
Decisions PlaceFair(const Board& board, absl::Duration now);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_FAIR_H_
