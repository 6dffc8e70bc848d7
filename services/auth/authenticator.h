#ifndef ORDO_SERVICES_AUTH_AUTHENTICATOR_H_
#define ORDO_SERVICES_AUTH_AUTHENTICATOR_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "base/rpc/server.h"
#include "services/auth/jwt.h"
#include "services/auth/tokens.h"
#include "services/auth/user_name.h"
#include "services/auth/visitor.h"

namespace ordo::services::auth {

// Finds out who calls. Thread-safe.
class Authenticator {
 public:
  virtual ~Authenticator() = default;

  // Never null. Nobody, of ROLE_UNSPECIFIED, when the call says nothing.
  // UNAUTHENTICATED when what it says cannot be accepted.
  virtual absl::StatusOr<VisitorPtr> Identify(
      const base::Caller& caller) const = 0;

  // Whether it takes time to find out, as a signature does that was not checked
  // before: who fails often may not have it done.
  virtual bool TakesTime(const base::Caller& /*caller*/) const { return false; }

  // Whether somebody who was identified would be now: a token may have been
  // revoked, or have expired.
  virtual bool StillHolds(const Visitor& /*visitor*/) const { return true; }
};

// Name of a caller that gives none.
inline constexpr char kUnknownUser[] = "unknown";

// Believes the user name that the caller sends, marks it as not verified, and
// lets everybody do everything: names that are only claimed protect nothing,
// and who reaches a loopback port can end the processes as well.
class ClaimedUserAuthenticator : public Authenticator {
 public:
  absl::StatusOr<VisitorPtr> Identify(
      const base::Caller& caller) const override;
};

struct KnownAuthenticatorOptions {
  // Users whose certificate makes them administrators.
  std::set<std::string> certificate_admins = {};
  // Role of other users with a certificate.
  ordo::access::v1::Role certificate_role = ordo::access::v1::USER;
  // Digest of the secret of a token beside those of the store, that makes its
  // bearer the administrator `admin`; empty: there is none.
  std::string admin_token_sha256 = {};
  // Not owned; null: no JWT is accepted.
  const JwtVerifier* jwt = nullptr;
};

// Believes what is proved, the first that applies: a certificate's name
// (ordo:worker/{id}, ordo:user/{name}), a bearer token of the store, a JWT. A
// proof that fails is never passed on to the next.
class KnownAuthenticator : public Authenticator {
 public:
  // `tokens` outlives this.
  KnownAuthenticator(const Tokens& tokens, KnownAuthenticatorOptions options);

  absl::StatusOr<VisitorPtr> Identify(
      const base::Caller& caller) const override;
  bool TakesTime(const base::Caller& caller) const override;
  bool StillHolds(const Visitor& visitor) const override {
    return tokens_.StillHolds(visitor);
  }

 private:
  absl::StatusOr<VisitorPtr> OfCertificate(const base::Caller& caller) const;
  absl::StatusOr<VisitorPtr> OfBearer(const std::string& bearer) const;

  const Tokens& tokens_;
  const KnownAuthenticatorOptions options_;
  const VisitorPtr nobody_;
  const VisitorPtr admin_;
};

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_AUTHENTICATOR_H_
