#ifndef ORDO_SCHEDULER_CORE_OBSERVE_ATTEMPT_H_
#define ORDO_SCHEDULER_CORE_OBSERVE_ATTEMPT_H_

#include "proto/ordo/agent/v1/agent.pb.h"
#include "scheduler/core/turn.h"

namespace ordo::scheduler::core {

// A worker observes at most this many durable records of an attempt at a time;
// fewer means that there are no more.
inline constexpr int kMaxRecordsObserved = 64;

// Takes what a worker observes of a rank of the live attempt of `entry`: that
// it runs, its durable records, how far it is, its end. An end is taken only
// with all durable records. Internal to scheduler/core.
void ObserveAttempt(Turn& turn, JobEntry& entry,
                    const agent::v1::ObservedAttempt& observed);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_OBSERVE_ATTEMPT_H_
