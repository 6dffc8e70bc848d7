#ifndef ORDO_BASE_RPC_RPC_METRICS_H_
#define ORDO_BASE_RPC_RPC_METRICS_H_

#include <memory>
#include <string>

#include "base/metrics/metrics.h"
#include "grpcpp/support/server_interceptor.h"

namespace ordo::base {

// Counts the RPCs of a server and measures them, whatever the service:
//   ordo_<part>_rpc_requests_total{method,code}
//   ordo_<part>_rpc_latency_seconds{method}     unary methods only
// `method` is "ordo.jobs.v1.JobsService/GetJob", or "other" for one that there
// is not; `code` the canonical name such as "NOT_FOUND". What ends as INTERNAL
// or DATA_LOSS is logged, with its text. A request that cannot be parsed, which
// is no fault of the program's, ends as UNIMPLEMENTED: so gRPC's callback API
// has it.
class RpcMetrics {
 public:
  // `part` is "scheduler", "worker"; `registry` outlives this.
  RpcMetrics(const std::string& part, MetricsRegistry& registry);

  // For the server builder; the factory uses this object, which outlives the
  // server.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
  InterceptorFactory();

  const CounterFamily& requests() const { return requests_; }
  const HistogramFamily& latency() const { return latency_; }

 private:
  CounterFamily requests_;
  HistogramFamily latency_;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_RPC_METRICS_H_
