#include "services/agent/scheduler_agent_service.h"

#include "absl/strings/str_cat.h"
#include "base/rpc/server.h"
#include "base/status/status.h"
#include "base/version/worker_protocol.h"
#include "services/request/answer.h"

namespace ordo::services::agent {

using ordo::agent::v1::AnnounceRequest;
using ordo::agent::v1::AnnounceResponse;

SchedulerAgentService::SchedulerAgentService(scheduler::Scheduler& scheduler,
                                             auth::Guard& guard)
    : Guarded(guard), scheduler_(scheduler) {
  Serve("Announce", &SchedulerAgentService::Announce);
}

grpc::ServerUnaryReactor* SchedulerAgentService::Announce(
    grpc::CallbackServerContext* context, const AnnounceRequest* request,
    AnnounceResponse* response) {
  const auth::Visitor& visitor = auth::VisitorOf(*context);
  if (visitor.role == ordo::access::v1::WORKER &&
      visitor.worker != request->worker()) {
    return base::Finish(context,
                        absl::PermissionDeniedError(absl::StrCat(
                            "the certificate is of the worker ", visitor.worker,
                            ", and the announcement of ", request->worker(),
                            "; each worker needs its own certificate")));
  }
  return request::Answer(context, Take(*request), response);
}

absl::StatusOr<AnnounceResponse> SchedulerAgentService::Take(
    const AnnounceRequest& request) {
  ORDO_RETURN_IF_ERROR(base::CheckNeighbours(
      {request.worker(), request.protocol(), base::kWorkerProtocol}));
  ORDO_ASSIGN_OR_RETURN(AnnounceResponse response,
                        scheduler_.Announce(request));
  response.set_protocol(base::kWorkerProtocol);
  return response;
}

}  // namespace ordo::services::agent
