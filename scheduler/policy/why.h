#ifndef ORDO_SCHEDULER_POLICY_WHY_H_
#define ORDO_SCHEDULER_POLICY_WHY_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "scheduler/policy/board.h"

namespace ordo::scheduler::policy {

// What keeps a job that waits from starting.
enum class Constraint {
  // Nothing: the next Place starts it.
  kNone,
  // The workers there are do not have what it asks for, empty or not.
  kUnoffered,
  // They would, but those that do take no work, or are drained before an
  // attempt that starts now could have ended.
  kClosed,
  // With it, its queue would hold more than its limit.
  kQueueLimit,
  // With it, its owner would hold more in the queue than is allowed.
  kOwnerLimit,
  // As many parts of its parent run, or have room kept for them, as may.
  kParentLimit,
  // Nothing that is free has room for it.
  kRoom,
  // There is room, and it is kept for `other`.
  kReservation,
  // `other` is before it, and is itself held.
  kOrder,
};

// What there is too little of for a job that would have room with less of it.
enum class Lack {
  // Devices, or more than one of what follows.
  kDevices,
  kCpus,
  kMemory,
  // It wants its workers for itself, and others are on them.
  kEmptyWorkers,
  // Others have theirs for themselves.
  kSharedWorkers,
};

struct Reason {
  Constraint constraint = Constraint::kNone;
  // For kRoom.
  Lack lack = Lack::kDevices;
  // A job, for kReservation and kOrder.
  int64_t other = 0;
  // For the limits: what would be held with the job, and the limit.
  int64_t wanted = 0;
  int64_t limit = 0;
  // Jobs that wait in its queue and come earlier.
  int64_t jobs_ahead = 0;
  // When it starts: a guess (guess.h) by what runs and the jobs ahead, not
  // after the time from which room is kept for it. Nothing: there is no ground
  // for a guess.
  std::optional<absl::Duration> start;
};

// The one constraint that holds a job. The job waits. Agrees with Place: when
// it names a constraint, Place does not start the job. Costs what GuessStart
// does.
Reason Why(const Board& board, int64_t job, absl::Duration now);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_WHY_H_
