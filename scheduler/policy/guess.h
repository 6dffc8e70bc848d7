#ifndef ORDO_SCHEDULER_POLICY_GUESS_H_
#define ORDO_SCHEDULER_POLICY_GUESS_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/job_order.h"
#include "scheduler/policy/room.h"
#include "scheduler/policy/tables.h"

// When a job starts, as far as that can be told by what runs and what waits.
// Internal to scheduler/policy.

namespace ordo::scheduler::policy {

// A job by its place in a queue, on the board or not.
struct QueuePlace {
  int queue;
  OrderKey key;
  Ask ask;
  // -1: the board knows no job of its owner.
  int owner;
};

// What a queue has to do with a kind of device; null: nothing yet.
const QueueKind* UseOf(const Tables& tables, int queue, int kind);

// When an attempt ends: as was noted of it, else when it has taken as long as
// attempts of its queue do, or, if it has taken longer, as long again; never
// later than its limit, nor before now. Infinite: there is no ground to tell.
// The job runs.
absl::Duration ExpectedEnd(const Tables& tables, int64_t job,
                           absl::Duration now);

// Whether ranks of the shape may be on the worker, by its labels, by what
// it may read and by how many they are.
bool Admits(const WorkerEntry& worker, const Ask& ask);

// When it is its turn and there is room for it: by when the attempts that run
// are expected to end, the jobs of its queue that are before it, how long
// attempts of the queue take, and the devices that the queue and its owner may
// have. Nothing: there is no ground for a guess, or what starts then may run
// when the workers are drained. O(lanes of the queue + devices of all workers,
// times a logarithm).
std::optional<absl::Duration> GuessStart(const Board& board,
                                         const QueuePlace& place,
                                         absl::Duration now);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_GUESS_H_
