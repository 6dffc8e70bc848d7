#ifndef ORDO_SERVICES_SPEC_GATE_JOB_H_
#define ORDO_SERVICES_SPEC_GATE_JOB_H_

#include <string>
#include <utility>
#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

// What a gate refers to, by field: "gate.candidate" and so on, those that are
// given.
std::vector<std::pair<std::string, std::string>> SubjectsOf(
    const ordo::jobs::v1::JobSpec& spec);

// What a spec of kind GATE has of its own: its references, evaluations and
// numbers, and whether it has any power. What of other kinds it has is for the
// caller to refuse.
void ResolveGateJob(ordo::jobs::v1::JobSpec* spec,
                    std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_GATE_JOB_H_
