#include "base/rpc/call.h"

#include <utility>

#include "base/rpc/grpc_status.h"

namespace ordo::base {
namespace {

using ::grpc::experimental::InterceptionHookPoints;
using ::grpc::experimental::Interceptor;
using ::grpc::experimental::InterceptorBatchMethods;
using ::grpc::experimental::ServerRpcInfo;

class Allocator : public grpc::ContextAllocator {
 public:
  grpc::CallbackServerContext* NewCallbackServerContext() override {
    return new Call;
  }
  // gRPC hands the contexts of methods that there are not to this as well,
  // which it made itself and deletes itself.
  void Release(grpc::CallbackServerContext* context) override {
    delete dynamic_cast<Call*>(context);
  }
};

// Of one RPC; deleted by gRPC at its end, together with its context.
class Ending : public Interceptor {
 public:
  explicit Ending(ServerRpcInfo* info) : info_(*info) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            InterceptionHookPoints::PRE_SEND_STATUS)) {
      // Those of other APIs, such as reflection, are no Calls.
      auto* const call = dynamic_cast<Call*>(info_.server_context());
      if (call != nullptr && call->at_end) {
        std::exchange(call->at_end,
                      nullptr)(FromGrpcStatus(methods->GetSendStatus()));
      }
    }
    methods->Proceed();
  }

 private:
  ServerRpcInfo& info_;
};

class Endings : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    return new Ending(info);
  }
};

}  // namespace

std::unique_ptr<grpc::ContextAllocator> CallAllocator() {
  return std::make_unique<Allocator>();
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
CallEndings() {
  return std::make_unique<Endings>();
}

}  // namespace ordo::base
