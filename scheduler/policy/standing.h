#ifndef ORDO_SCHEDULER_POLICY_STANDING_H_
#define ORDO_SCHEDULER_POLICY_STANDING_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/facts.h"
#include "scheduler/policy/guess.h"
#include "scheduler/policy/tables.h"

// Where a job stands in its queue and when its turn comes, whether it waits on
// the board or not.

namespace ordo::scheduler::policy {

struct Standing {
  // Jobs that wait in its queue and come earlier.
  int64_t jobs_ahead = 0;
  // When it would start; nothing: the workers there are, or a limit, do not let
  // it start, or there is no ground for a guess.
  std::optional<absl::Duration> start;
};

// Where a job that does not wait would stand if it waited from now on: it
// starts now if there is room for it and nobody of its queue is before it for
// its kind of device, else as GuessStart says, and costs what that does. Its
// queue is there.
Standing StandingOf(const Board& board, const WaitingJob& job,
                    absl::Duration now);

// Internal to scheduler/policy:

int64_t JobsAhead(const Tables& tables, const QueuePlace& place);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_STANDING_H_
