#ifndef ORDO_WORKER_AGENT_REPORTER_H_
#define ORDO_WORKER_AGENT_REPORTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "grpcpp/channel.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "worker/agent/announce_schedule.h"
#include "worker/agent/announcer.h"
#include "worker/agent/core.h"
#include "worker/agent/metrics.h"

namespace ordo::worker::agent {

// Tells the scheduler what this worker is and runs, when that is due, and tells
// the log how the scheduler takes it. Nothing in it blocks. Not thread-safe.
class Reporter {
 public:
  // `identity` is what every announcement says, but address, observed set,
  // protocol and draining. `clock` and `metrics` outlive the reporter.
  Reporter(::ordo::agent::v1::AnnounceRequest identity,
           const base::Clock& clock, WorkerMetrics& metrics);

  // Before the first announcement. `address` is where SetDesired is served,
  // `channel` leads to the scheduler; `wake` is called from another thread when
  // an answer is there to be taken, and must not call back.
  void Begin(const std::string& address,
             const std::shared_ptr<grpc::Channel>& channel,
             std::function<void()> wake);
  // Cancels a call in flight; nothing is announced after it.
  void End();

  // What is announced of devices from here on: at once, or with the next
  // announcement where nobody waits for it.
  void SetDevices(const std::vector<::ordo::workers::v1::Device>& devices);

  void RefreshDevices(const std::vector<::ordo::workers::v1::Device>& devices);

  // The scheduler got the observed set of this sequence in another way.
  void Reported(int64_t sequence);

  // Until the next announcement is due; infinite while one is in flight.
  absl::Duration TimeLeft(const Core& core) const;
  // Sends one if it is due.
  void Announce(const Core& core);
  void TakeAnswer();

  // The scheduler knows that this worker is draining.
  bool drain_announced() const { return drain_announced_; }

 private:
  void Fail(const absl::Status& status);
  void LogFailure(const absl::Status& status);

  ::ordo::agent::v1::AnnounceRequest identity_;
  const base::Clock& clock_;
  WorkerMetrics& metrics_;
  AnnounceSchedule schedule_;
  std::unique_ptr<Announcer> announcer_;
  // Of the newest observed set that the scheduler has.
  int64_t reported_sequence_ = 0;
  int64_t sent_sequence_ = 0;
  // Grows with each change of the devices.
  int64_t devices_sequence_ = 0;
  int64_t sent_devices_ = 0;
  int64_t known_devices_ = 0;
  bool sent_draining_ = false;
  // Monotonic: when the announcement in flight was sent.
  absl::Duration sent_at_;
  bool drain_announced_ = false;
  // The newest failure that was logged; empty after an answer.
  std::string last_failure_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_REPORTER_H_
