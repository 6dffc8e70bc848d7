#ifndef ORDO_SERVICES_SPEC_DATA_PATHS_H_
#define ORDO_SERVICES_SPEC_DATA_PATHS_H_

#include <functional>
#include <string>

#include "model/catalog/catalog.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

// The paths of data that specs name, in parameters of their tasks.

namespace ordo::services::spec {

// Where a path stands. Valid while it is visited.
struct DataPath {
  // Relative to the spec, such as "data.params.data[0]".
  const std::string& field;
  const model::catalog::Entry& task;
  const model::catalog::Param& param;
  // All that the spec gives the task, resolved or not.
  const model::catalog::ParamMap& params;
};
using DataPathVisitor =
    std::function<void(const DataPath& where, std::string* path)>;

// Calls `visit` with each path of data in a spec of one job, resolved or not,
// which it may change. Values of another type than their parameter's are left
// out.
void VisitDataPaths(ordo::jobs::v1::JobSpec* spec,
                    const DataPathVisitor& visit);

// Whether there may be one. Cheap where no task of the spec reads data.
bool NamesData(const ordo::jobs::v1::JobSpec& spec);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_DATA_PATHS_H_
