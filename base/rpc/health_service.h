#ifndef ORDO_BASE_RPC_HEALTH_SERVICE_H_
#define ORDO_BASE_RPC_HEALTH_SERVICE_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "base/rpc/health.grpc.pb.h"

namespace ordo::base {

// The health of one server. Anybody may ask, so that what those who are asked
// for hold is bounded: a stream of Watch above the bounds ends as
// RESOURCE_EXHAUSTED, and a request larger than the name of any service as
// INVALID_ARGUMENT. Thread-safe; outlives its server.
class HealthService final : public grpc::health::v1::Health::CallbackService {
 public:
  // Streams of Watch that may be open: of all clients, and of one address.
  HealthService(int max_watches, int max_watches_per_address)
      : max_watches_(static_cast<size_t>(max_watches)),
        max_watches_per_address_(max_watches_per_address) {}

  // These are SERVING from here on, beside the server itself, which is from the
  // beginning. Before the server starts.
  void Serve(const std::vector<std::string>& services);
  // All are NOT_SERVING from here on; streams are told and end as UNAVAILABLE.
  void Drain();

  grpc::ServerUnaryReactor* Check(
      grpc::CallbackServerContext* context,
      const grpc::health::v1::HealthCheckRequest* request,
      grpc::health::v1::HealthCheckResponse* response) override;
  grpc::ServerWriteReactor<grpc::health::v1::HealthCheckResponse>* Watch(
      grpc::CallbackServerContext* context,
      const grpc::health::v1::HealthCheckRequest* request) override;

 private:
  class Watcher;

  // SERVICE_UNKNOWN for one that there is not.
  grpc::health::v1::HealthCheckResponse::ServingStatus StatusOf(
      const std::string& service) const ORDO_REQUIRES(mutex_);
  // Whether this address may have one more stream.
  absl::Status MayWatch(const std::string& address) const ORDO_REQUIRES(mutex_);
  // The watcher is over.
  void Forget(Watcher* watcher);

  const size_t max_watches_;
  const int max_watches_per_address_;
  Mutex mutex_;
  std::set<std::string> services_ ORDO_GUARDED_BY(mutex_) = {""};
  bool draining_ ORDO_GUARDED_BY(mutex_) = false;
  std::set<Watcher*> watchers_ ORDO_GUARDED_BY(mutex_);
  // Those addresses that have any.
  std::map<std::string, int> num_watches_ ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_HEALTH_SERVICE_H_
