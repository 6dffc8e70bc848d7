#include "services/agent/scheduler_agent_service.h"

#include "base/status/status.h"
#include "base/version/worker_protocol.h"
#include "services/request/answer.h"

namespace ordo::services::agent {

using ordo::agent::v1::AnnounceRequest;
using ordo::agent::v1::AnnounceResponse;

grpc::ServerUnaryReactor* SchedulerAgentService::Announce(
    grpc::CallbackServerContext* context, const AnnounceRequest* request,
    AnnounceResponse* response) {
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
