#ifndef ORDO_SCHEDULER_METRICS_H_
#define ORDO_SCHEDULER_METRICS_H_

#include <string>
#include <vector>

#include "base/metrics/metrics.h"
#include "scheduler/core/reasons.h"

namespace ordo::scheduler {

// Buckets for waits from a millisecond to a day.
inline std::vector<double> WaitBucketsSeconds() {
  return {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,  0.2,  0.5,  1,
          2,     5,     10,    30,   60,   300,  1800, 7200, 86400};
}

inline std::vector<std::string> AttemptEndReasons() {
  return {std::begin(core::reason::kAttemptEnds),
          std::end(core::reason::kAttemptEnds)};
}

// All metrics of ordo-scheduler; those of its RPCs are base::RpcMetrics. Labels
// come from closed sets: never a job. `queue`, `worker` and `device` are those
// of the deployment.
struct SchedulerMetrics {
  explicit SchedulerMetrics(base::MetricsRegistry& registry)
      : queue_depth(registry.AddGauge({"ordo_scheduler_queue_depth_jobs",
                                       "Jobs that wait to start, by queue.",
                                       {{"queue"}}})),
        jobs(
            registry.AddGauge({"ordo_scheduler_state_jobs",
                               "Jobs in each state.",
                               {{"state",
                                 {"QUEUED", "STARTING", "RUNNING", "CANCELLING",
                                  "SUCCEEDED", "FAILED", "CANCELLED"}}}})),
        workers(
            registry.AddGauge({"ordo_scheduler_state_workers",
                               "Workers in each state.",
                               {{"state", {"ONLINE", "DRAINING", "LOST"}}}})),
        workers_lost(registry.AddCounter(
            {"ordo_scheduler_lost_workers_total",
             "Workers that were silent for longer than their lease."})),
        quarantined_devices(registry.AddGauge(
            {"ordo_scheduler_quarantined_devices",
             "Devices in quarantine, of workers that are known."})),
        quarantines(
            registry.AddCounter({"ordo_scheduler_device_quarantines_total",
                                 "Devices that came into quarantine, by cause: "
                                 "failures of attempts "
                                 "on them, or what their driver said.",
                                 {{"cause", {"failures", "fault"}}}})),
        first_step(registry.AddHistogram(
            {"ordo_scheduler_submit_to_first_step_seconds",
             "Time from the submission of a job to its first step."},
            WaitBucketsSeconds())),
        attempts(registry.AddCounter({"ordo_scheduler_ended_attempts_total",
                                      "Attempts that ended, by reason.",
                                      {{"reason", AttemptEndReasons()}}})),
        stale_attempts(registry.AddCounter(
            {"ordo_scheduler_stale_attempts_total",
             "Times that a worker ran an attempt which is over."})),
        device_seconds(registry.AddCounter(
            {"ordo_scheduler_device_seconds_total",
             "Time that attempts held devices, by use.",
             {{"use",
               {"start", "train", "evaluate", "benchmark", "summarize"}}}})),
        device_seconds_lost(registry.AddCounter(
            {"ordo_scheduler_lost_device_seconds_total",
             "Device time since the last checkpoint of attempts that did not "
             "end well, by cause.",
             {{"reason", AttemptEndReasons()}}})),
        steps_lost(registry.AddCounter(
            {"ordo_scheduler_lost_steps_total",
             "Steps since the last checkpoint of attempts that did not end "
             "well, by cause.",
             {{"reason", AttemptEndReasons()}}})),
        checkpoints(
            registry.AddCounter({"ordo_scheduler_checkpoints_written_total",
                                 "Checkpoints, by what became of them.",
                                 {{"result",
                                   {"written", "failed", "refused", "removed",
                                    "thinned", "imported"}}}})),
        checkpoint_stall(registry.AddHistogram(
            {"ordo_scheduler_checkpoint_stall_seconds",
             "Time that training stood still for a checkpoint."},
            WaitBucketsSeconds())),
        checkpoint_write(
            registry.AddHistogram({"ordo_scheduler_checkpoint_write_seconds",
                                   "Time until a checkpoint was durable."},
                                  WaitBucketsSeconds())),
        checkpoint_age(registry.AddGauge(
            {"ordo_scheduler_checkpoint_age_seconds",
             "Time since the attempt on a device began or last wrote a "
             "checkpoint; 0 when it is idle.",
             {{"worker"}, {"device"}}})),
        folder_errors(registry.AddCounter(
            {"ordo_scheduler_checkpoint_removal_errors_total",
             "Folders and files of checkpoints that could not be removed."})),
        reports(registry.AddCounter({"ordo_scheduler_reports_written_total",
                                     "Reports, by what became of them.",
                                     {{"result", {"written", "refused"}}}})),
        loss(registry.AddGauge({"ordo_scheduler_training_loss_nats",
                                "Newest training loss on a device, per token; "
                                "0 when it is idle.",
                                {{"worker"}, {"device"}}})),
        tokens_per_second(registry.AddGauge(
            {"ordo_scheduler_training_rate_tokens_per_second",
             "Newest training rate on a device; 0 when it is idle.",
             {{"worker"}, {"device"}}})),
        commit_latency(
            registry.AddHistogram({"ordo_scheduler_commit_latency_seconds",
                                   "Time of one transaction of the store."},
                                  base::LatencyBucketsSeconds())),
        commit_records(
            registry.AddCounter({"ordo_scheduler_commit_records_total",
                                 "Records written to the store."})),
        damaged_records(registry.AddCounter(
            {"ordo_scheduler_damaged_records_total",
             "Jobs that have ended, checkpoints and reports that the store "
             "cannot read any more and that were left out, each once."})),
        full_disks(registry.AddCounter(
            {"ordo_scheduler_full_disks_total",
             "Times that the disk of the store was found full."})),
        dispatches(
            registry.AddCounter({"ordo_scheduler_dispatch_calls_total",
                                 "Desired sets sent to workers, by result.",
                                 {{"result", {"ok", "refused", "failed"}}}})) {}

  base::GaugeFamily queue_depth;
  base::GaugeFamily jobs;
  base::GaugeFamily workers;
  base::CounterFamily workers_lost;
  base::GaugeFamily quarantined_devices;
  base::CounterFamily quarantines;
  base::HistogramFamily first_step;
  base::CounterFamily attempts;
  base::CounterFamily stale_attempts;
  base::CounterFamily device_seconds;
  base::CounterFamily device_seconds_lost;
  base::CounterFamily steps_lost;
  base::CounterFamily checkpoints;
  base::HistogramFamily checkpoint_stall;
  base::HistogramFamily checkpoint_write;
  base::GaugeFamily checkpoint_age;
  base::CounterFamily folder_errors;
  base::CounterFamily reports;
  base::GaugeFamily loss;
  base::GaugeFamily tokens_per_second;
  base::HistogramFamily commit_latency;
  base::CounterFamily commit_records;
  base::CounterFamily damaged_records;
  base::CounterFamily full_disks;
  base::CounterFamily dispatches;
};

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_METRICS_H_
