#ifndef ORDO_WORKER_AGENT_METRICS_H_
#define ORDO_WORKER_AGENT_METRICS_H_

#include "base/metrics/metrics.h"

namespace ordo::worker::agent {

// All metrics of ordo-worker, but those of its RPCs (base/rpc) and of the
// process (base/metrics/process_metrics.h). Labels name devices and causes,
// never jobs. docs/metrics.md lists all.
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
        announce_latency(registry.AddHistogram(
            {"ordo_worker_announce_latency_seconds",
             "Time until the scheduler answered an announcement, or was taken "
             "for silent."},
            base::LatencyBucketsSeconds())),
        loop_turn(registry.AddHistogram(
            {"ordo_worker_loop_turn_seconds",
             "Time that one turn of the worker's loop took: what comes in "
             "meanwhile waits so long."},
            base::LatencyBucketsSeconds())),
        free_bytes(registry.AddGauge(
            {"ordo_worker_free_bytes",
             "Room that is left where the worker writes: on the shared "
             "storage, and in its own state folder; 0 where it cannot be told.",
             {{"place", {"storage", "state"}}}})),
        withheld_devices(registry.AddGauge(
            {"ordo_worker_withheld_devices",
             "Devices that are offered to nobody now: probed, in use by "
             "others, or not answered for by their driver."})),
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
        gpu_utilization(registry.AddGauge(
            {"ordo_worker_gpu_utilization_ratio",
             "Part of the time in which a GPU computed, as its driver says, "
             "0..1.",
             {{"device"}}})),
        gpu_used(registry.AddGauge({"ordo_worker_gpu_memory_used_bytes",
                                    "Memory of a GPU that is in use.",
                                    {{"device"}}})),
        gpu_free(registry.AddGauge({"ordo_worker_gpu_memory_free_bytes",
                                    "Memory of a GPU that is free.",
                                    {{"device"}}})),
        gpu_temperature(
            registry.AddGauge({"ordo_worker_gpu_temperature_celsius",
                               "Temperature of a GPU.",
                               {{"device"}}})),
        gpu_power(registry.AddGauge({"ordo_worker_gpu_power_watts",
                                     "Power that a GPU draws.",
                                     {{"device"}}})),
        gpu_faults(registry.AddCounter(
            {"ordo_worker_gpu_faults_total",
             "Errors of a GPU itself that its driver reported, by code: XID_79 "
             "and the like, ECC_DOUBLE_BIT, or `other`.",
             {{"device"}, {"code"}}})),
        gpu_ecc(registry.AddCounter(
            {"ordo_worker_gpu_ecc_errors_total",
             "Errors of a GPU's memory since its driver was loaded.",
             {{"device"}, {"kind", {"corrected", "uncorrected"}}}})),
        loss(registry.AddGauge(
            {"ordo_worker_training_loss_nats",
             "Mean training loss per token of the newest reported step.",
             {{"device"}}})),
        tokens_per_second(registry.AddGauge(
            {"ordo_worker_training_rate_tokens_per_second",
             "Training throughput of the newest reported step.",
             {{"device"}}})),
        step_seconds(registry.AddGauge(
            {"ordo_worker_training_step_seconds",
             "Time of a training step, of the newest reported steps.",
             {{"device"}}})),
        training_memory(registry.AddGauge(
            {"ordo_worker_training_peak_memory_bytes",
             "The most memory that the attempt on a device has held: of a GPU "
             "what tensors took, on a CPU resident main memory.",
             {{"device"}}})),
        tokens(registry.AddCounter(
            {"ordo_worker_training_tokens_total",
             "Tokens that were trained on, by the first device of "
             "the attempt.",
             {{"device"}}})),
        trainer_cpu(registry.AddCounter(
            {"ordo_worker_trainer_cpu_seconds_total",
             "Processor time of the trainers whose first device it is.",
             {{"device"}}})),
        trainer_resident(
            registry.AddGauge({"ordo_worker_trainer_resident_bytes",
                               "Main memory of the trainer whose first device "
                               "it is; 0 when it is "
                               "idle.",
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
        checkpoint_bytes(registry.AddCounter(
            {"ordo_worker_checkpoint_written_bytes_total",
             "Bytes of the checkpoints that were written."})),
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
  base::HistogramFamily announce_latency;
  base::HistogramFamily loop_turn;
  base::GaugeFamily free_bytes;
  base::GaugeFamily withheld_devices;
  base::CounterFamily announce_failures;
  base::CounterFamily kernel_probes;
  base::GaugeFamily wrong_kernels;
  base::GaugeFamily gpu_utilization;
  base::GaugeFamily gpu_used;
  base::GaugeFamily gpu_free;
  base::GaugeFamily gpu_temperature;
  base::GaugeFamily gpu_power;
  base::CounterFamily gpu_faults;
  base::CounterFamily gpu_ecc;
  base::GaugeFamily loss;
  base::GaugeFamily tokens_per_second;
  base::GaugeFamily step_seconds;
  base::GaugeFamily training_memory;
  base::CounterFamily tokens;
  base::CounterFamily trainer_cpu;
  base::GaugeFamily trainer_resident;
  base::CounterFamily steps;
  base::HistogramFamily checkpoint_write_seconds;
  base::HistogramFamily checkpoint_stall_seconds;
  base::CounterFamily checkpoint_bytes;
  base::CounterFamily checkpoint_failures;
  base::GaugeFamily checkpoint_last_time;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_METRICS_H_
