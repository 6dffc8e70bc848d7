#ifndef ORDO_SCHEDULER_SERVER_DISPATCHER_H_
#define ORDO_SCHEDULER_SERVER_DISPATCHER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "base/rpc/tls.h"
#include "grpcpp/client_context.h"
#include "grpcpp/security/credentials.h"
#include "proto/ordo/agent/v1/agent.grpc.pb.h"
#include "scheduler/core/effect.h"

namespace ordo::scheduler::server {

struct DispatcherOptions {
  // Of each call. A worker answers at once; one that does not is asked again
  // with the next heartbeat.
  absl::Duration timeout = absl::Seconds(5);
  // What workers are called with, each of which must show the certificate of
  // its own id, whatever its address; null: without TLS.
  std::shared_ptr<base::ClientTls> tls;
  // Told each answer, on a thread of gRPC's: the request it answers, and what
  // the worker observes or why there is no answer.
  std::function<void(const agent::v1::SetDesiredRequest&,
                     absl::StatusOr<agent::v1::ObservedSet>)>
      on_answer;
};

// Sends desired sets to workers. For each worker at most one call is under way;
// of the sets that come meanwhile only the newest is sent. Sends nothing again
// by itself: the core repeats sets as heartbeat. Thread-safe; never blocks.
class Dispatcher {
 public:
  explicit Dispatcher(DispatcherOptions options);
  // Stops.
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  void Send(const core::SetDesired& desired);
  // Drops what is known of a worker.
  void Forget(const std::string& worker);
  // Cancels all calls and returns when no answer will be told any more.
  void Stop();

 private:
  struct Call;
  struct Peer {
    std::string address;
    std::shared_ptr<agent::v1::WorkerAgentService::Stub> stub;
    std::shared_ptr<const agent::v1::SetDesiredRequest> pending;
    // Null when none is under way.
    std::shared_ptr<Call> call;
  };

  // Null: without TLS.
  std::shared_ptr<grpc::ChannelCredentials> TlsFor(
      const std::string& worker) const;
  // Makes the next call of a peer if one is due; null when none is.
  std::shared_ptr<Call> NextCall(Peer& peer) ORDO_REQUIRES(mutex_);
  void Start(const std::shared_ptr<Call>& call);
  void Finish(const std::shared_ptr<Call>& call, const grpc::Status& status);

  const DispatcherOptions options_;
  base::Mutex mutex_;
  base::CondVar idle_;
  std::map<std::string, Peer> peers_ ORDO_GUARDED_BY(mutex_);
  int num_calls_ ORDO_GUARDED_BY(mutex_) = 0;
  bool stopping_ ORDO_GUARDED_BY(mutex_) = false;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_DISPATCHER_H_
