#ifndef ORDO_SCHEDULER_POLICY_CHECK_H_
#define ORDO_SCHEDULER_POLICY_CHECK_H_

#include "absl/status/status.h"
#include "scheduler/policy/board.h"

namespace ordo::scheduler::policy {

// What holds of every board; INTERNAL with the first thing that does not:
// - a job waits or runs, not both; it is in the lane of its queue, shape and
//   owner, by its order;
// - a device has at most one holder, all ranks of an attempt that have not
//   ended hold what they were given, and counts of what queues and owners hold
//   are the sums of that;
// - the indexes of room agree with the workers;
// - reservations are of jobs that wait, on workers that take work, one a
//   worker.
// Walks everything: for tests.
absl::Status Check(const Board& board);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_CHECK_H_
