"""What runs on devices of workers, as its trainers tell it.

No metric names a job: `ordo list workers` says which one a device has.
"""

from tools.dashboards.grafana import DEVICE, WORKER, Dashboard, Panel, Row

ON = '{worker=~"$worker", device=~"$device"}'
OF = '{worker=~"$worker"}'

DASHBOARD = Dashboard(
    "run", "Ordo / Run",
    "Training on devices: loss, speed, checkpoints, memory. "
    "`ordo list workers` says which job a device has.", [
        Row("Training", [
            Panel("Loss", "nats", [
                ("ordo_worker_training_loss_nats" + ON,
                 "{{worker}} {{device}}"),
            ], "Mean training loss a token, of the newest reported step; 0 on "
                  "a device that is idle."),
            Panel("Tokens", "tokens/s", [
                ("ordo:training_tokens:rate5m" + ON, "{{worker}} {{device}}"),
            ], "Tokens that were trained on, over five minutes.",
                  runbook="gpu_idle"),
            Panel("Time of a step", "seconds", [
                ("ordo_worker_training_step_seconds" + ON,
                 "{{worker}} {{device}}"),
            ], "Of the newest reported steps; 0 on a device that is idle."),
            Panel("Steps", "per second", [
                ("ordo:training_steps:rate5m" + ON, "{{worker}} {{device}}"),
            ], "Optimizer steps, over five minutes.",
                  runbook="trainers_hang"),
            Panel("Tokens, as reported", "tokens/s", [
                ("ordo_scheduler_training_rate_tokens_per_second" + ON,
                 "{{worker}} {{device}}"),
            ], "Of the newest reported steps, as the scheduler knows it; 0 on "
                  "a device that is idle."),
            Panel("Attempts that run", "count", [
                ("ordo_worker_running_attempts" + OF, "{{worker}}"),
            ], "Attempts that have a supervisor and are not over.",
                  stacked=True),
        ]),
        Row("Checkpoints", [
            Panel("Age of the newest durable checkpoint", "seconds", [
                ("ordo_scheduler_checkpoint_age_seconds" + ON,
                 "{{worker}} {{device}}"),
            ], "What would be done again if the device failed now; 0 on one "
                  "that is idle.", runbook="checkpoint_too_old", limit=7200),
            Panel("Time until a checkpoint is durable", "seconds", [
                ("ordo:checkpoint_write_seconds:p99_30m", "99 of 100"),
            ], "Of all runs, over half an hour.", runbook="checkpoints_slow",
                  limit=120, log=True),
            Panel("Time that training stands still", "seconds", [
                ("ordo:checkpoint_stall_seconds:p99_30m", "99 of 100"),
            ], "At a checkpoint, of all runs, over half an hour.",
                  runbook="checkpoints_stall", limit=30, log=True),
            Panel("Checkpoints written", "bytes/s", [
                ("sum by (worker) (rate("
                 "ordo_worker_checkpoint_written_bytes_total" + OF +
                 "[$__rate_interval]))", "{{worker}}"),
            ], "Bytes of checkpoints that became durable."),
            Panel("Checkpoints that failed", "count", [
                ("increase(ordo_worker_checkpoint_failures_total" + OF +
                 "[1h])", "{{worker}}"),
            ], "That storage did not take, in the last hour.",
                  runbook="checkpoints_fail", limit=1),
            Panel("Since a checkpoint on the device", "seconds", [
                ("time() - (ordo_worker_checkpoint_last_timestamp_seconds" +
                 ON + " > 0)", "{{worker}} {{device}}"),
            ], "Whichever run wrote it.", runbook="checkpoint_too_old"),
        ]),
        Row("Processes", [
            Panel("Processors of trainers", "cores", [
                ("sum by (worker, device) (rate("
                 "ordo_worker_trainer_cpu_seconds_total" + ON +
                 "[$__rate_interval]))", "{{worker}} {{device}}"),
            ], "Cores that trainers keep busy."),
            Panel("Main memory of trainers", "bytes", [
                ("ordo_worker_trainer_resident_bytes" + ON,
                 "{{worker}} {{device}}"),
            ], "0 on a device that is idle.", stacked=True),
            Panel("Most memory of the attempt", "bytes", [
                ("ordo_worker_training_peak_memory_bytes" + ON,
                 "{{worker}} {{device}}"),
            ], "Of a GPU what tensors took, on a CPU resident main memory."),
            Panel("Time to start a trainer", "seconds", [
                ("ordo:start_seconds:p99_5m" + OF, "{{worker}}"),
            ], "From the scheduler's word to the trainer's start, 99 of 100.",
                  log=True),
            Panel("How attempts end", "per hour", [
                ("3600 * sum by (cause) (rate("
                 "ordo_worker_attempts_ended_total" + OF +
                 "[$__rate_interval]))", "{{cause}}"),
            ], "By what ended them: `exit` is the trainer itself.",
                  runbook="attempts_fail"),
            Panel("Orphans and lost output", "count", [
                ("increase(ordo_worker_orphans_reaped_total" + OF + "[1h])",
                 "{{worker}} orphans"),
                ("increase(ordo_worker_log_bytes_dropped_total" + OF + "[1h])",
                 "{{worker}} bytes of output"),
            ], "In the last hour: processes that outlived their supervisor, "
                  "and output that was not stored. Both should be 0.",
                  runbook="orphans_reaped", limit=1),
        ]),
    ], [WORKER, DEVICE])
