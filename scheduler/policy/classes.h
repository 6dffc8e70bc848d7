#ifndef ORDO_SCHEDULER_POLICY_CLASSES_H_
#define ORDO_SCHEDULER_POLICY_CLASSES_H_

#include <string>

#include "scheduler/policy/tables.h"

// Which shapes fit which workers: workers that are alike when they are empty
// share a class, and for each shape it is known which classes have room for it.
// Internal to scheduler/policy.

namespace ordo::scheduler::policy {

// The number of a kind of device, which it keeps.
int KindId(const std::string& name, Tables* tables);
// -1: nobody has named it.
int FindKind(const Tables& tables, absl::string_view name);

// The number of a shape; one use more, one use less.
int AcquireShape(const Shape& shape, Tables* tables);
void ReleaseShape(int id, Tables* tables);
Ask AskOf(const Tables& tables, int shape);

// Puts a worker into the class that it belongs to, with its room as it is now.
void IndexWorker(int worker, Tables* tables);
// Takes it out, by what it was.
void UnindexWorker(int worker, Tables* tables);
// The same class, and other room.
void RefreshRoom(int worker, Tables* tables);
// Of a worker with what is kept on it.
Room RoomWithReservation(const Tables& tables, int worker);

// Whether a worker takes what has ended by then.
bool TakesUntil(const Room& room, absl::Duration ends_by);
// Workers of the class that do.
int64_t NumTaking(const WorkerClass& worker_class, absl::Duration ends_by);
// Whether all ranks of an attempt that has ended by then would have room if the
// workers that take it were empty; and if all workers did, and offered all
// devices.
bool IsFeasible(const Tables& tables, int shape, absl::Duration ends_by);
bool IsOffered(const Tables& tables, int shape);
// From when on an attempt that starts may run when workers are drained for
// which it is not too late now: the first such moment of the shapes of jobs
// that wait. Infinite: there is none. O(shapes), if any worker that takes work
// will be drained; else O(1).
absl::Duration NextLapse(const Tables& tables, absl::Duration now,
                         absl::Duration grace);

// Ranks of the shape that the worker has room for when it is empty.
int RanksWhenEmpty(const Tables& tables, int shape, int worker);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_CLASSES_H_
