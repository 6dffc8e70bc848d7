#include "services/auth/jwt.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "services/auth/user_name.h"

namespace ordo::services::auth {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr size_t kMaxKeySetBytes = 1 << 20;
constexpr absl::Duration kKeySetPeriod = absl::Seconds(10);
// Verified tokens that are remembered; then they are forgotten together.
constexpr size_t kMaxVerified = 4096;

absl::Status Refused(const std::string& why) {
  return absl::UnauthenticatedError(absl::StrCat("the JWT ", why));
}

// Nothing unless all of it is base64url without padding (RFC 7515, 2).
std::optional<std::string> Decode(std::string_view text) {
  const bool clean = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ||
           c == '_';
  });
  std::string bytes;
  if (!clean || !absl::WebSafeBase64Unescape(
                    absl::string_view(text.data(), text.size()), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::optional<Struct> ParseJson(const std::string& text) {
  Struct object;
  const auto status =
      google::protobuf::util::JsonStringToMessage(text, &object);
  if (!status.ok()) return std::nullopt;
  return object;
}

const Value* Find(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? nullptr : &found->second;
}

// The text of a field; empty when there is none.
std::string TextOf(const Struct& object, const std::string& name) {
  const Value* const value = Find(object, name);
  return value == nullptr ? "" : value->string_value();
}

// By its whole name, else along its dots.
const Value* FindByPath(const Struct& claims, const std::string& path) {
  if (const Value* whole = Find(claims, path)) return whole;
  const Struct* object = &claims;
  const Value* value = nullptr;
  for (const absl::string_view part : absl::StrSplit(path, '.')) {
    if (object == nullptr) return nullptr;
    value = Find(*object, std::string(part));
    if (value == nullptr) return nullptr;
    object = value->has_struct_value() ? &value->struct_value() : nullptr;
  }
  return value;
}

// Of a text, or a list of texts.
std::vector<std::string> TextsOf(const Value* value) {
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  if (value->kind_case() == Value::kStringValue) {
    texts.push_back(value->string_value());
  }
  for (const Value& each : value->list_value().values()) {
    if (each.kind_case() == Value::kStringValue) {
      texts.push_back(each.string_value());
    }
  }
  return texts;
}

// Nothing when there is no such time.
std::optional<absl::Time> TimeOf(const Struct& claims, const char* name) {
  const Value* const value = Find(claims, name);
  if (value == nullptr || value->kind_case() != Value::kNumberValue) {
    return std::nullopt;
  }
  return absl::UnixEpoch() + absl::Seconds(value->number_value());
}

absl::StatusOr<base::PublicKey> ParseKey(const Struct& key) {
  const auto number = [&key](const char* name) {
    return Decode(TextOf(key, name)).value_or("");
  };
  if (TextOf(key, "kty") == "RSA") {
    return base::PublicKey::Rsa(number("n"), number("e"));
  }
  if (TextOf(key, "kty") == "EC" && TextOf(key, "crv") == "P-256") {
    return base::PublicKey::P256(number("x"), number("y"));
  }
  return absl::InvalidArgumentError("neither RSA nor P-256");
}

absl::Status CheckTimes(const Struct& claims, absl::Time now,
                        absl::Duration skew) {
  const auto expiry = TimeOf(claims, "exp");
  if (!expiry.has_value()) return Refused("does not say when it expires");
  if (now >= *expiry + skew) return Refused("has expired; log in again");
  const auto begin = TimeOf(claims, "nbf");
  if (Find(claims, "nbf") != nullptr &&
      (!begin.has_value() || now < *begin - skew)) {
    return Refused("does not hold yet; see that the clocks are right");
  }
  return absl::OkStatus();
}

absl::Status CheckClaims(const Struct& claims, const JwtOptions& options) {
  if (TextOf(claims, "iss") != options.issuer) {
    return Refused(absl::StrCat("is not of the issuer ", options.issuer));
  }
  const std::vector<std::string> audiences = TextsOf(Find(claims, "aud"));
  const bool is_for_us = std::any_of(
      audiences.begin(), audiences.end(), [&options](const auto& each) {
        return std::count(options.audiences.begin(), options.audiences.end(),
                          each) > 0;
      });
  if (is_for_us) return absl::OkStatus();
  return Refused(absl::StrCat("is not for ",
                              absl::StrJoin(options.audiences, " or "),
                              " (its claim aud)"));
}

absl::StatusOr<VisitorPtr> VisitorOf(const Struct& claims,
                                     const JwtOptions& options) {
  Visitor visitor;
  visitor.known_by = "jwt";
  visitor.owner.set_verified(true);
  const Value* const user = FindByPath(claims, options.user_claim);
  if (user == nullptr || !IsUserName(user->string_value())) {
    return Refused(absl::StrCat("gives no user name of 1..", kMaxUserLength,
                                " printable ASCII characters without spaces "
                                "in its claim ",
                                options.user_claim));
  }
  visitor.owner.set_user(user->string_value());
  for (const std::string& value :
       TextsOf(FindByPath(claims, options.role_claim))) {
    const auto role = options.roles.find(value);
    if (role != options.roles.end()) {
      visitor.role = std::max(visitor.role, role->second);
    }
  }
  if (visitor.role == ordo::access::v1::ROLE_UNSPECIFIED) {
    return Refused(absl::StrCat(
        "gives ", visitor.owner.user(), " no role in its claim ",
        options.role_claim, "; who runs the identity provider can add one"));
  }
  if (!options.queues_claim.empty()) {
    const auto queues = TextsOf(FindByPath(claims, options.queues_claim));
    visitor.queues.emplace(queues.begin(), queues.end());
  }
  visitor.expiry = TimeOf(claims, "exp").value_or(absl::InfinitePast());
  return std::make_shared<const Visitor>(std::move(visitor));
}

}  // namespace

bool IsJwt(std::string_view bearer) {
  return std::count(bearer.begin(), bearer.end(), '.') == 2;
}

absl::StatusOr<std::map<std::string, base::PublicKey>> ParseKeySet(
    const std::string& json) {
  const auto set = ParseJson(json);
  const Value* const list = set.has_value() ? Find(*set, "keys") : nullptr;
  if (list == nullptr || !list->has_list_value()) {
    return absl::InvalidArgumentError(
        "it is no JSON object with a list `keys` (RFC 7517)");
  }
  std::map<std::string, base::PublicKey> keys;
  for (const Value& each : list->list_value().values()) {
    const Struct& key = each.struct_value();
    const std::string id = TextOf(key, "kid");
    const std::string use = TextOf(key, "use");
    if (id.empty() || (!use.empty() && use != "sig")) continue;
    auto parsed = ParseKey(key);
    const std::string algorithm = TextOf(key, "alg");
    if (!parsed.ok() ||
        (!algorithm.empty() && algorithm != parsed->algorithm())) {
      continue;
    }
    keys.emplace(id, *std::move(parsed));
  }
  if (keys.empty()) {
    return absl::InvalidArgumentError(
        "it has no key with a kid for signatures by RS256 or ES256");
  }
  return keys;
}

absl::StatusOr<std::unique_ptr<JwtVerifier>> JwtVerifier::Make(
    JwtOptions options, base::Filesystem& files, const base::Clock& clock) {
  std::unique_ptr<JwtVerifier> verifier(
      new JwtVerifier(std::move(options), files, clock));
  base::MutexLock lock(verifier->mutex_);
  ORDO_RETURN_IF_ERROR(verifier->ReadKeys());
  return verifier;
}

absl::Status JwtVerifier::ReadKeys() const {
  read_ = clock_.Monotonic();
  const std::string attempted =
      absl::StrCat("read the key set ", options_.key_set_file);
  ORDO_ASSIGN_OR_RETURN(
      std::string text,
      base::AddContext(
          base::ReadFile(files_, options_.key_set_file, kMaxKeySetBytes),
          attempted));
  if (keys_ != nullptr && text == text_) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(Keys keys,
                        base::AddContext(ParseKeySet(text), attempted));
  text_ = std::move(text);
  keys_ = std::make_shared<const Keys>(std::move(keys));
  verified_.clear();
  return absl::OkStatus();
}

std::shared_ptr<const JwtVerifier::Keys> JwtVerifier::CurrentKeys() const {
  base::MutexLock lock(mutex_);
  if (clock_.Monotonic() >= read_ + kKeySetPeriod) {
    if (absl::Status status = ReadKeys(); !status.ok()) {
      base::LogWarning(
          "the key set of JWTs could not be read again; the keys "
          "stay as they were",
          {{"error", status}});
    }
  }
  return keys_;
}

VisitorPtr JwtVerifier::FindVerified(const std::string& sha256) const {
  base::MutexLock lock(mutex_);
  const auto known = verified_.find(sha256);
  if (known == verified_.end() ||
      clock_.Now() >= known->second->expiry + options_.clock_skew) {
    return nullptr;
  }
  return known->second;
}

bool JwtVerifier::WasVerified(const std::string& token) const {
  return FindVerified(base::Sha256Hex(token)) != nullptr;
}

absl::StatusOr<VisitorPtr> JwtVerifier::Verify(const std::string& token) const {
  const std::shared_ptr<const Keys> keys = CurrentKeys();
  const absl::Time now = clock_.Now();
  const std::string sha256 = base::Sha256Hex(token);
  if (VisitorPtr known = FindVerified(sha256)) return known;
  const std::vector<std::string> parts = absl::StrSplit(token, '.');
  if (parts.size() != 3) return Refused("does not have three parts");
  const auto header_text = Decode(parts[0]);
  const auto claims_text = Decode(parts[1]);
  const auto signature = Decode(parts[2]);
  const auto header =
      header_text.has_value() ? ParseJson(*header_text) : std::nullopt;
  if (!header.has_value() || !claims_text.has_value() ||
      !signature.has_value()) {
    return Refused("cannot be read");
  }
  const auto key = keys->find(TextOf(*header, "kid"));
  if (key == keys->end()) {
    return Refused("names no key (kid) of the scheduler's key set");
  }
  // What the key is decides, never what the token says.
  if (TextOf(*header, "alg") != key->second.algorithm()) {
    return Refused(absl::StrCat("is not signed by ", key->second.algorithm(),
                                ", as its key asks for"));
  }
  if (Find(*header, "crit") != nullptr) {
    return Refused("asks for extensions (crit), and none are known");
  }
  const std::string signed_text = absl::StrCat(parts[0], ".", parts[1]);
  if (!key->second.Verify(signed_text, *signature).ok()) {
    return Refused("has a wrong signature");
  }
  const auto claims = ParseJson(*claims_text);
  if (!claims.has_value()) return Refused("has no claims");
  ORDO_RETURN_IF_ERROR(CheckTimes(*claims, now, options_.clock_skew));
  ORDO_RETURN_IF_ERROR(CheckClaims(*claims, options_));
  ORDO_ASSIGN_OR_RETURN(VisitorPtr visitor, VisitorOf(*claims, options_));
  base::MutexLock lock(mutex_);
  // Keys that were taken away verify nothing from then on.
  if (keys_ != keys) return visitor;
  if (verified_.size() >= kMaxVerified) verified_.clear();
  verified_[sha256] = visitor;
  return visitor;
}

}  // namespace ordo::services::auth
