#ifndef ORDO_SCHEDULER_SERVER_QUEUE_VIEW_H_
#define ORDO_SCHEDULER_SERVER_QUEUE_VIEW_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/core/job.h"
#include "scheduler/core/queues.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::server {

// Queues as reads of the API see them: what people set, and what follows from
// the jobs in them that have not ended. Not thread-safe.
class QueueView {
 public:
  // A queue is new, or another than before; null: it is forgotten.
  void Put(const std::string& id, core::QueuePtr queue);
  // A job is new, or another than `before`, which is null then.
  void Count(const core::JobRecord* before, const core::JobRecord& now);

  // As in scheduler::Scheduler.
  absl::StatusOr<queues::v1::Queue> Get(const std::string& queue) const;
  Listing<queues::v1::Queue> List(const Page& page) const;

 private:
  struct Counts {
    int32_t queued = 0;
    int32_t active = 0;
    // Devices by kind.
    std::map<std::string, int32_t> held;
  };

  void Add(const core::JobRecord& job, int32_t sign);
  queues::v1::Queue Shown(const std::string& id,
                          const core::QueuePtr& queue) const;

  core::Queues queues_;
  std::map<std::string, Counts> counts_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_QUEUE_VIEW_H_
