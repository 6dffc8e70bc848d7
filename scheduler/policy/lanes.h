#ifndef ORDO_SCHEDULER_POLICY_LANES_H_
#define ORDO_SCHEDULER_POLICY_LANES_H_

#include <cstdint>

#include "absl/time/time.h"
#include "scheduler/policy/decisions.h"
#include "scheduler/policy/facts.h"
#include "scheduler/policy/tables.h"

// Jobs that wait, by queue, shape, owner and parent; and what these hold.
// Internal to scheduler/policy.

namespace ordo::scheduler::policy {

// The lane of a job of this queue, by its shape, owner and parent; it is
// forgotten when no job of it waits or runs.
int LaneFor(int queue, const WaitingJob& job, Tables* tables);

// Adds a job to its lane, or takes it out of there. It waits afterwards, and
// before.
void AddToLane(int64_t sequence, const WaitEntry& entry, Tables* tables);
void TakeFromLane(int64_t sequence, Tables* tables);
// Forgets the lane if nothing waits or runs there.
void TidyLane(int lane, Tables* tables);

// What its queue has to do with the lane's kind of device.
QueueKind& KindOf(const Lane& lane, Tables* tables);
const QueueKind& KindOf(const Lane& lane, const Tables& tables);

// Of an attempt that runs: its place in QueueKind::attempts.
AttemptKey AttemptKeyOf(const Tables& tables, int64_t job);

// Device-seconds at `now`, decayed.
double UsedAt(const QueueKind& kind, absl::Duration now,
              absl::Duration half_life);
// `devices` more (or fewer) are held by the lane's queue and owner, from
// `since.now` on. When that is before what has been counted, those that came
// free were not used since; those that are held have been counted.
struct Since {
  absl::Duration now;
  absl::Duration half_life;
};
void Hold(const Lane& lane, int devices, const Since& since, Tables* tables);
// As many are kept by reservations.
void KeepDevices(const Lane& lane, int devices, Tables* tables);
// Of jobs of the lane, so many more (or fewer) run.
void CountRunning(int by, Lane* lane, Tables* tables);

// Reservations: as Board::Reserve and Unreserve.
void AddReservation(const Reservation& reservation, Tables* tables);
void DropReservation(int64_t sequence, Tables* tables);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_LANES_H_
