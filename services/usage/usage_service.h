#ifndef ORDO_SERVICES_USAGE_USAGE_SERVICE_H_
#define ORDO_SERVICES_USAGE_USAGE_SERVICE_H_

#include <memory>

#include "base/clock/clock.h"
#include "proto/ordo/usage/v1/usage.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/auth/guard.h"
#include "services/auth/guarded.h"
#include "services/files/work_queue.h"
#include "services/limits/limits.h"

namespace ordo::services::usage {

// The gRPC skin of usage; see the proto for what the call does. It goes through
// all jobs, some at a time, on the queue's threads; calls in between are not
// kept waiting.
class UsageService final : public auth::Guarded<ordo::usage::v1::UsageService> {
 public:
  // All outlive the server.
  struct Parts {
    scheduler::Scheduler& scheduler;
    const base::Clock& clock;
    files::WorkQueue& queue;
    auth::Guard& guard;
    limits::Limits& limits;
  };

  explicit UsageService(const Parts& parts);

  // RESOURCE_EXHAUSTED: the caller calls too often, or too many calls wait.
  // UNAVAILABLE: the scheduler is leaving.
  grpc::ServerUnaryReactor* ReportUsage(
      grpc::CallbackServerContext* context,
      const ordo::usage::v1::ReportUsageRequest* request,
      ordo::usage::v1::ReportUsageResponse* response) override;

 private:
  // A call that is being answered.
  struct Count;

  // Counts some more jobs; the last ones answer the call.
  void Go(const std::shared_ptr<Count>& count);

  const Parts parts_;
};

}  // namespace ordo::services::usage

#endif  // ORDO_SERVICES_USAGE_USAGE_SERVICE_H_
