#include "base/rpc/rpc_metrics.h"

#include <chrono>
#include <cstddef>

#include "absl/status/status.h"
#include "base/log/log.h"
#include "google/protobuf/descriptor.h"

namespace ordo::base {
namespace {

using ::grpc::experimental::InterceptionHookPoints;
using ::grpc::experimental::Interceptor;
using ::grpc::experimental::InterceptorBatchMethods;
using ::grpc::experimental::ServerRpcInfo;

// In place of the name of a method that there is not: callers choose names, and
// each would be a time series.
constexpr char kOtherMethod[] = "other";

// "package.Service/Method" of this program's own.
bool IsMethod(std::string name) {
  const size_t slash = name.rfind('/');
  if (slash == std::string::npos) return false;
  name[slash] = '.';
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
             name) != nullptr;
}

// Watches one RPC; deleted by gRPC at its end.
class RpcWatcher : public Interceptor {
 public:
  RpcWatcher(const RpcMetrics& metrics, const ServerRpcInfo& info)
      : metrics_(metrics),
        method_(info.method()),
        is_unary_(info.type() == ServerRpcInfo::Type::UNARY),
        start_(std::chrono::steady_clock::now()) {
    if (!method_.empty() && method_[0] == '/') method_.erase(0, 1);
    if (!IsMethod(method_)) method_ = kOtherMethod;
  }

  ~RpcWatcher() override {
    // A call that was broken off has sent no status.
    if (!counted_) Count(absl::StatusCode::kCancelled);
  }

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            InterceptionHookPoints::PRE_SEND_STATUS)) {
      const grpc::Status status = methods->GetSendStatus();
      const auto code = static_cast<absl::StatusCode>(status.error_code());
      Count(code);
      // Whoever called can do nothing about it.
      if (code == absl::StatusCode::kInternal ||
          code == absl::StatusCode::kDataLoss) {
        LogError("a call failed by a fault of this program",
                 {{"method", method_},
                  {"error", absl::Status(code, status.error_message())}});
      }
    }
    methods->Proceed();
  }

 private:
  void Count(absl::StatusCode code) {
    counted_ = true;
    metrics_.requests()
        .With({method_, absl::StatusCodeToString(code)})
        .Increment();
    if (!is_unary_) return;
    const std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start_;
    metrics_.latency().With({method_}).Observe(elapsed.count());
  }

  const RpcMetrics& metrics_;
  std::string method_;
  const bool is_unary_;
  const std::chrono::steady_clock::time_point start_;
  bool counted_ = false;
};

class WatcherFactory
    : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit WatcherFactory(const RpcMetrics& metrics) : metrics_(metrics) {}

  Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    return new RpcWatcher(metrics_, *info);
  }

 private:
  const RpcMetrics& metrics_;
};

}  // namespace

RpcMetrics::RpcMetrics(const std::string& part, MetricsRegistry& registry)
    : requests_(
          registry.AddCounter({"ordo_" + part + "_rpc_requests_total",
                               "RPCs answered, by method and status code.",
                               {{"method"}, {"code"}}})),
      latency_(registry.AddHistogram(
          {"ordo_" + part + "_rpc_latency_seconds",
           "Time from the arrival of a unary RPC to its answer.",
           {{"method"}}},
          LatencyBucketsSeconds())) {}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
RpcMetrics::InterceptorFactory() {
  return std::make_unique<WatcherFactory>(*this);
}

}  // namespace ordo::base
