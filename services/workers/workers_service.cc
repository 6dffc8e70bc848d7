#include "services/workers/workers_service.h"

#include <string>
#include <utility>

#include "base/rpc/server.h"
#include "base/status/status.h"
#include "services/request/answer.h"
#include "services/request/names.h"
#include "services/request/page.h"

namespace ordo::services::workers {
namespace {

using ordo::workers::v1::ListWorkersRequest;
using ordo::workers::v1::ListWorkersResponse;
using ordo::workers::v1::Worker;

absl::StatusOr<Worker> Find(const scheduler::Scheduler& scheduler,
                            const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(const std::string id,
                        request::ParseName("name", "workers", name));
  return scheduler.GetWorker(id);
}

absl::Status List(const scheduler::Scheduler& scheduler,
                  const ListWorkersRequest& request,
                  ListWorkersResponse* response) {
  const request::ListKey key{"ListWorkers", ""};
  ORDO_ASSIGN_OR_RETURN(
      const scheduler::Page page,
      request::ParsePage(key, request.page_size(), request.page_token()));
  ORDO_ASSIGN_OR_RETURN(auto listing, scheduler.ListWorkers(page));
  for (Worker& worker : listing.items) {
    *response->add_workers() = std::move(worker);
  }
  response->set_next_page_token(request::MakePageToken(key, listing.next));
  return absl::OkStatus();
}

}  // namespace

grpc::ServerUnaryReactor* WorkersService::GetWorker(
    grpc::CallbackServerContext* context,
    const ordo::workers::v1::GetWorkerRequest* request, Worker* response) {
  return request::Answer(context, Find(scheduler_, request->name()), response);
}

grpc::ServerUnaryReactor* WorkersService::ListWorkers(
    grpc::CallbackServerContext* context, const ListWorkersRequest* request,
    ListWorkersResponse* response) {
  return base::Finish(context, List(scheduler_, *request, response));
}

}  // namespace ordo::services::workers
