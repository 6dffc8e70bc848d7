#ifndef ORDO_BASE_RPC_CALL_H_
#define ORDO_BASE_RPC_CALL_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_interceptor.h"

namespace ordo::base {

// A call of the callback API with what its server knows of it beside gRPC:
// every RpcServer makes these. Of one call; whoever takes it writes, before its
// answer.
class Call final : public grpc::CallbackServerContext {
 public:
  // The call behind the context that a method of a service gets from an
  // RpcServer.
  static Call& Of(grpc::CallbackServerContext& context) {
    return static_cast<Call&>(context);
  }
  static const Call& Of(const grpc::CallbackServerContext& context) {
    return static_cast<const Call&>(context);
  }

  // What is remembered of it as long as it lasts.
  std::shared_ptr<const void> passenger;
  // Whether a stream may go on, which is asked every few minutes; empty: it
  // may.
  std::function<bool()> may_go_on;
  // Told how its method ends it, also after the client has gone; may be empty.
  std::function<void(const absl::Status&)> at_end;
};

// For the server builder: makes Calls, and tells them how they end.
std::unique_ptr<grpc::ContextAllocator> CallAllocator();
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
CallEndings();

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_CALL_H_
