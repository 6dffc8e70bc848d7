#ifndef ORDO_SERVICES_SPEC_SINGLE_JOB_H_
#define ORDO_SERVICES_SPEC_SINGLE_JOB_H_

#include <string>
#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

inline constexpr int kMaxLabels = 64;
inline constexpr int kMaxCheckpoints = 256;

// Appends a violation with `reason` for each of the fields that is set: nothing
// would make use of it.
void RefuseFields(const std::vector<std::string>& names,
                  const std::string& reason,
                  const ordo::jobs::v1::JobSpec& spec,
                  std::vector<base::FieldViolation>* violations);

// What specs of all kinds have: name, labels, queue, and when it runs.
void ResolveCommon(ordo::jobs::v1::JobSpec* spec,
                   std::vector<base::FieldViolation>* violations);

// What a spec of a kind that is one job (train, evaluate, benchmark, gate) has
// beside. A spec of no kind is checked as what it must have meant.
void ResolveSingleJob(ordo::jobs::v1::JobSpec* spec,
                      std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_SINGLE_JOB_H_
