#include "services/request/page.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/status/details.h"

namespace ordo::services::request {
namespace {

constexpr size_t kTagLength = 16;
constexpr size_t kMaxTokenLength = 1024;

// Ties a token to its listing and shows changed or cut ones.
std::string Tag(const ListKey& key, std::string_view before) {
  const std::string text =
      absl::StrCat(key.method.size(), ":", key.method, key.scope.size(), ":",
                   key.scope, std::string(before));
  return base::Sha256Hex(text).substr(0, kTagLength);
}

}  // namespace

absl::StatusOr<scheduler::Page> ParsePage(const ListKey& key, int32_t page_size,
                                          std::string_view page_token) {
  if (page_size < 0) {
    return base::InvalidField("page_size",
                              absl::StrCat("must be 0 (for ", kDefaultPageSize,
                                           ") or more, got ", page_size));
  }
  scheduler::Page page;
  page.size =
      page_size == 0 ? kDefaultPageSize : std::min(page_size, kMaxPageSize);
  if (page_token.empty()) return page;

  std::string decoded;
  const bool valid =
      page_token.size() <= kMaxTokenLength &&
      absl::WebSafeBase64Unescape(
          absl::string_view(page_token.data(), page_token.size()), &decoded) &&
      decoded.size() > kTagLength &&
      decoded.substr(0, kTagLength) ==
          Tag(key, std::string_view(decoded).substr(kTagLength));
  if (!valid) {
    return base::InvalidField(
        "page_token",
        "not a token of this listing; use next_page_token of the answer before "
        "with the same parent and filter, or leave it out to start again");
  }
  page.before = decoded.substr(kTagLength);
  return page;
}

std::string EndAt(const ordo::jobs::v1::Job& job) {
  return absl::StrCat(job.sequence());
}

std::string MakePageToken(const ListKey& key, std::string_view next) {
  if (next.empty()) return "";
  return absl::WebSafeBase64Escape(
      absl::StrCat(Tag(key, next), std::string(next)));
}

}  // namespace ordo::services::request
