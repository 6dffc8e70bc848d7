#ifndef ORDO_SERVICES_SPEC_RESOLVE_JOB_SPEC_H_
#define ORDO_SERVICES_SPEC_RESOLVE_JOB_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

// The spec with every default filled in, in one form: checkpoints as
// jobs/{job}/checkpoints/{checkpoint} or jobs/{job}. Needs no server: what a
// spec refers to is not looked up, so a model that is a checkpoint's stays as
// it is unless it has been filled in. Resolving a resolved spec changes
// nothing.
//
// Of a sweep, comparison or pipeline all parts are checked as well (Expand);
// their templates stay as they are written, for defaults depend on what differs
// in each part.
//
// INVALID_ARGUMENT with one field violation for each thing wrong, all at once;
// fields are relative to the spec, such as "training.steps".
absl::StatusOr<ordo::jobs::v1::JobSpec> ResolveJobSpec(
    ordo::jobs::v1::JobSpec spec);

// What is worth knowing of a resolved TRAIN or COMPARE spec, a sentence each;
// of those of other kinds nothing is known here. Of a COMPARE spec it is that
// its seeds are too few for its tests; of its parts nothing. Job.notices.
std::vector<std::string> NoticesOf(const ordo::jobs::v1::JobSpec& spec);

// What of a resolved spec is not known without a scheduler, a sentence each
// that begins with the field: what it refers to, and what depends on that.
std::vector<std::string> UncheckedOf(const ordo::jobs::v1::JobSpec& spec);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_RESOLVE_JOB_SPEC_H_
