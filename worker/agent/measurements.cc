#include "worker/agent/measurements.h"

#include <algorithm>
#include <utility>

namespace ordo::worker::agent {

using ::ordo::agent::v1::ObservedAttempt;
using ::ordo::training::v1::ProgressRecord;

std::string CauseLabel(ObservedAttempt::Cause cause) {
  switch (cause) {
    case ObservedAttempt::EXIT:
      return "exit";
    case ObservedAttempt::SIGNAL:
      return "signal";
    case ObservedAttempt::HANG:
      return "hang";
    case ObservedAttempt::START_FAILED:
      return "start_failed";
    case ObservedAttempt::HOST_FAILED:
      return "host_failed";
    case ObservedAttempt::FOLDER_TAKEN:
      return "folder_taken";
    case ObservedAttempt::KILLED:
      return "killed";
    default:
      return "supervisor_lost";
  }
}

Measurements::Measurements(WorkerMetrics& metrics,
                           std::vector<std::string> devices,
                           std::optional<AskedAt> asked)
    : metrics_(metrics), devices_(std::move(devices)), asked_(asked) {}

void Measurements::OnRecord(const ProgressRecord& record) {
  for (const std::string& device : devices_) {
    if (record.has_step()) {
      metrics_.loss.With({device}).Set(record.step().loss());
      metrics_.tokens_per_second.With({device}).Set(
          record.step().tokens_per_second());
      const int64_t done = record.step().step() - last_step_;
      if (done > 0) metrics_.steps.With({device}).Increment(done);
    }
    if (record.has_checkpoint()) {
      metrics_.checkpoint_last_time.With({device}).Set(record.time().seconds());
    }
  }
  if (record.has_step()) last_step_ = record.step().step();
  if (record.has_started()) last_step_ = record.started().start_step();
  if (record.has_checkpoint()) {
    metrics_.checkpoint_write_seconds.With({}).Observe(
        record.checkpoint().write_seconds());
    metrics_.checkpoint_stall_seconds.With({}).Observe(
        record.checkpoint().stall_seconds());
  }
  if (record.has_checkpoint_failed()) {
    metrics_.checkpoint_failures.With({}).Increment();
  }
}

void Measurements::OnFacts(const SupervisorFacts& facts, absl::Duration now) {
  if (!asked_ || facts.trainer_start_ns == 0) return;
  const absl::Duration told =
      absl::FromUnixNanos(facts.trainer_start_ns) - asked_->wall;
  metrics_.start_seconds.With({}).Observe(absl::ToDoubleSeconds(
      std::clamp(told, absl::ZeroDuration(),
                 std::max(now - asked_->monotonic, absl::ZeroDuration()))));
  asked_.reset();
}

void Measurements::OnEnd(ObservedAttempt::Cause cause) {
  for (const std::string& device : devices_) {
    metrics_.loss.With({device}).Set(0);
    metrics_.tokens_per_second.With({device}).Set(0);
  }
  metrics_.attempts_ended.With({CauseLabel(cause)}).Increment();
}

}  // namespace ordo::worker::agent
