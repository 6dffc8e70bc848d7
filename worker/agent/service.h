#ifndef ORDO_WORKER_AGENT_SERVICE_H_
#define ORDO_WORKER_AGENT_SERVICE_H_

#include "proto/ordo/agent/v1/agent.grpc.pb.h"
#include "worker/agent/agent.h"

namespace ordo::worker::agent {

// The gRPC skin of the agent. It takes orders from the scheduler alone: callers
// of another name get PERMISSION_DENIED. Thread-safe.
class WorkerAgentServiceImpl
    : public ::ordo::agent::v1::WorkerAgentService::CallbackService {
 public:
  // `agent` outlives the service.
  explicit WorkerAgentServiceImpl(Agent& agent) : agent_(agent) {}

  grpc::ServerUnaryReactor* SetDesired(
      grpc::CallbackServerContext* context,
      const ::ordo::agent::v1::SetDesiredRequest* request,
      ::ordo::agent::v1::SetDesiredResponse* response) override;

 private:
  Agent& agent_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_SERVICE_H_
