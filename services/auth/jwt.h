#ifndef ORDO_SERVICES_AUTH_JWT_H_
#define ORDO_SERVICES_AUTH_JWT_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/digest/signature.h"
#include "base/files/files.h"
#include "base/mutex.h"
#include "proto/ordo/access/v1/access.pb.h"
#include "services/auth/visitor.h"

// JSON Web Tokens (RFC 7519) of an identity provider, signed by RS256 or ES256
// with a key of a key set (RFC 7517) that lies in a file.

namespace ordo::services::auth {

struct JwtOptions {
  // What `iss` must be, and what `aud` must name one of.
  std::string issuer;
  std::vector<std::string> audiences;
  // The key set. Read again when it has changed.
  std::string key_set_file;
  // The claim with the login name.
  std::string user_claim = "sub";
  // The claim with the role, or a list of which the highest counts; parts of a
  // path are separated by dots. Its values, and what they mean here.
  std::string role_claim = "role";
  std::map<std::string, ordo::access::v1::Role> roles = {
      {"viewer", ordo::access::v1::VIEWER},
      {"user", ordo::access::v1::USER},
      {"admin", ordo::access::v1::ADMIN}};
  // The claim with a list of queues' ids that the caller is bound to, who has
  // none without it; empty: nobody is bound to queues.
  std::string queues_claim = {};
  // By how much other clocks may be off.
  absl::Duration clock_skew = absl::Seconds(60);
};

// The keys of a set by their key ids; those that are for something else, or of
// another kind than RS256 and ES256 need, are left out. INVALID_ARGUMENT: it is
// none, or has no key that is left.
absl::StatusOr<std::map<std::string, base::PublicKey>> ParseKeySet(
    const std::string& json);

// Whether a bearer token is a JWT, by its two dots: no secret of a token has
// any.
bool IsJwt(std::string_view bearer);

// Thread-safe.
class JwtVerifier {
 public:
  // Reads the key set; errors are those of ParseKeySet and of reading. What is
  // given outlives this.
  static absl::StatusOr<std::unique_ptr<JwtVerifier>> Make(
      JwtOptions options, base::Filesystem& files, const base::Clock& clock);

  // Whose token it is. UNAUTHENTICATED says why it is not accepted, of what is
  // inside only once its signature is right.
  absl::StatusOr<VisitorPtr> Verify(const std::string& token) const;
  // Whether Verify need not check its signature again.
  bool WasVerified(const std::string& token) const;

 private:
  using Keys = std::map<std::string, base::PublicKey>;

  JwtVerifier(JwtOptions options, base::Filesystem& files,
              const base::Clock& clock)
      : options_(std::move(options)), files_(files), clock_(clock) {}
  absl::Status ReadKeys() const ORDO_REQUIRES(mutex_);
  std::shared_ptr<const Keys> CurrentKeys() const ORDO_EXCLUDES(mutex_);
  // By its digest; null: its signature was not checked yet, or it has expired.
  VisitorPtr FindVerified(const std::string& sha256) const
      ORDO_EXCLUDES(mutex_);

  const JwtOptions options_;
  base::Filesystem& files_;
  const base::Clock& clock_;

  mutable base::Mutex mutex_;
  mutable std::string text_ ORDO_GUARDED_BY(mutex_);
  mutable std::shared_ptr<const Keys> keys_ ORDO_GUARDED_BY(mutex_);
  mutable absl::Duration read_ ORDO_GUARDED_BY(mutex_);
  // Those that were verified by these keys, by digest.
  mutable absl::flat_hash_map<std::string, VisitorPtr> verified_
      ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_JWT_H_
