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
// that serve, are not reserved, and have the most open devices (64 of them, or
// four times what the ranks need; all, where those are too few). Nothing: they
// have no room even when they are empty.
std::optional<FutureRoom> FindFutureRoom(const Plan& plan, int shape);

// Whether smaller jobs could for ever take what comes free before it is enough
// for the shape, so that room must be kept for it. A job of one device needs
// room kept only so that none is kept for later ones before it.
bool NeedsReservation(const Shape& shape);

// Whether all behind a job of the shape, which is the first of its queue that
// lacks only room, have to wait with it: it needs room kept, and none can be as
// long as what is kept for other queues is. What its queue starts meanwhile
// would count as its queue's use, and cost it the turn each time that room can
// be kept again.
bool HoldsUpQueue(const Plan& plan, int shape);

// Whether room is kept for any job of the queue that waits for this kind.
bool HasRoomKept(const Tables& tables, const QueueKind& kind);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_RESERVE_H_
