#ifndef ORDO_SERVICES_SPEC_SPEC_SIZE_H_
#define ORDO_SERVICES_SPEC_SPEC_SIZE_H_

#include <cstddef>

#include "absl/status/status.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

inline constexpr size_t kMaxSpecBytes = 1 << 20;

// INVALID_ARGUMENT for a spec of more than kMaxSpecBytes; names its longest
// field.
absl::Status CheckSpecSize(const ordo::jobs::v1::JobSpec& spec);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_SPEC_SIZE_H_
