#include "scheduler/server/counts.h"

#include <string>

namespace ordo::scheduler::server {

void AddCount(const core::Count& count, SchedulerMetrics& metrics) {
  using What = core::Count::What;
  switch (count.what) {
    case What::kAttemptEnded:
      metrics.attempts.With({count.label}).Increment(count.amount);
      return;
    case What::kDeviceSeconds:
      metrics.device_seconds.With({count.label}).Increment(count.amount);
      return;
    case What::kDeviceSecondsLost:
      metrics.device_seconds_lost.With({count.label}).Increment(count.amount);
      return;
    case What::kStepsLost:
      metrics.steps_lost.With({count.label}).Increment(count.amount);
      return;
    case What::kFirstStep:
      metrics.first_step.With({}).Observe(count.amount);
      return;
    case What::kCheckpoint:
      metrics.checkpoints.With({count.label}).Increment(count.amount);
      return;
    case What::kCheckpointStall:
      metrics.checkpoint_stall.With({}).Observe(count.amount);
      return;
    case What::kCheckpointWrite:
      metrics.checkpoint_write.With({}).Observe(count.amount);
      return;
    case What::kReport:
      metrics.reports.With({count.label}).Increment(count.amount);
      return;
    case What::kStaleAttempt:
      metrics.stale_attempts.With({}).Increment(count.amount);
      return;
    case What::kWorkerLost:
      metrics.workers_lost.With({}).Increment(count.amount);
      return;
    case What::kQuarantine:
      metrics.quarantines.With({count.label}).Increment(count.amount);
      return;
  }
}

void ShowProgress(const core::PublishProgress& progress,
                  SchedulerMetrics& metrics) {
  const std::vector<std::string> labels = {progress.worker, progress.device};
  const bool runs = progress.value != nullptr;
  metrics.loss.With(labels).Set(runs ? progress.value->loss() : 0);
  metrics.tokens_per_second.With(labels).Set(
      runs ? progress.value->tokens_per_second() : 0);
  if (!runs) metrics.checkpoint_age.With(labels).Set(0);
}

void ShowTotals(View& view, SchedulerMetrics& metrics) {
  const auto jobs = view.CountJobs();
  for (size_t i = 0; i < jobs.size(); ++i) {
    const jobs::v1::Job::State state = core::kJobStates[i];
    metrics.jobs.With({jobs::v1::Job::State_Name(state)})
        .Set(static_cast<double>(jobs[i]));
  }
  for (const auto& [queue, count] : view.TakeNumQueued()) {
    if (count.has_value()) {
      metrics.queue_depth.With({queue}).Set(static_cast<double>(*count));
    } else {
      metrics.queue_depth.Remove({queue});
    }
  }
  const auto workers = view.CountWorkers();
  for (const auto state :
       {workers::v1::Worker::ONLINE, workers::v1::Worker::DRAINING,
        workers::v1::Worker::LOST}) {
    const auto count = workers.find(state);
    metrics.workers.With({workers::v1::Worker::State_Name(state)})
        .Set(count == workers.end() ? 0 : static_cast<double>(count->second));
  }
  metrics.quarantined_devices.With({}).Set(
      static_cast<double>(view.CountQuarantined()));
}

}  // namespace ordo::scheduler::server
