#include "services/access/token_check.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "base/units/units.h"
#include "model/catalog/fields.h"
#include "services/auth/user_name.h"
#include "services/request/names.h"

namespace ordo::services::access {
namespace {

using ordo::access::v1::CreateTokenRequest;
using ordo::access::v1::Role;
using ordo::access::v1::Token;
using Violations = std::vector<base::FieldViolation>;

// Of a name in the field of this path.
void CheckName(const std::string& field, const std::string& collection,
               const std::string& name, Violations* violations) {
  const auto id = request::ParseName(field, collection, name);
  if (id.ok()) return;
  for (const auto& violation : base::FieldViolations(id.status())) {
    violations->push_back(violation);
  }
}

void CheckPerson(const Token& token, Violations* violations) {
  if (!token.user().empty() && !auth::IsUserName(token.user())) {
    violations->push_back(
        {"token.user", absl::StrCat("must be 1..", auth::kMaxUserLength,
                                    " printable ASCII characters without "
                                    "spaces")});
  }
  if (token.queues_size() > kMaxQueuesOfToken) {
    violations->push_back(
        {"token.queues", absl::StrCat("must be at most ", kMaxQueuesOfToken,
                                      ", are ", token.queues_size())});
  }
  for (int i = 0; i < token.queues_size(); ++i) {
    CheckName(absl::StrCat("token.queues[", i, "]"), "queues", token.queues(i),
              violations);
  }
  if (!token.worker().empty()) {
    violations->push_back({"token.worker", "is for the role WORKER only"});
  }
}

void CheckWorker(const Token& token, Violations* violations) {
  if (!token.user().empty()) {
    violations->push_back({"token.user", "the role WORKER has no user"});
  }
  if (!token.queues().empty()) {
    violations->push_back({"token.queues", "the role WORKER has no queues"});
  }
  if (!token.worker().empty()) {
    CheckName("token.worker", "workers", token.worker(), violations);
  }
}

absl::Duration TtlOf(const CreateTokenRequest& request, bool is_worker,
                     Violations* violations) {
  if (!request.has_ttl()) return is_worker ? kDefaultWorkerTtl : kDefaultTtl;
  const absl::Duration ttl = base::ToDuration(request.ttl());
  const absl::Duration longest = is_worker ? kMaxWorkerTtl : kMaxTtl;
  if (ttl < kMinTtl || ttl > longest) {
    violations->push_back(
        {"ttl", absl::StrCat("must be ", base::HumanDuration(kMinTtl), " to ",
                             base::HumanDuration(longest), ", is ",
                             base::HumanDuration(ttl))});
  }
  return ttl;
}

}  // namespace

absl::StatusOr<Token> NewTokenOf(const CreateTokenRequest& request,
                                 absl::Time now) {
  Violations violations;
  if (!model::catalog::IsId(request.token_id())) {
    violations.push_back(
        {"token_id",
         absl::StrCat(request.token_id().empty() ? "required; " : "must be ",
                      model::catalog::IdRule())});
  }
  const Token& wanted = request.token();
  if (!ordo::access::v1::Role_IsValid(wanted.role()) ||
      wanted.role() == ordo::access::v1::ROLE_UNSPECIFIED) {
    violations.push_back(
        {"token.role", "required; VIEWER, USER, ADMIN or WORKER"});
  }
  const bool is_worker = wanted.role() == ordo::access::v1::WORKER;
  if (is_worker) {
    CheckWorker(wanted, &violations);
  } else {
    CheckPerson(wanted, &violations);
  }
  const absl::Duration ttl = TtlOf(request, is_worker, &violations);
  if (!violations.empty()) return base::InvalidFields(violations);
  Token token;
  token.set_name(absl::StrCat("tokens/", request.token_id()));
  token.set_role(wanted.role());
  token.set_user(wanted.user().empty() ? request.token_id() : wanted.user());
  *token.mutable_queues() = wanted.queues();
  token.set_worker(wanted.worker());
  *token.mutable_expire_time() = base::ToTimestamp(now + ttl);
  return token;
}

}  // namespace ordo::services::access
