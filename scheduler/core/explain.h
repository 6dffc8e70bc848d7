#ifndef ORDO_SCHEDULER_CORE_EXPLAIN_H_
#define ORDO_SCHEDULER_CORE_EXPLAIN_H_

#include <cstdint>
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

// Where a job that is queued stands.
struct Placing {
  // What the policy says of a job that waits for devices; nothing for one that
  // something else holds.
  std::optional<policy::Reason> reason;
  // The id of the job that it names; may be empty.
  std::string other;
  // Jobs of its queue that wait for devices and come earlier; of a job that
  // something else holds: that would, if it were free now.
  int64_t jobs_ahead = 0;
  // When it starts, not before its backoff is over; nothing: that cannot be
  // told. As if nobody had it on hold and what it needs had ended.
  std::optional<absl::Time> start;
  // When an attempt that starts now has ended at the latest; infinite: it has
  // no limit. A worker that is drained before is closed to it.
  absl::Time ends_by = absl::InfiniteFuture();
  // The id of the job whose next checkpoint it awaits; empty: none.
  std::string follows;
  // The id of the live job whose answer it awaits; empty: none.
  std::string awaits;
};

// Nothing for a job that is not queued, or not there.
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
