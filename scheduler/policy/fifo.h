#ifndef ORDO_SCHEDULER_POLICY_FIFO_H_
#define ORDO_SCHEDULER_POLICY_FIFO_H_

#include <vector>

#include "scheduler/policy/policy.h"

namespace ordo::scheduler::policy {

// First come, first served, apart for each kind of device: a job that waits for
// one kind never holds up a job for another.
std::vector<Placement> PlaceFifo(const Snapshot& snapshot);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_FIFO_H_
