#ifndef ORDO_SERVICES_CHECKPOINTS_CHECKPOINTS_SERVICE_H_
#define ORDO_SERVICES_CHECKPOINTS_CHECKPOINTS_SERVICE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/auth/guard.h"
#include "services/auth/guarded.h"
#include "services/checkpoints/uploads.h"
#include "services/files/registered_file.h"
#include "services/files/work_queue.h"
#include "services/limits/limits.h"

namespace ordo::services::checkpoints {

// The gRPC skin of checkpoints; see the proto for what the calls do.
class CheckpointsService final
    : public auth::Guarded<ordo::checkpoints::v1::CheckpointsService> {
 public:
  // All outlive the server.
  struct Parts {
    scheduler::Scheduler& scheduler;
    files::Storage storage;
    // For what goes out, and for what comes in: hashing an upload takes a
    // thread for minutes.
    files::WorkQueue& queue;
    files::WorkQueue& upload_queue;
    Uploads& uploads;
    auth::Guard& guard;
    limits::Limits& limits;
  };

  explicit CheckpointsService(const Parts& parts);

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
  grpc::ServerUnaryReactor* CreateUpload(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::CreateUploadRequest* request,
      ordo::checkpoints::v1::Upload* response) override;
  grpc::ServerUnaryReactor* WriteUpload(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::WriteUploadRequest* request,
      ordo::checkpoints::v1::WriteUploadResponse* response) override;
  grpc::ServerUnaryReactor* CommitUpload(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::CommitUploadRequest* request,
      ordo::checkpoints::v1::Checkpoint* response) override;
  grpc::ServerUnaryReactor* PinCheckpoint(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::PinCheckpointRequest* request,
      ordo::checkpoints::v1::Checkpoint* response) override;
  grpc::ServerUnaryReactor* UnpinCheckpoint(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::UnpinCheckpointRequest* request,
      ordo::checkpoints::v1::Checkpoint* response) override;
  grpc::ServerUnaryReactor* ThinCheckpoint(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::ThinCheckpointRequest* request,
      ordo::checkpoints::v1::Checkpoint* response) override;
  grpc::ServerUnaryReactor* DeleteCheckpoint(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::DeleteCheckpointRequest* request,
      ordo::checkpoints::v1::Checkpoint* response) override;
  grpc::ServerUnaryReactor* GetAlias(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::GetAliasRequest* request,
      ordo::checkpoints::v1::Alias* response) override;
  grpc::ServerUnaryReactor* ListAliases(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::ListAliasesRequest* request,
      ordo::checkpoints::v1::ListAliasesResponse* response) override;
  grpc::ServerUnaryReactor* SetAlias(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::SetAliasRequest* request,
      ordo::checkpoints::v1::Alias* response) override;
  grpc::ServerUnaryReactor* DeleteAlias(
      grpc::CallbackServerContext* context,
      const ordo::checkpoints::v1::DeleteAliasRequest* request,
      ordo::checkpoints::v1::Alias* response) override;

 private:
  // What the caller sees.
  std::shared_ptr<scheduler::Scheduler> ViewFor(
      grpc::CallbackServerContext* context) const;
  absl::Status Admit(grpc::CallbackServerContext* context) const;
  // Who changes something, and why: request::AuthorOf.
  absl::StatusOr<scheduler::Author> AuthorOf(
      grpc::CallbackServerContext* context, const std::string& reason) const;
  // Ends a call that does this to the checkpoint which the request names.
  template <typename Request>
  grpc::ServerUnaryReactor* Change(grpc::CallbackServerContext* context,
                                   scheduler::CheckpointVerb verb,
                                   const Request& request,
                                   ordo::checkpoints::v1::Checkpoint* response);

  const Parts parts_;
};

}  // namespace ordo::services::checkpoints

#endif  // ORDO_SERVICES_CHECKPOINTS_CHECKPOINTS_SERVICE_H_
