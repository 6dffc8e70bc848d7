#ifndef ORDO_SERVICES_SPEC_REFERENCES_H_
#define ORDO_SERVICES_SPEC_REFERENCES_H_

#include <string>
#include <vector>

#include "base/status/details.h"

// The names by which specs refer to jobs and checkpoints.

namespace ordo::services::spec {

// The one form of a reference to a checkpoint, which is
// jobs/{job}/checkpoints/{checkpoint} or jobs/{job} for its newest ("latest"
// becomes that). Appends a violation of `field` when it is none.
void ResolveReference(const std::string& field, std::string* reference,
                      std::vector<base::FieldViolation>* violations);

// The one form of a `model.from`, which may be a job's id too. Appends a
// violation when it is none.
void ResolveModelFrom(std::string* reference,
                      std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_REFERENCES_H_
