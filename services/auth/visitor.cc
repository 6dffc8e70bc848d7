#include "services/auth/visitor.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ordo::services::auth {
namespace {

using ordo::access::v1::Role;

// The least role that has a right.
Role RoleFor(Right right) {
  switch (right) {
    case Right::kNobodyNeeded:
      return ordo::access::v1::ROLE_UNSPECIFIED;
    case Right::kRead:
      return ordo::access::v1::VIEWER;
    case Right::kSubmit:
    case Right::kChangeOwn:
      return ordo::access::v1::USER;
    case Right::kAdminister:
      return ordo::access::v1::ADMIN;
    case Right::kJoin:
    case Right::kWorker:
    case Right::kScheduler:
      return ordo::access::v1::WORKER;
  }
  return ordo::access::v1::ADMIN;
}

// What to ask an administrator for.
std::string HowToGet(Right right) {
  if (right == Right::kScheduler) return "only the scheduler has it";
  if (right == Right::kWorker) {
    return "a worker has it by its certificate; an administrator lets one join "
           "with: ordo admin token create NAME --role worker";
  }
  return absl::StrCat(
      "an administrator gives it with: ordo admin token create NAME --role ",
      NameOf(RoleFor(right)));
}

std::string Described(const Visitor& visitor) {
  std::string text = absl::StrCat(
      visitor.owner.user(), ", known by ", visitor.known_by, ", has the role ",
      visitor.role == ordo::access::v1::ROLE_UNSPECIFIED
          ? "of nobody"
          : NameOf(visitor.role));
  if (visitor.queues.has_value()) {
    absl::StrAppend(&text, ", bound to queues");
  }
  return text;
}

}  // namespace

const char* NameOf(Right right) {
  switch (right) {
    case Right::kNobodyNeeded:
      return "NOBODY_NEEDED";
    case Right::kRead:
      return "READ";
    case Right::kSubmit:
      return "SUBMIT";
    case Right::kChangeOwn:
      return "CHANGE_OWN";
    case Right::kAdminister:
      return "ADMINISTER";
    case Right::kJoin:
      return "JOIN";
    case Right::kWorker:
      return "WORKER";
    case Right::kScheduler:
      return "SCHEDULER";
  }
  return "";
}

std::string NameOf(Role role) {
  return absl::AsciiStrToLower(ordo::access::v1::Role_Name(role));
}

bool Visitor::Has(Right right) const {
  if (is_believed || right == Right::kNobodyNeeded) return true;
  if (right == Right::kJoin) return role == ordo::access::v1::WORKER;
  if (right == Right::kWorker) {
    return role == ordo::access::v1::WORKER && !HasOneTimeToken();
  }
  if (right == Right::kScheduler || role == ordo::access::v1::WORKER)
    return false;
  // What all share is beyond the queues that somebody is bound to.
  if (right == Right::kAdminister && queues.has_value()) return false;
  return role >= RoleFor(right);
}

absl::Status Visitor::MayChange(const ordo::jobs::v1::Owner& owner,
                                const std::string& attempted) const {
  if (MayChangeAll() ||
      (Has(Right::kChangeOwn) && owner.user() == this->owner.user())) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      attempted, ": it is of ", owner.user(), ", and ", Described(*this),
      "; to change what is another's needs the role admin, which an "
      "administrator gives with: ordo admin token create NAME --role admin"));
}

absl::Status Lacks(const Visitor& visitor, Right right,
                   const std::string& method) {
  const std::string needs =
      absl::StrCat(method, " needs the right ", NameOf(right), " (role ",
                   NameOf(RoleFor(right)), ")");
  if (visitor.role == ordo::access::v1::ROLE_UNSPECIFIED) {
    return absl::UnauthenticatedError(
        absl::StrCat(needs,
                     ", and the call says nothing of who calls; send a token "
                     "(--token-file, or its path in ORDO_TOKEN_FILE) or show a "
                     "certificate: ",
                     HowToGet(right)));
  }
  return absl::PermissionDeniedError(
      absl::StrCat(needs, ": ", Described(visitor), "; ", HowToGet(right)));
}

}  // namespace ordo::services::auth
