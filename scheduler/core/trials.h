#ifndef ORDO_SCHEDULER_CORE_TRIALS_H_
#define ORDO_SCHEDULER_CORE_TRIALS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/core/references.h"
#include "scheduler/core/state.h"

// Jobs whose results decide what another takes: JobSpec.tuned_by. Internal to
// scheduler/core.

namespace ordo::scheduler::core {

// Which of them is best, the first of equals; nothing: none of them left a
// finite score. Once they have ended it is the same each time, for jobs that
// have ended get no more reports, and whoever names trials holds on to them
// (PinnedBy).
std::optional<size_t> BestTrial(const State& state, const Trials& trials);

// Whether a job that is to be created may take what these have shown.
// NOT_FOUND: one is not there. FAILED_PRECONDITION: all have ended, and none
// left a finite score.
absl::Status CheckTrials(const State& state, const NamedJobs& named,
                         const Trials& trials);

// For people: what is missing of trials that have ended and left nothing, and
// what scores are there instead.
std::string NothingOf(const State& state, const Trials& trials);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_TRIALS_H_
