#ifndef ORDO_SERVICES_WORKERS_WORKERS_SERVICE_H_
#define ORDO_SERVICES_WORKERS_WORKERS_SERVICE_H_

#include "proto/ordo/workers/v1/workers.grpc.pb.h"
#include "scheduler/scheduler.h"

namespace ordo::services::workers {

// The gRPC skin of workers; see the proto for what the calls do.
class WorkersService final
    : public ordo::workers::v1::WorkersService::CallbackService {
 public:
  // `scheduler` outlives the server.
  explicit WorkersService(scheduler::Scheduler& scheduler)
      : scheduler_(scheduler) {}

  grpc::ServerUnaryReactor* GetWorker(
      grpc::CallbackServerContext* context,
      const ordo::workers::v1::GetWorkerRequest* request,
      ordo::workers::v1::Worker* response) override;
  grpc::ServerUnaryReactor* ListWorkers(
      grpc::CallbackServerContext* context,
      const ordo::workers::v1::ListWorkersRequest* request,
      ordo::workers::v1::ListWorkersResponse* response) override;

 private:
  scheduler::Scheduler& scheduler_;
};

}  // namespace ordo::services::workers

#endif  // ORDO_SERVICES_WORKERS_WORKERS_SERVICE_H_
