#ifndef ORDO_SCHEDULER_CORE_EXPLAIN_H_
#define ORDO_SCHEDULER_CORE_EXPLAIN_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"

namespace ordo::scheduler::core {

// What there is to see, as the API shows it.
struct Explained {
  const jobs::v1::Job& job;
  // Queued jobs that wait for the same kind of device and came earlier.
  int jobs_ahead = 0;
  const std::vector<workers::v1::Worker>& workers;
  absl::Time now;
  // Ids of the jobs that it needs and that have not ended.
  std::vector<std::string> needed = {};
};

// What a job waits for or does, in sentences. A queued job has at least one
// blocker, the most important first.
jobs::v1::ExplainResponse Explain(const Explained& seen);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_EXPLAIN_H_
