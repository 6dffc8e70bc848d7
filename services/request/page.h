#ifndef ORDO_SERVICES_REQUEST_PAGE_H_
#define ORDO_SERVICES_REQUEST_PAGE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/scheduler.h"

// Pages of listings (https://google.aip.dev/158).

namespace ordo::services::request {

inline constexpr int kDefaultPageSize = 100;
inline constexpr int kMaxPageSize = 1000;

// What a page token is good for: the same method, parent and filter.
// Anything that differs between two listings goes in.
struct ListKey {
  std::string method;
  std::string scope;
};

// The page wanted. A size of 0 is the default, one above the maximum is the
// maximum. INVALID_ARGUMENT for a negative size, and for a token that is not
// one of ours or belongs to another listing.
absl::StatusOr<scheduler::Page> ParsePage(const ListKey& key, int32_t page_size,
                                          std::string_view page_token);

// The token of the page after the one that ended at `next`; empty when `next`
// is, on the last page.
std::string MakePageToken(const ListKey& key, std::string_view next);

}  // namespace ordo::services::request

#endif  // ORDO_SERVICES_REQUEST_PAGE_H_
