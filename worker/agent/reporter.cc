#include "worker/agent/reporter.h"

#include <algorithm>
#include <utility>

#include "base/log/log.h"
#include "base/units/proto_time.h"
#include "base/version/worker_protocol.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::AnnounceRequest;

constexpr absl::Duration kAnnounceTimeout = absl::Seconds(2);

}  // namespace

Reporter::Reporter(AnnounceRequest identity, const base::Clock& clock,
                   WorkerMetrics& metrics)
    : identity_(std::move(identity)),
      clock_(clock),
      metrics_(metrics),
      schedule_(identity_.worker()) {
  identity_.set_protocol(base::kWorkerProtocol);
}

void Reporter::Begin(const std::string& address,
                     const std::shared_ptr<grpc::Channel>& channel,
                     std::function<void()> wake) {
  identity_.set_address(address);
  announcer_ = std::make_unique<Announcer>(channel, std::move(wake));
}

void Reporter::End() { announcer_.reset(); }

void Reporter::SetDevices(
    const std::vector<::ordo::workers::v1::Device>& devices) {
  RefreshDevices(devices);
  ++devices_sequence_;
}

void Reporter::RefreshDevices(
    const std::vector<::ordo::workers::v1::Device>& devices) {
  *identity_.mutable_devices() = {devices.begin(), devices.end()};
}

void Reporter::Reported(int64_t sequence) {
  reported_sequence_ = std::max(reported_sequence_, sequence);
}

absl::Duration Reporter::TimeLeft(const Core& core) const {
  News news = core.NewsSince(reported_sequence_);
  if ((core.draining() && !drain_announced_) ||
      devices_sequence_ > known_devices_) {
    news = News::kUrgent;
  }
  return schedule_.TimeLeft(clock_.Monotonic(), news);
}

void Reporter::Announce(const Core& core) {
  if (announcer_ == nullptr || TimeLeft(core) > absl::ZeroDuration()) return;
  AnnounceRequest request = identity_;
  request.set_draining(core.draining());
  *request.mutable_observed() = core.Observed();
  if (!announcer_->Send(request, kAnnounceTimeout)) return;
  sent_at_ = clock_.Monotonic();
  schedule_.Sent(clock_.Monotonic());
  sent_sequence_ = request.observed().sequence();
  sent_devices_ = devices_sequence_;
  sent_draining_ = request.draining();
}

void Reporter::TakeAnswer() {
  if (announcer_ == nullptr) return;
  const auto answer = announcer_->Take();
  if (!answer) return;
  metrics_.announce_latency.With({}).Observe(
      absl::ToDoubleSeconds(clock_.Monotonic() - sent_at_));
  // A scheduler of the first release checks nothing.
  const absl::Status status =
      answer->ok()
          ? base::CheckNeighbours({identity_.worker(), base::kWorkerProtocol,
                                   (*answer)->protocol()})
          : answer->status();
  if (!status.ok()) return Fail(status);
  last_failure_.clear();
  if (schedule_.num_failures() > 0) base::LogInfo("scheduler answers again");
  schedule_.Answered(base::ToDuration((*answer)->period()));
  drain_announced_ = drain_announced_ || sent_draining_;
  known_devices_ = sent_devices_;
  Reported(sent_sequence_);
}

void Reporter::Fail(const absl::Status& status) {
  metrics_.announce_failures.With({}).Increment();
  if (absl::IsFailedPrecondition(status)) {
    schedule_.Refused(clock_.Monotonic());
  } else {
    schedule_.Failed(clock_.Monotonic());
  }
  LogFailure(status);
}

void Reporter::LogFailure(const absl::Status& status) {
  // A scheduler without memory to read announcements ends them so, before it
  // knows whose they are; one that leaves cancels what it has not answered.
  const bool silent =
      absl::IsUnavailable(status) || absl::IsCancelled(status) ||
      absl::IsDeadlineExceeded(status) || absl::IsResourceExhausted(status);
  // Of silence the first in a row is news, of refusals each that differs.
  const std::string text = silent ? "silent" : status.ToString();
  if (text == last_failure_) return;
  last_failure_ = text;
  if (silent) {
    base::LogWarning("scheduler does not answer", {{"error", status}});
  } else {
    base::LogError("scheduler refuses this worker", {{"error", status}});
  }
}

}  // namespace ordo::worker::agent
