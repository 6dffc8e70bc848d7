#ifndef ORDO_SERVICES_SPEC_OVERRIDES_H_
#define ORDO_SERVICES_SPEC_OVERRIDES_H_

#include <map>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "google/protobuf/struct.pb.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

inline constexpr int kMaxOverrides = 64;

// Values by field path, as Overrides.set has them. The values are not owned.
using ValuesByPath = std::map<std::string, const google::protobuf::Value*>;

// Whether a spec that is part of another may have another value at `path`;
// appends what is wrong with it, with `path` as the field.
void CheckOverridePath(const std::string& path,
                       std::vector<base::FieldViolation>* violations);

// Sets each field, as `--set` does, a field before what lies within it. Appends
// what cannot be set, with paths below those of `values`, and sets the others.
void ApplyOverrides(const ValuesByPath& values, ordo::jobs::v1::JobSpec* spec,
                    std::vector<base::FieldViolation>* violations);

// A value as text for people, a string without its quotes; a long one is cut.
std::string ValueText(const google::protobuf::Value& value);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_OVERRIDES_H_
