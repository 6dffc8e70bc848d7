#ifndef ORDO_SERVICES_DATA_DATA_SERVICE_H_
#define ORDO_SERVICES_DATA_DATA_SERVICE_H_

#include "absl/status/status.h"
#include "proto/ordo/data/v1/data.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/auth/guard.h"
#include "services/auth/guarded.h"
#include "services/checkpoints/uploads.h"
#include "services/data/data_sets.h"
#include "services/files/work_queue.h"
#include "services/limits/limits.h"

namespace ordo::services::data {

// The gRPC skin of data; see the proto for what the calls do.
class DataService final : public auth::Guarded<ordo::data::v1::DataService> {
 public:
  // All outlive the server.
  struct Parts {
    scheduler::Scheduler& scheduler;
    DataSets& data;
    checkpoints::Uploads& uploads;
    // For what is short, and for what hashes for minutes.
    files::WorkQueue& queue;
    files::WorkQueue& upload_queue;
    auth::Guard& guard;
    limits::Limits& limits;
  };

  explicit DataService(const Parts& parts);

  grpc::ServerUnaryReactor* CreateUpload(
      grpc::CallbackServerContext* context,
      const ordo::data::v1::CreateUploadRequest* request,
      ordo::checkpoints::v1::Upload* response) override;
  grpc::ServerUnaryReactor* CommitUpload(
      grpc::CallbackServerContext* context,
      const ordo::data::v1::CommitUploadRequest* request,
      ordo::data::v1::Data* response) override;
  grpc::ServerUnaryReactor* ListData(
      grpc::CallbackServerContext* context,
      const ordo::data::v1::ListDataRequest* request,
      ordo::data::v1::ListDataResponse* response) override;
  grpc::ServerUnaryReactor* DeleteData(
      grpc::CallbackServerContext* context,
      const ordo::data::v1::DeleteDataRequest* request,
      ordo::data::v1::DeleteDataResponse* response) override;

 private:
  const Parts parts_;
};

}  // namespace ordo::services::data

#endif  // ORDO_SERVICES_DATA_DATA_SERVICE_H_
