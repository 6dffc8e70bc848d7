#ifndef ORDO_SERVICES_CLI_COMMANDS_LISTING_H_
#define ORDO_SERVICES_CLI_COMMANDS_LISTING_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status/status.h"
#include "services/cli/context.h"

namespace ordo::services::cli {

// Most that one page of any List call may hold.
inline constexpr int kMaxPageSize = 1000;

// A List method and what to ask it; the page size and token are set by
// ListPages.
template <typename Stub, typename Request, typename Response>
struct ListCall {
  Stub& stub;
  grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*);
  Request request;
};
template <typename Stub, typename Request, typename Response>
ListCall(Stub& stub,
         grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                      Response*),
         Request request) -> ListCall<Stub, Request, Response>;

// Calls a List method page by page, `add` with each, until there are no more or
// `limit` items have come (0: all). `add` gives how many have come so far: a
// page may have fewer than were asked for. True when there are further ones.
//   ListPages(context,
//             ListCall{context.client.jobs(), &JobsService::Stub::ListJobs,
//                      request},
//             100, [&](const ListJobsResponse& page) {
//               all.MergeFrom(page);
//               return all.jobs_size();
//             });
template <typename Stub, typename Request, typename Response, typename Add>
absl::StatusOr<bool> ListPages(Context& context,
                               ListCall<Stub, Request, Response> call,
                               int64_t limit, const Add& add) {
  int64_t num_items = 0;
  while (true) {
    const int64_t size =
        limit == 0 ? kMaxPageSize
                   : std::min<int64_t>(limit - num_items, kMaxPageSize);
    call.request.set_page_size(static_cast<int32_t>(size));
    ORDO_ASSIGN_OR_RETURN(
        Response page,
        context.client.Call(call.stub, call.method, call.request));
    call.request.set_page_token(page.next_page_token());
    num_items = add(std::move(page));
    const bool more = !call.request.page_token().empty();
    if (!more || (limit != 0 && num_items >= limit)) return more;
  }
}

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_LISTING_H_
