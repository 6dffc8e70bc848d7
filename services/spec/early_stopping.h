#ifndef ORDO_SERVICES_SPEC_EARLY_STOPPING_H_
#define ORDO_SERVICES_SPEC_EARLY_STOPPING_H_

#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/spec/parts.h"

namespace ordo::services::spec {

// Appends what is wrong with sweep.early_stopping by itself, and fills in the
// defaults that do not depend on the runs.
void ResolveEarlyStopping(ordo::jobs::v1::Sweep* sweep,
                          std::vector<base::FieldViolation>* violations);

// The same of what depends on the runs, which are resolved and some: each must
// make the evaluation on the way.
void FitEarlyStopping(const std::vector<Part>& runs,
                      ordo::jobs::v1::EarlyStopping* stopping,
                      std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_EARLY_STOPPING_H_
