#ifndef ORDO_SERVICES_JOBS_QUEUE_RULES_H_
#define ORDO_SERVICES_JOBS_QUEUE_RULES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "scheduler/scheduler.h"

namespace ordo::services::jobs {

// What queues ask of the jobs of one call. Each queue is looked up once. Not
// thread-safe.
class QueueRules {
 public:
  // `scheduler` outlives this.
  explicit QueueRules(const scheduler::Scheduler& scheduler)
      : scheduler_(scheduler) {}

  // Gives a resolved spec that names no run_time_limit that of its queue, and
  // appends a violation for a queue that is not there and for a limit above the
  // queue's.
  void Apply(ordo::jobs::v1::JobSpec* spec,
             std::vector<base::FieldViolation>* violations);

 private:
  const scheduler::Scheduler& scheduler_;
  std::map<std::string, absl::StatusOr<ordo::queues::v1::Queue>> queues_;
};

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_QUEUE_RULES_H_
