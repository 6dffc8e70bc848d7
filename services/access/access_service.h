#ifndef ORDO_SERVICES_ACCESS_ACCESS_SERVICE_H_
#define ORDO_SERVICES_ACCESS_ACCESS_SERVICE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock/clock.h"
#include "proto/ordo/access/v1/access.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/auth/guard.h"
#include "services/auth/guarded.h"
#include "services/auth/tokens.h"
#include "services/limits/limits.h"

namespace ordo::services::access {

// What a worker's certificate is to be of.
struct WorkerCertificateOrder {
  // PKCS #10, PEM; its names are not read.
  std::string signing_request_pem;
  // Id of the worker.
  std::string worker;
};
struct WorkerCertificate {
  std::string certificate_pem;
  std::string ca_pem;
};
// Signs with the deployment's authority. INVALID_ARGUMENT: the request is
// damaged or not signed by its own key; FAILED_PRECONDITION: the authority
// cannot be used.
using SignWorker = std::function<absl::StatusOr<WorkerCertificate>(
    const WorkerCertificateOrder& order)>;

// The gRPC skin of tokens and of who may do what; see the proto for what the
// calls do. All are RESOURCE_EXHAUSTED for a caller that calls too often.
class AccessService final
    : public auth::Guarded<ordo::access::v1::AccessService> {
 public:
  // All outlive the server.
  struct Parts {
    scheduler::Scheduler& scheduler;
    auth::Tokens& tokens;
    const base::Clock& clock;
    auth::Guard& guard;
    limits::Limits& limits;
    // Empty: there is no authority.
    SignWorker sign_worker;
  };

  explicit AccessService(const Parts& parts);

  grpc::ServerUnaryReactor* CreateToken(
      grpc::CallbackServerContext* context,
      const ordo::access::v1::CreateTokenRequest* request,
      ordo::access::v1::CreateTokenResponse* response) override;
  grpc::ServerUnaryReactor* ListTokens(
      grpc::CallbackServerContext* context,
      const ordo::access::v1::ListTokensRequest* request,
      ordo::access::v1::ListTokensResponse* response) override;
  grpc::ServerUnaryReactor* RevokeToken(
      grpc::CallbackServerContext* context,
      const ordo::access::v1::RevokeTokenRequest* request,
      ordo::access::v1::Token* response) override;
  grpc::ServerUnaryReactor* WhoAmI(
      grpc::CallbackServerContext* context,
      const ordo::access::v1::WhoAmIRequest* request,
      ordo::access::v1::WhoAmIResponse* response) override;
  grpc::ServerUnaryReactor* Join(
      grpc::CallbackServerContext* context,
      const ordo::access::v1::JoinRequest* request,
      ordo::access::v1::JoinResponse* response) override;

 private:
  absl::Status Admit(grpc::CallbackServerContext* context) const;
  // The order of a worker that may join under this name.
  absl::StatusOr<WorkerCertificateOrder> ParseJoin(
      const auth::Visitor& visitor,
      const ordo::access::v1::JoinRequest& request) const;

  const Parts parts_;
};

}  // namespace ordo::services::access

#endif  // ORDO_SERVICES_ACCESS_ACCESS_SERVICE_H_
