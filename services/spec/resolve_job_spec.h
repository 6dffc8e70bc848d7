#ifndef ORDO_SERVICES_SPEC_RESOLVE_JOB_SPEC_H_
#define ORDO_SERVICES_SPEC_RESOLVE_JOB_SPEC_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

inline constexpr size_t kMaxSpecBytes = 1 << 20;
inline constexpr int kMaxLabels = 64;
// Of a label's key and value, in bytes.
inline constexpr size_t kMaxLabelLength = 63;
inline constexpr int kMaxCheckpoints = 256;

// INVALID_ARGUMENT for a spec of more than kMaxSpecBytes; names its longest
// field.
absl::Status CheckSpecSize(const ordo::jobs::v1::JobSpec& spec);

// The spec with every default filled in, in one form: checkpoints as
// jobs/{job}/checkpoints/{checkpoint} or jobs/{job}. Needs no server: what a
// spec refers to is not looked up. Resolving a resolved spec changes nothing.
//
// INVALID_ARGUMENT with one field violation for each thing wrong, all at once;
// fields are relative to the spec, such as "training.steps".
absl::StatusOr<ordo::jobs::v1::JobSpec> ResolveJobSpec(
    ordo::jobs::v1::JobSpec spec);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_RESOLVE_JOB_SPEC_H_
