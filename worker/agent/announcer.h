#ifndef ORDO_WORKER_AGENT_ANNOUNCER_H_
#define ORDO_WORKER_AGENT_ANNOUNCER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "grpcpp/channel.h"
#include "proto/ordo/agent/v1/agent.grpc.pb.h"

namespace ordo::worker::agent {

// Sends announcements to the scheduler, one at a time, without blocking.
// Thread-safe.
class Announcer {
 public:
  // `wake` is called from another thread when an answer, or the failure of a
  // call, is there to be taken. It must not call back into this object.
  Announcer(std::shared_ptr<grpc::Channel> channel, std::function<void()> wake);
  // Cancels a call in flight.
  ~Announcer();
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;

  // False, and nothing is sent, while an earlier call is in flight or its
  // answer was not taken. A scheduler that is away is waited for until the
  // timeout.
  bool Send(const ::ordo::agent::v1::AnnounceRequest& request,
            absl::Duration timeout);

  // What came of the last call, once.
  std::optional<absl::StatusOr<::ordo::agent::v1::AnnounceResponse>> Take();

 private:
  struct Call;

  const std::unique_ptr<::ordo::agent::v1::SchedulerAgentService::Stub> stub_;
  const std::function<void()> wake_;
  base::Mutex mutex_;
  base::CondVar ended_;
  std::unique_ptr<Call> call_ ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_ANNOUNCER_H_
