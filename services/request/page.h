#ifndef ORDO_SERVICES_REQUEST_PAGE_H_
#define ORDO_SERVICES_REQUEST_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "base/rpc/server.h"
#include "google/protobuf/repeated_field.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "scheduler/scheduler.h"

// Pages of listings (https://google.aip.dev/158).

namespace ordo::services::request {

inline constexpr int kDefaultPageSize = 100;
inline constexpr int kMaxPageSize = 1000;
// Bytes of the items of a page: what is made and sent at once.
inline constexpr size_t kMaxPageBytes = (4 << 20) - (64 << 10);
static_assert(kMaxPageBytes < size_t{base::kMaxAnswerBytes});

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

// Page::before of a page that begins after this item.
std::string EndAt(const ordo::jobs::v1::Job& job);
template <typename T>
std::string EndAt(const T& resource) {
  return resource.name();
}

// Puts items of a listing into the answer, as many as a page holds, but at
// least one, and gives the token of the page after them.
template <typename T>
std::string FillPage(const ListKey& key, scheduler::Listing<T> listing,
                     google::protobuf::RepeatedPtrField<T>* items) {
  size_t num_bytes = 0;
  for (T& item : listing.items) {
    num_bytes += item.ByteSizeLong();
    if (num_bytes > kMaxPageBytes && !items->empty()) {
      return MakePageToken(key, EndAt(*items->rbegin()));
    }
    *items->Add() = std::move(item);
  }
  return MakePageToken(key, listing.next);
}

}  // namespace ordo::services::request

#endif  // ORDO_SERVICES_REQUEST_PAGE_H_
