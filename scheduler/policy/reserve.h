#ifndef ORDO_SCHEDULER_POLICY_RESERVE_H_
#define ORDO_SCHEDULER_POLICY_RESERVE_H_

#include <optional>

#include "absl/time/time.h"
#include "scheduler/policy/plan.h"

// When and where a job that is blocked will have room. Internal to
// scheduler/policy.

namespace ordo::scheduler::policy {

struct FutureRoom {
  // Infinite: nobody knows when attempts that have no limit end.
  absl::Duration at;
  Assignments where;
};

// The earliest moment at which all ranks have room because attempts have ended
// by their limits, on one worker if one has, and those workers: of the workers
// that take work, are not reserved, are not drained before what starts then has
// ended, and have the most devices for it (64 of them, or four times what the
// ranks need; all, where those are too few). Nothing: there is no such moment,
// even if they come to be empty.
std::optional<FutureRoom> FindFutureRoom(const Plan& plan, int shape);

// Whether there might be one, if nothing were reserved. Where none is to be
// drained, whether they have room when they are empty. O(workers) where some
// are.
bool MayHaveRoom(const Plan& plan, int shape);

// Whether smaller jobs could for ever take what comes free before it is enough
// for the shape, so that room must be kept for it. A job of one device needs
// room kept only so that none is kept for later ones before it.
bool NeedsReservation(const Shape& shape);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_RESERVE_H_
