#include "worker/agent/measurements.h"

#include <algorithm>
#include <utility>

#include "base/process/use.h"

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
    : metrics_(metrics),
      devices_(std::move(devices)),
      asked_(asked),
      counts_(asked.has_value()) {
  if (counts_) last_cpu_s_ = 0;
}

void Measurements::OnRecord(const ProgressRecord& record) {
  for (const std::string& device : devices_) {
    if (record.has_step()) {
      metrics_.loss.With({device}).Set(record.step().loss());
      metrics_.tokens_per_second.With({device}).Set(
          record.step().tokens_per_second());
      metrics_.step_seconds.With({device}).Set(record.step().step_seconds());
      metrics_.training_memory.With({device}).Set(
          static_cast<double>(record.step().peak_memory_bytes()));
      const int64_t done = record.step().step() - last_step_;
      if (counts_ && done > 0) metrics_.steps.With({device}).Increment(done);
    }
    if (record.has_checkpoint()) {
      metrics_.checkpoint_last_time.With({device}).Set(record.time().seconds());
    }
  }
  if (record.has_step()) {
    last_step_ = record.step().step();
    CountTokens(record.step().tokens());
  }
  if (record.has_started()) {
    last_step_ = record.started().start_step();
    if (last_step_ > 0) last_tokens_.reset();
  }
  if (!counts_) return;
  if (record.has_checkpoint()) {
    metrics_.checkpoint_write_seconds.With({}).Observe(
        record.checkpoint().write_seconds());
    metrics_.checkpoint_stall_seconds.With({}).Observe(
        record.checkpoint().stall_seconds());
    for (const auto& file : record.checkpoint().files()) {
      metrics_.checkpoint_bytes.With({}).Increment(
          static_cast<double>(file.size_bytes()));
    }
  }
  if (record.has_checkpoint_failed()) {
    metrics_.checkpoint_failures.With({}).Increment();
  }
}

void Measurements::CountTokens(int64_t tokens) {
  const int64_t more = tokens - last_tokens_.value_or(tokens);
  last_tokens_ = tokens;
  if (!counts_ || more <= 0 || devices_.empty()) return;
  metrics_.tokens.With({devices_.front()}).Increment(static_cast<double>(more));
}

void Measurements::Look() {
  if (trainer_pid_ == 0 || devices_.empty()) return;
  const auto use = base::UseOf(trainer_pid_);
  // It has just ended.
  if (!use.ok()) return;
  metrics_.trainer_resident.With({devices_.front()})
      .Set(static_cast<double>(use->resident_bytes));
  metrics_.trainer_cpu.With({devices_.front()})
      .Increment(std::max(
          0.0, use->cpu_seconds - last_cpu_s_.value_or(use->cpu_seconds)));
  last_cpu_s_ = std::max(last_cpu_s_.value_or(0), use->cpu_seconds);
}

void Measurements::OnFacts(const SupervisorFacts& facts, absl::Duration now) {
  trainer_pid_ = facts.exit.has_value() ? 0 : facts.trainer_pid;
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
    metrics_.step_seconds.With({device}).Set(0);
    metrics_.training_memory.With({device}).Set(0);
  }
  trainer_pid_ = 0;
  if (!devices_.empty()) {
    metrics_.trainer_resident.With({devices_.front()}).Set(0);
  }
  metrics_.attempts_ended.With({CauseLabel(cause)}).Increment();
}

}  // namespace ordo::worker::agent
