#include "services/request/author.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"

namespace ordo::services::request {

absl::StatusOr<scheduler::Author> AuthorOf(const auth::Visitor& visitor,
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
  return scheduler::Author{visitor.owner, reason};
}

}  // namespace ordo::services::request
