#include "services/auth/auth.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ordo::services::auth {

absl::StatusOr<ordo::jobs::v1::Owner> ClaimedUserAuthenticator::Identify(
    const base::Caller& caller) const {
  ordo::jobs::v1::Owner owner;
  owner.set_verified(false);
  owner.set_user(caller.user.empty() ? kUnknownUser : caller.user);
  const bool printable =
      std::all_of(owner.user().begin(), owner.user().end(), [](char c) {
        return absl::ascii_isgraph(static_cast<unsigned char>(c));
      });
  if (!printable || owner.user().size() > kMaxUserLength) {
    return absl::UnauthenticatedError(absl::StrCat(
        base::kUserMetadataKey, " must be at most ", kMaxUserLength,
        " printable ASCII characters without spaces"));
  }
  return owner;
}

absl::Status OpenAuthoriser::MayChange(const ordo::jobs::v1::Owner&,
                                       const ordo::jobs::v1::Owner&) const {
  return absl::OkStatus();
}

absl::Status OpenAuthoriser::MayAdminister(const ordo::jobs::v1::Owner&) const {
  return absl::OkStatus();
}

}  // namespace ordo::services::auth
