#ifndef ORDO_SCHEDULER_CORE_PACE_H_
#define ORDO_SCHEDULER_CORE_PACE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "scheduler/core/references.h"
#include "scheduler/core/state.h"

// Jobs that measure how long a step takes for others, which get their number of
// steps by that: JobSpec.paced_by. Internal to scheduler/core.

namespace ordo::scheduler::core {

// Mean device-seconds of a step, of the newest attempt that said so; 0: none
// has.
double StepDeviceSeconds(const JobRecord& job);

// The steps of a job with paces that take the device-time which its
// spec's number of steps takes the baseline; nothing: that was not measured.
// Once its paces have ended it is the same each time; it holds on to them
// (PinnedBy).
std::optional<int64_t> PacedSteps(const State& state, const Demand& job);

// Whether a job that is to be created may go by these. NOT_FOUND: one is not
// there. FAILED_PRECONDITION: both have ended, and nothing was measured.
absl::Status CheckPaces(const State& state, const NamedJobs& named,
                        const jobs::v1::JobSpec& spec);

// For people: that jobs which have ended measured nothing.
std::string NothingMeasuredBy(const Demand& job);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_PACE_H_
