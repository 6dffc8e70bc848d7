#ifndef ORDO_SERVICES_CHECKPOINTS_CHECKPOINTS_SERVICE_H_
#define ORDO_SERVICES_CHECKPOINTS_CHECKPOINTS_SERVICE_H_

#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/files/registered_file.h"
#include "services/files/work_queue.h"

namespace ordo::services::checkpoints {

// The gRPC skin of checkpoints; see the proto for what the calls do.
class CheckpointsService final
    : public ordo::checkpoints::v1::CheckpointsService::CallbackService {
 public:
  // `scheduler` and `queue` outlive the server.
  CheckpointsService(scheduler::Scheduler& scheduler,
                     const files::Storage& storage, files::WorkQueue& queue)
      : scheduler_(scheduler), storage_(storage), queue_(queue) {}

  grpc::ServerUnaryReactor* GetCheckpoint(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::GetCheckpointRequest* request,
      ordo::checkpoints::v1::Checkpoint* response) override;
  grpc::ServerUnaryReactor* ListCheckpoints(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::ListCheckpointsRequest* request,
      ordo::checkpoints::v1::ListCheckpointsResponse* response) override;
  grpc::ServerWriteReactor<ordo::checkpoints::v1::ReadFileResponse>* ReadFile(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::ReadFileRequest* request) override;

 private:
  scheduler::Scheduler& scheduler_;
  files::Storage storage_;
  files::WorkQueue& queue_;
};

}  // namespace ordo::services::checkpoints

#endif  // ORDO_SERVICES_CHECKPOINTS_CHECKPOINTS_SERVICE_H_
