#ifndef ORDO_SERVICES_SPEC_MODEL_FROM_H_
#define ORDO_SERVICES_SPEC_MODEL_FROM_H_

#include <string>
#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

// Gives a spec with model.from the model of `trained`, the resolved spec of the
// job that leaves the checkpoint, and its encoding where the spec has none;
// model.from stays, init_std and dropout too where they are given, and
// model.from_sha256 is left out. Appends a violation for each other field of
// the model that is given and is another than in `source`, which says for
// people where the model is from.
void TakeModel(const ordo::jobs::v1::JobSpec& trained,
               const std::string& source, ordo::jobs::v1::JobSpec* spec,
               std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_MODEL_FROM_H_
