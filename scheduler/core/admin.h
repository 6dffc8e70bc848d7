#ifndef ORDO_SCHEDULER_CORE_ADMIN_H_
#define ORDO_SCHEDULER_CORE_ADMIN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/event.h"
#include "scheduler/core/turn.h"

// What those who run a cluster ask: queues, and workers closed and opened.
// Internal to scheduler/core.

namespace ordo::scheduler::core {

// Answered with the queue, or why it cannot be.
void HandleChangeQueue(Turn& turn, const ChangeQueue& change);

// Answered with the worker as it then is. NOT_FOUND when it has neither
// announced itself nor been decided about, or has no such device.
void HandleChangeWorker(Turn& turn, const ChangeWorker& change);

// How the worker is to be published, which is not there: as lost while
// something is decided of it (IsDecided), null else.
PublishWorker PublishAbsent(const State& state, const std::string& worker);

// Brings a worker up to date with what people decided of it: when it is new,
// when they decide, and when its drain is due.
void TakeAdmin(State& state, const Moment& now, Worker& worker);

// Makes `admin` the record of a worker, which need not be there, and has all
// follow from it that does. The record that there is already: nothing happens.
void SetAdmin(Turn& turn, const std::string& worker,
              const WorkerAdminPtr& admin);

// The times of drains are the wall clock's: when that was set since they were
// last brought up to date with it, they are again.
void FollowWallClock(Turn& turn);

// Records how the wall clock is set, when that is another way than is recorded.
void RecordClock(Turn& turn);

// The drain of a worker is due: what runs there is stopped.
void BeginDrain(Turn& turn, const std::string& worker);

// Whether so many jobs may be added to each queue: CheckRoom.
absl::Status CheckQueues(const State& state,
                         const std::map<std::string, int64_t>& num_jobs);

// The rows of what people set, by kind and key; and what they say, taken back.
// DATA_LOSS for one that cannot be read.
std::vector<RowPtr> AdminRows(const State& state);
absl::Status TakeAdminRow(const Row& row, State* state);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_ADMIN_H_
