#include "services/request/author.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::services::request {

absl::StatusOr<scheduler::Author> AuthorOf(
    const auth::Authenticator& authenticator,
    const auth::Authoriser& authoriser, const base::Caller& caller,
    const std::string& reason) {
  scheduler::Author author;
  ORDO_ASSIGN_OR_RETURN(author.owner, authenticator.Identify(caller));
  ORDO_RETURN_IF_ERROR(authoriser.MayAdminister(author.owner));
  const bool printable = std::none_of(reason.begin(), reason.end(), [](char c) {
    return absl::ascii_iscntrl(static_cast<unsigned char>(c));
  });
  if (!printable || reason.size() > kMaxReasonLength) {
    return base::InvalidField(
        "reason",
        absl::StrCat("must be at most ", kMaxReasonLength,
                     " bytes without control characters, has ", reason.size()));
  }
  author.reason = reason;
  return author;
}

}  // namespace ordo::services::request
