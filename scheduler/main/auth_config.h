#ifndef ORDO_SCHEDULER_MAIN_AUTH_CONFIG_H_
#define ORDO_SCHEDULER_MAIN_AUTH_CONFIG_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/status/details.h"
#include "proto/ordo/config/v1/auth.pb.h"
#include "services/auth/authenticator.h"
#include "services/auth/jwt.h"

namespace ordo::scheduler {

// Fills in the defaults of `auth`, and adds a violation for each field of it
// that is not valid. Reads no files.
void ResolveAuth(config::v1::Auth* auth,
                 std::vector<base::FieldViolation>* violations);

// What callers are known by.
struct KnownBy {
  // Null: no JWT is accepted.
  std::unique_ptr<services::auth::JwtVerifier> jwt;
  // Refers to `jwt`.
  services::auth::KnownAuthenticatorOptions options;
};

// Of a resolved one: reads its files, which `files` and `clock` outlive.
// INVALID_ARGUMENT for one that is not what it should be; else the errors of
// reading.
absl::StatusOr<KnownBy> LoadAuth(const config::v1::Auth& auth,
                                 base::Filesystem& files,
                                 const base::Clock& clock);

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_MAIN_AUTH_CONFIG_H_
