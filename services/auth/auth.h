#ifndef ORDO_SERVICES_AUTH_AUTH_H_
#define ORDO_SERVICES_AUTH_AUTH_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/rpc/server.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"

// Who calls and what they may do: two seams, each with what fits a service
// that only this machine reaches. All implementations are thread-safe.

namespace ordo::services::auth {

// Finds out who calls.
class Authenticator {
 public:
  virtual ~Authenticator() = default;

  // UNAUTHENTICATED when the caller's claim cannot be accepted.
  virtual absl::StatusOr<ordo::jobs::v1::Owner> Identify(
      const base::Caller& caller) const = 0;
};

// Decides what a caller may do.
class Authoriser {
 public:
  virtual ~Authoriser() = default;

  // Whether `caller` may cancel, hold and release a job of `owner`, give it
  // another priority, or thin and delete its checkpoints. PERMISSION_DENIED if
  // not.
  virtual absl::Status MayChange(const ordo::jobs::v1::Owner& caller,
                                 const ordo::jobs::v1::Owner& owner) const = 0;
  // Whether `caller` may change queues, close workers and release devices.
  // PERMISSION_DENIED if not.
  virtual absl::Status MayAdminister(
      const ordo::jobs::v1::Owner& caller) const = 0;
};

// Name of a caller that gives none.
inline constexpr char kUnknownUser[] = "unknown";
inline constexpr size_t kMaxUserLength = 128;

// Believes the user name that the caller sends, and marks it as not verified.
class ClaimedUserAuthenticator : public Authenticator {
 public:
  absl::StatusOr<ordo::jobs::v1::Owner> Identify(
      const base::Caller& caller) const override;
};

// Lets everybody change everything: names that are only claimed protect
// nothing, and who reaches a loopback port can end the processes as well.
class OpenAuthoriser : public Authoriser {
 public:
  absl::Status MayChange(const ordo::jobs::v1::Owner& caller,
                         const ordo::jobs::v1::Owner& owner) const override;
  absl::Status MayAdminister(
      const ordo::jobs::v1::Owner& caller) const override;
};

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_AUTH_H_
