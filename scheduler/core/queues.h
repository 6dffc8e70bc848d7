#ifndef ORDO_SCHEDULER_CORE_QUEUES_H_
#define ORDO_SCHEDULER_CORE_QUEUES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "scheduler/scheduler.h"

// What people set of queues, and the record of it. Functions of their
// arguments; who calls them keeps the map.

namespace ordo::scheduler::core {

// A queue without what follows from the jobs in it. Shared, never changed.
using QueuePtr = std::shared_ptr<const queues::v1::Queue>;
// By id. A deleted one stays, with its delete_time, for its changes.
using Queues = std::map<std::string, QueuePtr>;
// Deleted ones that are kept.
inline constexpr size_t kMaxDeletedQueues = 100;

// "queues/a".
std::string QueueName(const std::string& queue);

// Null when there is none or it is deleted. `default`, as nobody has changed it
// yet, needs no entry.
QueuePtr FindQueue(const Queues& queues, const std::string& queue);
// NOT_FOUND, naming the nearest there is.
absl::StatusOr<QueuePtr> GetQueue(const Queues& queues,
                                  const std::string& queue);
// Those that are not deleted, by id; `default` among them.
Queues AllQueues(const Queues& queues);

// Whether jobs may be added to a queue in which `held` have not ended.
// NOT_FOUND when there is none, RESOURCE_EXHAUSTED when it would have more than
// its max_queued_jobs.
absl::Status CheckRoom(const Queues& queues, const std::string& queue,
                       int64_t held, int64_t added);

// Whether a queue that a store gave is one that could have been made.
bool IsSound(const std::string& id, const queues::v1::Queue& queue);

// The queue that takes its place in the map, or why it cannot be; see
// Scheduler. `wanted` has a name, and all that people set. An update that
// changes nothing gives what is there.
absl::StatusOr<QueuePtr> CreatedQueue(const Queues& queues,
                                      const queues::v1::Queue& wanted,
                                      const Author& author, absl::Time now);
absl::StatusOr<QueuePtr> UpdatedQueue(const Queues& queues,
                                      const queues::v1::Queue& wanted,
                                      const Author& author, absl::Time now);

struct QueueDeletion {
  std::string queue;
  // Empty: whatever it is.
  std::string etag;
  // Jobs of it that have not ended.
  int64_t num_jobs = 0;
};
absl::StatusOr<QueuePtr> DeletedQueue(const Queues& queues,
                                      const QueueDeletion& deletion,
                                      const Author& author, absl::Time now);

// The deleted queue to keep no longer: the one that was deleted first, when
// there are more than kMaxDeletedQueues. Empty: none.
std::string QueueToForget(const Queues& queues);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_QUEUES_H_
