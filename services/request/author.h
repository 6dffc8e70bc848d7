#ifndef ORDO_SERVICES_REQUEST_AUTHOR_H_
#define ORDO_SERVICES_REQUEST_AUTHOR_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "base/rpc/server.h"
#include "scheduler/scheduler.h"
#include "services/auth/auth.h"

namespace ordo::services::request {

// Longest `reason` of a change, in bytes.
inline constexpr size_t kMaxReasonLength = 256;

// Who calls to change something, and why. UNAUTHENTICATED; INVALID_ARGUMENT for
// a `reason` that is too long or has control characters.
absl::StatusOr<scheduler::Author> AuthorOf(
    const auth::Authenticator& authenticator, const base::Caller& caller,
    const std::string& reason);

// Who calls to change what all share, such as a queue or a worker, and why.
// UNAUTHENTICATED, or PERMISSION_DENIED when the caller may not; then
// INVALID_ARGUMENT for a `reason` that is too long or has control characters.
absl::StatusOr<scheduler::Author> AuthorOf(
    const auth::Authenticator& authenticator,
    const auth::Authoriser& authoriser, const base::Caller& caller,
    const std::string& reason);

}  // namespace ordo::services::request

#endif  // ORDO_SERVICES_REQUEST_AUTHOR_H_
