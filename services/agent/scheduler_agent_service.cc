#include "services/agent/scheduler_agent_service.h"

#include <utility>

#include "absl/status/status.h"
#include "base/rpc/server.h"

namespace ordo::services::agent {

grpc::ServerUnaryReactor* SchedulerAgentService::Announce(
    grpc::CallbackServerContext* context,
    const ordo::agent::v1::AnnounceRequest* request,
    ordo::agent::v1::AnnounceResponse* response) {
  auto answer = scheduler_.Announce(*request);
  if (!answer.ok()) return base::Finish(context, answer.status());
  *response = *std::move(answer);
  return base::Finish(context, absl::OkStatus());
}

}  // namespace ordo::services::agent
