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

  // The resolved spec, with its queue's run_time_limit if it names none.
  // Appends a violation for a queue that is not there and for a limit above the
  // queue's. The same spec gives the same spec.
  scheduler::SpecPtr Apply(const scheduler::SpecPtr& spec,
                           std::vector<base::FieldViolation>* violations);

 private:
  const scheduler::Scheduler& scheduler_;
  std::map<std::string, absl::StatusOr<ordo::queues::v1::Queue>> queues_;
  // Specs that were given a limit, by what they were before.
  std::map<scheduler::SpecPtr, scheduler::SpecPtr> limited_;
};

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_QUEUE_RULES_H_
