#include "scheduler/main/auth_config.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "services/auth/user_name.h"

namespace ordo::scheduler {
namespace {

using config::v1::Auth;
using config::v1::Jwt;
using ordo::access::v1::Role;
using Violations = std::vector<base::FieldViolation>;

constexpr char kDefaultAdmin[] = "admin";
constexpr size_t kMinSecretBytes = 32;
constexpr size_t kMaxSecretBytes = 1024;
constexpr absl::Duration kMaxClockSkew = absl::Minutes(10);
constexpr char kRoles[] = "must be viewer, user or admin";

const std::map<std::string, Role>& PeoplesRoles() {
  static const auto* const roles =
      new std::map<std::string, Role>{{"viewer", ordo::access::v1::VIEWER},
                                      {"user", ordo::access::v1::USER},
                                      {"admin", ordo::access::v1::ADMIN}};
  return *roles;
}

void CheckRole(const std::string& field, const std::string& role,
               Violations* violations) {
  if (PeoplesRoles().count(role) > 0) return;
  violations->push_back({field, absl::StrCat(kRoles, ", is ", role)});
}

void CheckPath(const char* field, const std::string& path,
               Violations* violations) {
  if (!path.empty() && path[0] == '/') return;
  violations->push_back(
      {field, absl::StrCat("must be an absolute path, is '", path, "'")});
}

void ResolveJwt(Jwt* jwt, Violations* violations) {
  if (jwt->issuer().empty()) {
    violations->push_back(
        {"auth.jwt.issuer",
         "is required: what `iss` of the identity provider's tokens is"});
  }
  if (jwt->audiences().empty()) {
    violations->push_back(
        {"auth.jwt.audiences",
         "is required: what `aud` of tokens for this deployment is"});
  }
  CheckPath("auth.jwt.key_set_file", jwt->key_set_file(), violations);
  const services::auth::JwtOptions standard;
  if (jwt->user_claim().empty()) jwt->set_user_claim(standard.user_claim);
  if (jwt->role_claim().empty()) jwt->set_role_claim(standard.role_claim);
  if (jwt->roles().empty()) {
    for (const auto& [name, role] : PeoplesRoles()) {
      (*jwt->mutable_roles())[name] = name;
    }
  }
  const std::map<std::string, std::string> roles(jwt->roles().begin(),
                                                 jwt->roles().end());
  for (const auto& [value, role] : roles) {
    CheckRole(absl::StrCat("auth.jwt.roles[\"", value, "\"]"), role,
              violations);
  }
  if (!jwt->has_clock_skew()) {
    *jwt->mutable_clock_skew() = base::ToProtoDuration(standard.clock_skew);
  }
  const absl::Duration skew = base::ToDuration(jwt->clock_skew());
  if (skew < absl::ZeroDuration() || skew > kMaxClockSkew) {
    violations->push_back(
        {"auth.jwt.clock_skew",
         absl::StrCat("must be 0 to ", absl::FormatDuration(kMaxClockSkew),
                      ", is ", absl::FormatDuration(skew))});
  }
}

services::auth::JwtOptions OptionsOf(const Jwt& jwt) {
  services::auth::JwtOptions options;
  options.issuer = jwt.issuer();
  options.audiences.assign(jwt.audiences().begin(), jwt.audiences().end());
  options.key_set_file = jwt.key_set_file();
  options.user_claim = jwt.user_claim();
  options.role_claim = jwt.role_claim();
  options.roles.clear();
  for (const auto& [value, role] : jwt.roles()) {
    options.roles[value] = PeoplesRoles().at(role);
  }
  options.queues_claim = jwt.queues_claim();
  options.clock_skew = base::ToDuration(jwt.clock_skew());
  return options;
}

absl::StatusOr<std::string> ReadSecret(base::Filesystem& files,
                                       const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(
      const std::string text,
      base::AddContext(base::ReadFile(files, path, 2 * kMaxSecretBytes),
                       "read auth.admin_token_file"));
  std::string secret(absl::StripAsciiWhitespace(text));
  const bool printable = std::all_of(secret.begin(), secret.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c));
  });
  if (!printable || secret.size() < kMinSecretBytes ||
      secret.size() > kMaxSecretBytes || services::auth::IsJwt(secret)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "auth.admin_token_file ", path, " must hold ", kMinSecretBytes, "..",
        kMaxSecretBytes,
        " printable characters, without two dots; make one with: openssl rand "
        "-base64 33"));
  }
  return secret;
}

}  // namespace

void ResolveAuth(Auth* auth, Violations* violations) {
  if (!auth->admin_token_file().empty()) {
    CheckPath("auth.admin_token_file", auth->admin_token_file(), violations);
  }
  if (auth->certificate_admins().empty()) {
    auth->add_certificate_admins(kDefaultAdmin);
  }
  for (int i = 0; i < auth->certificate_admins_size(); ++i) {
    if (services::auth::IsUserName(auth->certificate_admins(i))) continue;
    violations->push_back(
        {absl::StrCat("auth.certificate_admins[", i, "]"),
         "must be printable ASCII characters without spaces"});
  }
  if (auth->certificate_role().empty()) auth->set_certificate_role("user");
  CheckRole("auth.certificate_role", auth->certificate_role(), violations);
  if (auth->has_jwt()) ResolveJwt(auth->mutable_jwt(), violations);
}

absl::StatusOr<KnownBy> LoadAuth(const Auth& auth, base::Filesystem& files,
                                 const base::Clock& clock) {
  KnownBy known;
  known.options.certificate_admins = {auth.certificate_admins().begin(),
                                      auth.certificate_admins().end()};
  known.options.certificate_role = PeoplesRoles().at(auth.certificate_role());
  if (!auth.admin_token_file().empty()) {
    ORDO_ASSIGN_OR_RETURN(const std::string secret,
                          ReadSecret(files, auth.admin_token_file()));
    known.options.admin_token_sha256 = base::Sha256Hex(secret);
  }
  if (auth.has_jwt()) {
    ORDO_ASSIGN_OR_RETURN(known.jwt, services::auth::JwtVerifier::Make(
                                         OptionsOf(auth.jwt()), files, clock));
    known.options.jwt = known.jwt.get();
  }
  return known;
}

}  // namespace ordo::scheduler
