#ifndef ORDO_SERVICES_SPEC_SPEC_DIFF_H_
#define ORDO_SERVICES_SPEC_SPEC_DIFF_H_

#include <string>
#include <vector>

#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

// A single value that two specs do not share.
struct Difference {
  // Its path.
  std::string path;
  // As text; "nothing" where it is left out.
  std::string first;
  std::string second;
};

// What differs between two specs but for their names and what was bound, in the
// order of their fields.
std::vector<Difference> DiffSpecs(const ordo::jobs::v1::JobSpec& first,
                                  const ordo::jobs::v1::JobSpec& second);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_SPEC_DIFF_H_
