#ifndef ORDO_WORKER_AGENT_METRICS_H_
#define ORDO_WORKER_AGENT_METRICS_H_

#include "base/metrics/metrics.h"

namespace ordo::worker::agent {

// All metrics of ordo-worker, but those of its RPCs (base/rpc). Labels name
// devices and causes, never jobs.
struct WorkerMetrics {
  explicit WorkerMetrics(base::MetricsRegistry& registry)
      : attempts_running(registry.AddGauge(
            {"ordo_worker_running_attempts",
             "Attempts that have a supervisor and are not over."})),
        attempts_started(registry.AddCounter(
            {"ordo_worker_attempts_started_total", "Supervisors started."})),
        attempts_adopted(registry.AddCounter(
            {"ordo_worker_attempts_adopted_total",
             "Attempts taken over from an earlier worker process."})),
        attempts_ended(registry.AddCounter(
            {"ordo_worker_attempts_ended_total",
             "Attempts that are over, by what ended them.",
             {{"cause",
               {"exit", "signal", "hang", "start_failed", "supervisor_lost",
                "killed", "host_failed", "folder_taken"}}}})),
        start_seconds(registry.AddHistogram(
            {"ordo_worker_start_seconds",
             "Time from the desired set that asks for an attempt to its "
             "trainer's start."},
            base::LatencyBucketsSeconds())),
        orphans_reaped(registry.AddCounter(
            {"ordo_worker_orphans_reaped_total",
             "Processes that outlived their supervisor and were ended."})),
        log_bytes_dropped(registry.AddCounter(
            {"ordo_worker_log_bytes_dropped_total",
             "Bytes of trainers' output that were lost; trainers write to "
             "their log files directly, so this stays 0."})),
        damaged_progress(registry.AddCounter(
            {"ordo_worker_damaged_progress_files_total",
             "Progress files that could not be read to their end."})),
        announce_failures(registry.AddCounter(
            {"ordo_worker_announce_failures_total",
             "Announcements that the scheduler did not answer."})),
        kernel_probes(registry.AddCounter(
            {"ordo_worker_kernel_probes_total",
             "Probes of a device's kernels, by what they found: all right, "
             "some wrong, or no report.",
             {{"result", {"right", "wrong", "none"}}}})),
        wrong_kernels(registry.AddGauge(
            {"ordo_worker_wrong_kernels",
             "Kernels that are wrong on a device, and left out of its tasks.",
             {{"device"}}})),
        loss(registry.AddGauge(
            {"ordo_worker_training_loss_nats",
             "Mean training loss per token of the newest reported step.",
             {{"device"}}})),
        tokens_per_second(registry.AddGauge(
            {"ordo_worker_training_rate_tokens_per_second",
             "Training throughput of the newest reported step.",
             {{"device"}}})),
        steps(registry.AddCounter({"ordo_worker_training_steps_total",
                                   "Optimizer steps done.",
                                   {{"device"}}})),
        checkpoint_write_seconds(
            registry.AddHistogram({"ordo_worker_checkpoint_write_seconds",
                                   "Time until a checkpoint was durable."},
                                  base::LatencyBucketsSeconds())),
        checkpoint_stall_seconds(registry.AddHistogram(
            {"ordo_worker_checkpoint_stall_seconds",
             "Time that training stood still for a checkpoint."},
            base::LatencyBucketsSeconds())),
        checkpoint_failures(
            registry.AddCounter({"ordo_worker_checkpoint_failures_total",
                                 "Checkpoints that could not be written."})),
        checkpoint_last_time(registry.AddGauge(
            {"ordo_worker_checkpoint_last_timestamp_seconds",
             "When the newest durable checkpoint was written, seconds since "
             "1970; its age is time() minus this.",
             {{"device"}}})) {}

  base::GaugeFamily attempts_running;
  base::CounterFamily attempts_started;
  base::CounterFamily attempts_adopted;
  base::CounterFamily attempts_ended;
  base::HistogramFamily start_seconds;
  base::CounterFamily orphans_reaped;
  base::CounterFamily log_bytes_dropped;
  base::CounterFamily damaged_progress;
  base::CounterFamily announce_failures;
  base::CounterFamily kernel_probes;
  base::GaugeFamily wrong_kernels;
  base::GaugeFamily loss;
  base::GaugeFamily tokens_per_second;
  base::CounterFamily steps;
  base::HistogramFamily checkpoint_write_seconds;
  base::HistogramFamily checkpoint_stall_seconds;
  base::CounterFamily checkpoint_failures;
  base::GaugeFamily checkpoint_last_time;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_METRICS_H_
