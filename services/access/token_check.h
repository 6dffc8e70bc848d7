#ifndef ORDO_SERVICES_ACCESS_TOKEN_CHECK_H_
#define ORDO_SERVICES_ACCESS_TOKEN_CHECK_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/ordo/access/v1/access.pb.h"

namespace ordo::services::access {

inline constexpr int kMaxQueuesOfToken = 100;
inline constexpr absl::Duration kMinTtl = absl::Minutes(1);
inline constexpr absl::Duration kMaxTtl = absl::Hours(366 * 24);
inline constexpr absl::Duration kDefaultTtl = absl::Hours(30 * 24);
inline constexpr absl::Duration kMaxWorkerTtl = absl::Hours(7 * 24);
inline constexpr absl::Duration kDefaultWorkerTtl = absl::Hours(1);

// The token that a request asks for at `now`, with its name, user and
// expire_time. INVALID_ARGUMENT with every violation; whether its queues exist
// is not looked at.
absl::StatusOr<ordo::access::v1::Token> NewTokenOf(
    const ordo::access::v1::CreateTokenRequest& request, absl::Time now);

}  // namespace ordo::services::access

#endif  // ORDO_SERVICES_ACCESS_TOKEN_CHECK_H_
