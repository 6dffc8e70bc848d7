#ifndef ORDO_SERVICES_SPEC_SCHEDULING_H_
#define ORDO_SERVICES_SPEC_SCHEDULING_H_

#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

// The queue that is always there.
inline constexpr char kDefaultQueue[] = "default";
inline constexpr int kMaxPriority = 1000;
inline constexpr int kMaxNeeds = 64;
inline constexpr int kMaxInterruptions = 10'000;
inline constexpr int kDefaultInterruptions = 100;

// Checks what a spec says of when it runs: queue, priority, limits of time,
// needs, hold and retry; fills in the defaults, but those that are the queue's.
// Names of needs come out as jobs/{job}.
void ResolveScheduling(ordo::jobs::v1::JobSpec* spec,
                       std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_SCHEDULING_H_
