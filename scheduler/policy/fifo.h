#ifndef ORDO_SCHEDULER_POLICY_FIFO_H_
#define ORDO_SCHEDULER_POLICY_FIFO_H_

#include <vector>

#include "scheduler/policy/policy.h"

namespace ordo::scheduler::policy {

// First come, first served, apart for each kind of device: a job that waits for
// one kind, or for a device that does not lack a kernel it names, never holds
// up a job that a free device would do for.
std::vector<Placement> PlaceFifo(const Snapshot& snapshot);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_FIFO_H_
