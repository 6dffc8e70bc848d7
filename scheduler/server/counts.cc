#include "scheduler/server/counts.h"

#include <map>
#include <string>

#include "scheduler/core/names.h"
#include "scheduler/core/transitions.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::server {
namespace {

// By label values.
using Values = std::map<std::vector<std::string>, double>;

}  // namespace

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
    case What::kQueueWait:
      metrics.queue_wait.With({count.label}).Observe(count.amount);
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
    case What::kCheckpointBytes:
      metrics.checkpoint_bytes.With({}).Increment(count.amount);
      return;
    case What::kEvaluation:
      metrics.evaluations.With({count.label}).Increment(count.amount);
      return;
    case What::kVerdict:
      metrics.gate_verdicts.With({count.label}).Increment(count.amount);
      return;
    case What::kToVerdict:
      metrics.checkpoint_to_verdict.With({count.label}).Observe(count.amount);
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

void ShowTotals(const View& view, SchedulerMetrics& metrics) {
  const auto jobs = view.CountJobs();
  for (size_t i = 0; i < jobs.size(); ++i) {
    const jobs::v1::Job::State state = core::kJobStates[i];
    metrics.jobs.With({jobs::v1::Job::State_Name(state)})
        .Set(static_cast<double>(jobs[i]));
  }
  const auto reasons = view.CountReasons();
  // One that a later release has stored is not shown.
  for (const std::string& reason : JobReasons()) {
    const auto count = reasons.find(reason);
    metrics.reasons.With({reason}).Set(
        count == reasons.end() ? 0 : static_cast<double>(count->second));
  }
  const auto workers = view.CountWorkers();
  for (const auto state :
       {workers::v1::Worker::ONLINE, workers::v1::Worker::DRAINING,
        workers::v1::Worker::LOST}) {
    const auto count = workers.find(state);
    metrics.workers.With({workers::v1::Worker::State_Name(state)})
        .Set(count == workers.end() ? 0 : static_cast<double>(count->second));
  }
  double quarantined = 0;
  Values devices;
  for (const auto& [kind_and_state, count] : view.CountDevices()) {
    const auto& [kind, state] = kind_and_state;
    for (const std::string& each : DeviceStates()) devices[{kind, each}] += 0;
    devices[{kind, state}] += static_cast<double>(count);
    if (state == "quarantined") quarantined += static_cast<double>(count);
  }
  base::ShowOnly(metrics.devices, devices);
  metrics.quarantined_devices.With({}).Set(quarantined);
}

void ShowQueues(const std::vector<queues::v1::Queue>& queues,
                SchedulerMetrics& metrics) {
  Values depth, active, weight, held, guaranteed, limit;
  for (const queues::v1::Queue& queue : queues) {
    const std::string id = core::IdOf(queue.name());
    depth[{id}] = queue.queued_jobs();
    active[{id}] = queue.active_jobs();
    weight[{id}] = queue.has_weight() ? queue.weight() : kDefaultQueueWeight;
    for (const queues::v1::Quota& quota : queue.quotas()) {
      held[{id, quota.device()}] = 0;
      guaranteed[{id, quota.device()}] = quota.guaranteed();
      if (quota.has_limit()) limit[{id, quota.device()}] = quota.limit();
    }
    for (const auto& [kind, count] : queue.held_devices()) {
      held[{id, kind}] = count;
    }
  }
  base::ShowOnly(metrics.queue_depth, depth);
  base::ShowOnly(metrics.queue_active, active);
  base::ShowOnly(metrics.queue_weight, weight);
  base::ShowOnly(metrics.queue_held, held);
  base::ShowOnly(metrics.queue_guaranteed, guaranteed);
  base::ShowOnly(metrics.queue_limit, limit);
}

void ShowTraining(const std::vector<DeviceTraining>& devices,
                  SchedulerMetrics& metrics) {
  Values ages, losses, rates, times;
  for (const DeviceTraining& each : devices) {
    const std::vector<std::string> labels = {each.worker, each.device};
    ages[labels] = each.checkpoint_age_s;
    losses[labels] = each.loss;
    rates[labels] = each.tokens_per_second;
    times[labels] = each.step_s;
  }
  base::ShowOnly(metrics.checkpoint_age, ages);
  base::ShowOnly(metrics.loss, losses);
  base::ShowOnly(metrics.tokens_per_second, rates);
  base::ShowOnly(metrics.step_seconds, times);
}

}  // namespace ordo::scheduler::server
