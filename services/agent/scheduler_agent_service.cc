#include "services/agent/scheduler_agent_service.h"

#include "services/request/answer.h"

namespace ordo::services::agent {

grpc::ServerUnaryReactor* SchedulerAgentService::Announce(
    grpc::CallbackServerContext* context,
    const ordo::agent::v1::AnnounceRequest* request,
    ordo::agent::v1::AnnounceResponse* response) {
  return request::Answer(context, scheduler_.Announce(*request), response);
}

}  // namespace ordo::services::agent
