#ifndef ORDO_SCHEDULER_CORE_EXPLAIN_H_
#define ORDO_SCHEDULER_CORE_EXPLAIN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/state.h"
#include "scheduler/policy/why.h"

namespace ordo::scheduler::core {

// What the policy says of a job that waits for devices.
struct Placing {
  policy::Reason reason;
  // The id of the job that it names; may be empty.
  std::string other;
  std::optional<absl::Time> start;
};

// Nothing for a job that does not wait for devices, or is not there.
std::optional<Placing> PlacingOf(const State& state, const std::string& job,
                                 const Moment& now);

// What there is to see, as the API shows it.
struct Explained {
  const jobs::v1::Job& job;
  const std::vector<workers::v1::Worker>& workers;
  absl::Time now;
  // Ids of the jobs that it needs and that have not ended.
  std::vector<std::string> needed = {};
  std::optional<Placing> placing = std::nullopt;
};

// What a job waits for or does, in sentences. The first blocker of a queued job
// is the one thing that holds it.
jobs::v1::ExplainResponse Explain(const Explained& seen);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_EXPLAIN_H_
