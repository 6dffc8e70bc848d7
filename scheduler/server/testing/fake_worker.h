#ifndef ORDO_SCHEDULER_SERVER_TESTING_FAKE_WORKER_H_
#define ORDO_SCHEDULER_SERVER_TESTING_FAKE_WORKER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/rpc/server.h"
#include "base/version/worker_protocol.h"
#include "proto/ordo/agent/v1/agent.grpc.pb.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::server::testing {

// A worker with one device that serves WorkerAgentService on loopback, takes
// desired sets as a real one does and runs nothing: the test says what it
// observes. Thread-safe.
class FakeWorker {
 public:
  // `tls`: what it listens with; null: without TLS.
  explicit FakeWorker(
      const std::string& id, int32_t protocol = base::kWorkerProtocol,
      const std::shared_ptr<grpc::ServerCredentials>& tls = nullptr);
  ~FakeWorker();

  const std::string& address() const { return server_->address(); }

  // What it observes of an attempt from now on.
  void Set(const agent::v1::ObservedAttempt& attempt);
  // Announces itself, and returns once its answer to a desired set is taken, so
  // that it gets work. The test fails when the announcement is refused.
  void AnnounceTo(Scheduler& scheduler);
  // Answers further desired sets with this error; OK ends it.
  void Refuse(const absl::Status& status);

  // Wait until the newest desired set lists the attempt, does not list it, or
  // has an attempt with the action. False after twenty seconds.
  bool WaitForDesired(const std::string& job, int attempt);
  bool WaitForForgotten(const std::string& job, int attempt);
  bool WaitForAction(agent::v1::DesiredAttempt::Action action);
  // Waits until this many sets have come.
  bool WaitForSets(int count);
  agent::v1::SetDesiredRequest newest() const;

 private:
  class Service;

  const std::string id_;
  const int32_t protocol_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  agent::v1::SetDesiredRequest newest_ ORDO_GUARDED_BY(mutex_);
  int num_sets_ ORDO_GUARDED_BY(mutex_) = 0;
  int64_t sequence_ ORDO_GUARDED_BY(mutex_) = 1;
  absl::Status refusal_ ORDO_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, int>, agent::v1::ObservedAttempt> observed_
      ORDO_GUARDED_BY(mutex_);

  agent::v1::ObservedSet Observed() const ORDO_REQUIRES(mutex_);
  absl::Status Take(const agent::v1::SetDesiredRequest& request,
                    agent::v1::SetDesiredResponse* response);
  template <typename Condition>
  bool WaitUntil(Condition holds);

  std::unique_ptr<Service> service_;
  std::unique_ptr<base::RpcServer> server_;
};

}  // namespace ordo::scheduler::server::testing

#endif  // ORDO_SCHEDULER_SERVER_TESTING_FAKE_WORKER_H_
