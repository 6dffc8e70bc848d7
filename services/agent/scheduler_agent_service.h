#ifndef ORDO_SERVICES_AGENT_SCHEDULER_AGENT_SERVICE_H_
#define ORDO_SERVICES_AGENT_SCHEDULER_AGENT_SERVICE_H_

#include "absl/status/statusor.h"
#include "proto/ordo/agent/v1/agent.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/auth/guard.h"
#include "services/auth/guarded.h"

namespace ordo::services::agent {

// Where workers announce themselves; see the proto. One whose protocol is too
// far from this build's does not reach the scheduler.
class SchedulerAgentService final
    : public auth::Guarded<ordo::agent::v1::SchedulerAgentService> {
 public:
  // Both outlive the server.
  SchedulerAgentService(scheduler::Scheduler& scheduler, auth::Guard& guard);

  grpc::ServerUnaryReactor* Announce(
      grpc::CallbackServerContext* context,
      const ordo::agent::v1::AnnounceRequest* request,
      ordo::agent::v1::AnnounceResponse* response) override;

 private:
  absl::StatusOr<ordo::agent::v1::AnnounceResponse> Take(
      const ordo::agent::v1::AnnounceRequest& request);

  scheduler::Scheduler& scheduler_;
};

}  // namespace ordo::services::agent

#endif  // ORDO_SERVICES_AGENT_SCHEDULER_AGENT_SERVICE_H_
