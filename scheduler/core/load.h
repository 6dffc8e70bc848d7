#ifndef ORDO_SCHEDULER_CORE_LOAD_H_
#define ORDO_SCHEDULER_CORE_LOAD_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/state.h"

namespace ordo::scheduler::core {

// What a state begins with: the stored records of all jobs that have not ended
// and of those that they name, or aliases and pins do (JobNamedBy), ordered by
// key (jobs by sequence, then checkpoints and reports by name, rows by kind and
// key).
struct Records {
  std::vector<JobPtr> jobs;
  std::vector<CheckpointPtr> checkpoints;
  std::vector<ReportPtr> reports;
  std::vector<RowPtr> rows = {};
  // The largest that any job ever had; 0: there was none.
  int64_t last_sequence = 0;
};

// The records of all that the state holds.
Records DurablePart(const State& state);

// The state after a restart. Workers of live attempts are unknown until they
// announce themselves, for which they have one lease from `now`. DATA_LOSS when
// the records do not fit together.
absl::StatusOr<State> Load(const Options& options, const Records& records,
                           const Moment& now);

// The workers of a loaded state that are not in it and of which something is
// decided (one is cordoned, drained or has a device in quarantine), as lost:
// the shell shows them until Apply publishes another look.
std::vector<PublishWorker> AbsentWorkers(const State& state);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_LOAD_H_
