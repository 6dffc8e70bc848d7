#ifndef ORDO_SERVICES_QUEUES_QUEUES_SERVICE_H_
#define ORDO_SERVICES_QUEUES_QUEUES_SERVICE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/queues/v1/queues.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/auth/guard.h"
#include "services/auth/guarded.h"
#include "services/limits/limits.h"

namespace ordo::services::queues {

// The gRPC skin of queues; see the proto for what the calls do. All are
// RESOURCE_EXHAUSTED for a caller that calls too often.
class QueuesService final
    : public auth::Guarded<ordo::queues::v1::QueuesService> {
 public:
  // All outlive the server.
  struct Parts {
    scheduler::Scheduler& scheduler;
    auth::Guard& guard;
    limits::Limits& limits;
  };

  explicit QueuesService(const Parts& parts);

  grpc::ServerUnaryReactor* CreateQueue(
      grpc::CallbackServerContext* context,
      const ordo::queues::v1::CreateQueueRequest* request,
      ordo::queues::v1::Queue* response) override;
  grpc::ServerUnaryReactor* GetQueue(
      grpc::CallbackServerContext* context,
      const ordo::queues::v1::GetQueueRequest* request,
      ordo::queues::v1::Queue* response) override;
  grpc::ServerUnaryReactor* ListQueues(
      grpc::CallbackServerContext* context,
      const ordo::queues::v1::ListQueuesRequest* request,
      ordo::queues::v1::ListQueuesResponse* response) override;
  grpc::ServerUnaryReactor* UpdateQueue(
      grpc::CallbackServerContext* context,
      const ordo::queues::v1::UpdateQueueRequest* request,
      ordo::queues::v1::Queue* response) override;
  grpc::ServerUnaryReactor* DeleteQueue(
      grpc::CallbackServerContext* context,
      const ordo::queues::v1::DeleteQueueRequest* request,
      ordo::queues::v1::Queue* response) override;

 private:
  absl::Status Admit(grpc::CallbackServerContext* context) const;
  // Who changes a queue, and why: request::AuthorOf.
  absl::StatusOr<scheduler::Author> AuthorOf(
      grpc::CallbackServerContext* context, const std::string& reason) const;

  const Parts parts_;
};

}  // namespace ordo::services::queues

#endif  // ORDO_SERVICES_QUEUES_QUEUES_SERVICE_H_
