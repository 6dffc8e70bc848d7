#ifndef ORDO_SERVICES_WORKERS_WORKERS_SERVICE_H_
#define ORDO_SERVICES_WORKERS_WORKERS_SERVICE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock/clock.h"
#include "proto/ordo/workers/v1/workers.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/auth/guard.h"
#include "services/auth/guarded.h"
#include "services/limits/limits.h"

namespace ordo::services::workers {

// The gRPC skin of workers; see the proto for what the calls do. All are
// RESOURCE_EXHAUSTED for a caller that calls too often.
class WorkersService final
    : public auth::Guarded<ordo::workers::v1::WorkersService> {
 public:
  // All outlive the server.
  struct Parts {
    scheduler::Scheduler& scheduler;
    const base::Clock& clock;
    auth::Guard& guard;
    limits::Limits& limits;
  };

  explicit WorkersService(const Parts& parts);

  grpc::ServerUnaryReactor* GetWorker(
      grpc::CallbackServerContext* context,
      const ordo::workers::v1::GetWorkerRequest* request,
      ordo::workers::v1::Worker* response) override;
  grpc::ServerUnaryReactor* ListWorkers(
      grpc::CallbackServerContext* context,
      const ordo::workers::v1::ListWorkersRequest* request,
      ordo::workers::v1::ListWorkersResponse* response) override;
  grpc::ServerUnaryReactor* CordonWorker(
      grpc::CallbackServerContext* context,
      const ordo::workers::v1::CordonWorkerRequest* request,
      ordo::workers::v1::Worker* response) override;
  grpc::ServerUnaryReactor* DrainWorker(
      grpc::CallbackServerContext* context,
      const ordo::workers::v1::DrainWorkerRequest* request,
      ordo::workers::v1::Worker* response) override;
  grpc::ServerUnaryReactor* UncordonWorker(
      grpc::CallbackServerContext* context,
      const ordo::workers::v1::UncordonWorkerRequest* request,
      ordo::workers::v1::Worker* response) override;
  grpc::ServerUnaryReactor* ReleaseDevice(
      grpc::CallbackServerContext* context,
      const ordo::workers::v1::ReleaseDeviceRequest* request,
      ordo::workers::v1::Worker* response) override;

 private:
  absl::Status Admit(grpc::CallbackServerContext* context) const;
  // A change of a worker: which, and by whom.
  struct Change {
    std::string worker;
    scheduler::Author author;
  };
  absl::StatusOr<Change> ParseChange(grpc::CallbackServerContext* context,
                                     const std::string& name,
                                     const std::string& reason) const;

  const Parts parts_;
};

}  // namespace ordo::services::workers

#endif  // ORDO_SERVICES_WORKERS_WORKERS_SERVICE_H_
