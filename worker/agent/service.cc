#include "worker/agent/service.h"

#include <utility>

#include "absl/status/status.h"
#include "base/rpc/server.h"

namespace ordo::worker::agent {

grpc::ServerUnaryReactor* WorkerAgentServiceImpl::SetDesired(
    grpc::CallbackServerContext* context,
    const ::ordo::agent::v1::SetDesiredRequest* request,
    ::ordo::agent::v1::SetDesiredResponse* response) {
  auto result = agent_.SetDesired(*request);
  if (!result.ok()) return base::Finish(context, result.status());
  *response = *std::move(result);
  return base::Finish(context, absl::OkStatus());
}

}  // namespace ordo::worker::agent
