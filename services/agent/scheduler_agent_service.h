#ifndef ORDO_SERVICES_AGENT_SCHEDULER_AGENT_SERVICE_H_
#define ORDO_SERVICES_AGENT_SCHEDULER_AGENT_SERVICE_H_

#include "proto/ordo/agent/v1/agent.grpc.pb.h"
#include "scheduler/scheduler.h"

namespace ordo::services::agent {

// Where workers announce themselves; see the proto.
class SchedulerAgentService final
    : public ordo::agent::v1::SchedulerAgentService::CallbackService {
 public:
  // `scheduler` outlives the server.
  explicit SchedulerAgentService(scheduler::Scheduler& scheduler)
      : scheduler_(scheduler) {}

  grpc::ServerUnaryReactor* Announce(
      grpc::CallbackServerContext* context,
      const ordo::agent::v1::AnnounceRequest* request,
      ordo::agent::v1::AnnounceResponse* response) override;

 private:
  scheduler::Scheduler& scheduler_;
};

}  // namespace ordo::services::agent

#endif  // ORDO_SERVICES_AGENT_SCHEDULER_AGENT_SERVICE_H_
