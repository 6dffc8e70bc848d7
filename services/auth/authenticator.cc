#include "services/auth/authenticator.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"

namespace ordo::services::auth {
namespace {

constexpr std::string_view kOurs = "ordo:";
constexpr std::string_view kWorkerPrefix = "ordo:worker/";
constexpr std::string_view kUserPrefix = "ordo:user/";

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

VisitorPtr Nobody() {
  Visitor visitor;
  visitor.owner.set_user(kUnknownUser);
  return std::make_shared<const Visitor>(std::move(visitor));
}

VisitorPtr FileAdmin() {
  Visitor visitor;
  visitor.owner.set_user("admin");
  visitor.owner.set_verified(true);
  visitor.role = ordo::access::v1::ADMIN;
  visitor.known_by = "admin_token_file";
  return std::make_shared<const Visitor>(std::move(visitor));
}

}  // namespace

absl::StatusOr<VisitorPtr> ClaimedUserAuthenticator::Identify(
    const base::Caller& caller) const {
  const std::string user = caller.user.empty() ? kUnknownUser : caller.user;
  if (!IsUserName(user)) {
    return absl::UnauthenticatedError(absl::StrCat(
        base::kUserMetadataKey, " must be at most ", kMaxUserLength,
        " printable ASCII characters without spaces"));
  }
  Visitor visitor;
  visitor.owner.set_user(user);
  visitor.role = ordo::access::v1::ADMIN;
  visitor.known_by = "claim";
  visitor.is_believed = true;
  return std::make_shared<const Visitor>(std::move(visitor));
}

KnownAuthenticator::KnownAuthenticator(const Tokens& tokens,
                                       KnownAuthenticatorOptions options)
    : tokens_(tokens),
      options_(std::move(options)),
      nobody_(Nobody()),
      admin_(FileAdmin()) {}

absl::StatusOr<VisitorPtr> KnownAuthenticator::Identify(
    const base::Caller& caller) const {
  if (!caller.uri_names.empty()) return OfCertificate(caller);
  if (!caller.bearer.empty()) return OfBearer(caller.bearer);
  return nobody_;
}

bool KnownAuthenticator::TakesTime(const base::Caller& caller) const {
  return caller.uri_names.empty() && IsJwt(caller.bearer) &&
         options_.jwt != nullptr && !options_.jwt->WasVerified(caller.bearer);
}

absl::StatusOr<VisitorPtr> KnownAuthenticator::OfCertificate(
    const base::Caller& caller) const {
  const auto& names = caller.uri_names;
  const auto ours = std::find_if(
      names.begin(), names.end(),
      [](const std::string& name) { return StartsWith(name, kOurs); });
  const std::string_view name = ours == names.end() ? names.front() : *ours;
  Visitor visitor;
  visitor.known_by = "certificate";
  visitor.owner.set_verified(true);
  if (StartsWith(name, kWorkerPrefix)) {
    visitor.role = ordo::access::v1::WORKER;
    visitor.worker = std::string(name.substr(kWorkerPrefix.size()));
    visitor.owner.set_user(visitor.worker);
  } else if (StartsWith(name, kUserPrefix)) {
    visitor.owner.set_user(std::string(name.substr(kUserPrefix.size())));
    visitor.role = options_.certificate_admins.count(visitor.owner.user()) > 0
                       ? ordo::access::v1::ADMIN
                       : options_.certificate_role;
  }
  if (!IsUserName(visitor.owner.user())) {
    return absl::UnauthenticatedError(absl::StrCat(
        "a certificate of ", std::string(name.substr(0, kMaxUserLength)),
        " lets nobody in; that of a worker is named ordo:worker/ID, that of a "
        "person ordo:user/NAME"));
  }
  return std::make_shared<const Visitor>(std::move(visitor));
}

absl::StatusOr<VisitorPtr> KnownAuthenticator::OfBearer(
    const std::string& bearer) const {
  if (IsJwt(bearer)) {
    if (options_.jwt == nullptr) {
      return absl::UnauthenticatedError(
          "the scheduler accepts no JWT (auth.jwt of its configuration)");
    }
    return options_.jwt->Verify(bearer);
  }
  const std::string sha256 = base::Sha256Hex(bearer);
  if (!options_.admin_token_sha256.empty() &&
      sha256 == options_.admin_token_sha256) {
    return admin_;
  }
  return tokens_.Find(sha256);
}

}  // namespace ordo::services::auth
