#ifndef ORDO_SCHEDULER_METRICS_H_
#define ORDO_SCHEDULER_METRICS_H_

#include <string>
#include <vector>

#include "base/metrics/metrics.h"
#include "scheduler/core/reasons.h"

namespace ordo::scheduler {

// Buckets for waits from a millisecond to a day.
inline std::vector<double> WaitBucketsSeconds() {
  // With those that deploy/prometheus compares with: between two of these a
  // quantile is a guess.
  return {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2,  0.5,  1,    2,
          5,     10,    30,    60,   120,  300,  900, 1800, 7200, 86400};
}

// The first that applies.
inline std::vector<std::string> DeviceStates() {
  return {"lost", "quarantined", "held", "withheld", "closed", "free"};
}

inline std::vector<std::string> JobReasons() {
  return {std::begin(core::reason::kAll), std::end(core::reason::kAll)};
}

inline std::vector<std::string> AttemptEndReasons() {
  return {std::begin(core::reason::kAttemptEnds),
          std::end(core::reason::kAttemptEnds)};
}

// All metrics of ordo-scheduler; those of its RPCs are base::RpcMetrics, those
// of the process base/metrics/process_metrics.h. Labels come from closed sets:
// never a job or a user. `queue`, `kind`, `worker` and `device` are those of
// the deployment, and leave the page when they leave it. docs/metrics.md lists
// all.
struct SchedulerMetrics {
  explicit SchedulerMetrics(base::MetricsRegistry& registry)
      : queue_depth(registry.AddGauge({"ordo_scheduler_queue_depth_jobs",
                                       "Jobs that wait to start, by queue.",
                                       {{"queue"}}})),
        queue_active(registry.AddGauge({"ordo_scheduler_queue_active_jobs",
                                        "Jobs that hold devices, by queue.",
                                        {{"queue"}}})),
        queue_oldest_wait(registry.AddGauge(
            {"ordo_scheduler_queue_oldest_wait_seconds",
             "How long the job has waited that waits longest for devices, by "
             "queue; 0: none waits for devices.",
             {{"queue"}}})),
        queue_wait(registry.AddHistogram(
            {"ordo_scheduler_queue_wait_seconds",
             "Time that jobs waited in a queue until an attempt began.",
             {{"queue"}}},
            WaitBucketsSeconds())),
        queue_held(registry.AddGauge(
            {"ordo_scheduler_queue_held_devices",
             "Devices that the jobs of a queue hold, by kind.",
             {{"queue"}, {"kind"}}})),
        queue_guaranteed(registry.AddGauge(
            {"ordo_scheduler_queue_guaranteed_devices",
             "Devices that a queue gets before others get more than theirs, by "
             "kind; its quota.",
             {{"queue"}, {"kind"}}})),
        queue_limit(registry.AddGauge(
            {"ordo_scheduler_queue_limit_devices",
             "Devices that a queue never holds more of, by kind, where it has "
             "such a limit; its quota.",
             {{"queue"}, {"kind"}}})),
        queue_weight(registry.AddGauge(
            {"ordo_scheduler_queue_weight_ratio",
             "Weight of a queue: its part of what is used is this beside the "
             "weights of the others.",
             {{"queue"}}})),
        queue_usage(registry.AddGauge(
            {"ordo_scheduler_queue_usage_device_seconds",
             "Device time that a queue has used, by kind, as its fair share "
             "counts it: it decays by half in each half-life.",
             {{"queue"}, {"kind"}}})),
        reasons(registry.AddGauge(
            {"ordo_scheduler_reason_jobs",
             "Jobs that have not ended, by the reason of their state.",
             {{"reason", JobReasons()}}})),
        jobs_ended(registry.AddCounter(
            {"ordo_scheduler_ended_jobs_total",
             "Jobs that ended while this process ran, by how.",
             {{"state", {"SUCCEEDED", "FAILED", "CANCELLED"}}}})),
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
        devices(registry.AddGauge(
            {"ordo_scheduler_state_devices",
             "Devices of the workers that are known, by kind and state: of a "
             "worker that is lost, in quarantine, held by a job, withheld by "
             "their worker, closed (cordoned, drained or draining), or free.",
             {{"kind"}, {"state", DeviceStates()}}})),
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
        checkpoint_bytes(registry.AddCounter(
            {"ordo_scheduler_checkpoint_written_bytes_total",
             "Bytes of the checkpoints that were written."})),
        checkpoint_to_verdict(registry.AddHistogram(
            {"ordo_scheduler_checkpoint_to_verdict_seconds",
             "Time from a checkpoint, or from the submission of a job that "
             "looks at an older one, to what was found of it: the scores of an "
             "evaluation, the verdict of a gate.",
             {{"kind", {"evaluation", "gate"}}}},
            WaitBucketsSeconds())),
        evaluations(registry.AddCounter(
            {"ordo_scheduler_evaluations_registered_total",
             "Results of evaluations: computed, or taken from another job that "
             "had answered the same question.",
             {{"source", {"computed", "taken"}}}})),
        gate_verdicts(registry.AddCounter(
            {"ordo_scheduler_gate_verdicts_total",
             "Gates that were decided, by verdict.",
             {{"verdict", {"pass", "fail", "inconclusive"}}}})),
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
        step_seconds(registry.AddGauge(
            {"ordo_scheduler_training_step_seconds",
             "Newest time of a training step on a device; 0 when it is idle.",
             {{"worker"}, {"device"}}})),
        commit_latency(
            registry.AddHistogram({"ordo_scheduler_commit_latency_seconds",
                                   "Time of one transaction of the store."},
                                  base::LatencyBucketsSeconds())),
        commit_records(
            registry.AddCounter({"ordo_scheduler_commit_records_total",
                                 "Records written to the store."})),
        commit_waiting(registry.AddGauge(
            {"ordo_scheduler_commit_waiting_jobs",
             "Jobs of the calls that wait for a commit; a call that creates "
             "none counts as one."})),
        store_size(registry.AddGauge(
            {"ordo_scheduler_store_size_bytes",
             "Size of the store on disk: its database, and the log of changes "
             "that are not in it yet.",
             {{"file", {"database", "wal"}}}})),
        store_free(
            registry.AddGauge({"ordo_scheduler_store_free_bytes",
                               "Room that is left on the disk of the store."})),
        timer_delay(registry.AddHistogram(
            {"ordo_scheduler_timer_delay_seconds",
             "How late the scheduler came to what was due at a time: the delay "
             "of its event loop, waits for its lock included."},
            base::LatencyBucketsSeconds())),
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
  base::GaugeFamily queue_active;
  base::GaugeFamily queue_oldest_wait;
  base::HistogramFamily queue_wait;
  base::GaugeFamily queue_held;
  base::GaugeFamily queue_guaranteed;
  base::GaugeFamily queue_limit;
  base::GaugeFamily queue_weight;
  base::GaugeFamily queue_usage;
  base::GaugeFamily reasons;
  base::CounterFamily jobs_ended;
  base::GaugeFamily jobs;
  base::GaugeFamily workers;
  base::GaugeFamily devices;
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
  base::CounterFamily checkpoint_bytes;
  base::HistogramFamily checkpoint_to_verdict;
  base::CounterFamily evaluations;
  base::CounterFamily gate_verdicts;
  base::CounterFamily folder_errors;
  base::CounterFamily reports;
  base::GaugeFamily loss;
  base::GaugeFamily tokens_per_second;
  base::GaugeFamily step_seconds;
  base::HistogramFamily commit_latency;
  base::CounterFamily commit_records;
  base::GaugeFamily commit_waiting;
  base::GaugeFamily store_size;
  base::GaugeFamily store_free;
  base::HistogramFamily timer_delay;
  base::CounterFamily damaged_records;
  base::CounterFamily full_disks;
  base::CounterFamily dispatches;
};

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_METRICS_H_
