#ifndef ORDO_SERVICES_REQUEST_AUTHOR_H_
#define ORDO_SERVICES_REQUEST_AUTHOR_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/scheduler.h"
#include "services/auth/visitor.h"

namespace ordo::services::request {

// Longest `reason` of a change, in bytes.
inline constexpr size_t kMaxReasonLength = 256;

// Who changes something, and why. INVALID_ARGUMENT for a `reason` that is too
// long or has control characters.
absl::StatusOr<scheduler::Author> AuthorOf(const auth::Visitor& visitor,
                                           const std::string& reason);

}  // namespace ordo::services::request

#endif  // ORDO_SERVICES_REQUEST_AUTHOR_H_
