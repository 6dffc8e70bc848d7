#ifndef ORDO_SERVICES_SPEC_DATA_PATHS_H_
#define ORDO_SERVICES_SPEC_DATA_PATHS_H_

#include <functional>
#include <string>

#include "proto/ordo/jobs/v1/job_spec.pb.h"

// The paths of data that specs name, in parameters of their tasks.

namespace ordo::services::spec {

// `field` is relative to the spec, such as "data.params.data[0]".
using DataPathVisitor =
    std::function<void(const std::string& field, std::string* path)>;

// Calls `visit` with each path of data in a spec of one job, resolved or not,
// which it may change. Values of another type than their parameter's are left
// out.
void VisitDataPaths(ordo::jobs::v1::JobSpec* spec,
                    const DataPathVisitor& visit);

// Whether there may be one. Cheap where no task of the spec reads data.
bool NamesData(const ordo::jobs::v1::JobSpec& spec);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_DATA_PATHS_H_
