#ifndef ORDO_SERVICES_REQUEST_NAMES_H_
#define ORDO_SERVICES_REQUEST_NAMES_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// Resource names of requests. Every error is INVALID_ARGUMENT with one field
// violation that shows the form wanted.

namespace ordo::services::request {

// The id of a name "<collection>/<id>", such as "jobs/addition-rope".
// `field` is the request's field that holds `name`.
absl::StatusOr<std::string> ParseName(std::string_view field,
                                      std::string_view collection,
                                      std::string_view name);

// A resource of a job.
struct ChildName {
  std::string job;
  std::string id;
};

// "jobs/<job>/<collection>/<id>" in the field `name`.
absl::StatusOr<ChildName> ParseChildName(std::string_view collection,
                                         std::string_view name);

// The job of a field `parent`, "jobs/<job>"; empty for "jobs/-", all jobs.
absl::StatusOr<std::string> ParseParent(std::string_view parent);

}  // namespace ordo::services::request

#endif  // ORDO_SERVICES_REQUEST_NAMES_H_
