#ifndef ORDO_SERVICES_USAGE_USAGE_SERVICE_H_
#define ORDO_SERVICES_USAGE_USAGE_SERVICE_H_

#include "proto/ordo/usage/v1/usage.grpc.pb.h"
#include "scheduler/scheduler.h"

namespace ordo::services::usage {

// The gRPC skin of usage; see the proto for what the call does.
class UsageService final
    : public ordo::usage::v1::UsageService::CallbackService {
 public:
  // `scheduler` outlives the server.
  explicit UsageService(scheduler::Scheduler& scheduler)
      : scheduler_(scheduler) {}

  grpc::ServerUnaryReactor* ReportUsage(
      grpc::CallbackServerContext* context,
      const ordo::usage::v1::ReportUsageRequest* request,
      ordo::usage::v1::ReportUsageResponse* response) override;

 private:
  scheduler::Scheduler& scheduler_;
};

}  // namespace ordo::services::usage

#endif  // ORDO_SERVICES_USAGE_USAGE_SERVICE_H_
