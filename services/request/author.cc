#include "services/request/author.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::services::request {

namespace {

absl::StatusOr<scheduler::Author> WithReason(ordo::jobs::v1::Owner owner,
                                             const std::string& reason) {
  const bool printable = std::none_of(reason.begin(), reason.end(), [](char c) {
    return absl::ascii_iscntrl(static_cast<unsigned char>(c));
  });
  if (!printable || reason.size() > kMaxReasonLength) {
    return base::InvalidField(
        "reason",
        absl::StrCat("must be at most ", kMaxReasonLength,
                     " bytes without control characters, has ", reason.size()));
  }
  return scheduler::Author{std::move(owner), reason};
}

}  // namespace

absl::StatusOr<scheduler::Author> AuthorOf(
    const auth::Authenticator& authenticator, const base::Caller& caller,
    const std::string& reason) {
  ORDO_ASSIGN_OR_RETURN(ordo::jobs::v1::Owner owner,
                        authenticator.Identify(caller));
  return WithReason(std::move(owner), reason);
}

absl::StatusOr<scheduler::Author> AuthorOf(
    const auth::Authenticator& authenticator,
    const auth::Authoriser& authoriser, const base::Caller& caller,
    const std::string& reason) {
  ORDO_ASSIGN_OR_RETURN(ordo::jobs::v1::Owner owner,
                        authenticator.Identify(caller));
  ORDO_RETURN_IF_ERROR(authoriser.MayAdminister(owner));
  return WithReason(std::move(owner), reason);
}

}  // namespace ordo::services::request
