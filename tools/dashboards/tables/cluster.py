"""What there is, what it does, and what is wrong."""

from tools.dashboards.grafana import Dashboard, Panel, Row

DASHBOARD = Dashboard(
    "cluster", "Ordo / Cluster",
    "Workers, devices and jobs of the deployment, and what was lost.", [
        Row("Now", [
            Panel("Alerts", "count", [
                ('count(ALERTS{alertname=~"Ordo.+", alertstate="firing"})'
                 " or vector(0)", "alerts"),
            ], "Alerts of Ordo that fire.", kind="stat", limit=1),
            Panel("Workers that are there", "count", [
                ('sum(ordo_scheduler_state_workers{state="ONLINE"})',
                 "workers"),
            ], "Workers that announce themselves, and do not drain.",
                  kind="stat", runbook="no_workers", limit=1, below=True),
            Panel("Devices in use", "share", [
                ('sum(ordo:devices:sum{state="held"}) / sum(ordo:devices:sum)',
                 "held"),
            ], "Part of all devices that jobs hold.", kind="stat"),
            Panel("Jobs that run", "count", [
                ('sum(ordo_scheduler_state_jobs{state=~"STARTING|RUNNING"})',
                 "jobs"),
            ], "Jobs with an attempt.", kind="stat"),
            Panel("Jobs that wait", "count", [
                ("sum(ordo_scheduler_queue_depth_jobs)", "jobs"),
            ], "Jobs that are queued, whatever for.", kind="stat"),
            Panel("Devices in quarantine", "devices", [
                ("sum(ordo_scheduler_quarantined_devices)", "devices"),
            ], "Devices that failed, until a person releases them.",
                  kind="stat", runbook="device_quarantined", limit=1),
        ]),
        Row("Devices", [
            Panel("Devices by state", "devices", [
                ("ordo:devices:sum", "{{kind}} {{state}}"),
            ], "Held by a job, free, or why neither: lost, in quarantine, "
                  "withheld by the worker, closed by a person.", stacked=True,
                  runbook="devices_withheld"),
            Panel("Devices in use, by kind", "share", [
                ("ordo:devices_held:ratio", "{{kind}}"),
            ], "Part of the devices of a kind that jobs hold."),
            Panel("Workers by state", "count", [
                ("ordo_scheduler_state_workers", "{{state}}"),
            ], "ONLINE, DRAINING, or LOST: closed, or with a device in "
                  "quarantine, and not there.", stacked=True,
                  runbook="worker_lost"),
        ]),
        Row("Jobs", [
            Panel("Live jobs by state", "count", [
                ("ordo_scheduler_state_jobs"
                 '{state!~"SUCCEEDED|FAILED|CANCELLED"}', "{{state}}"),
            ], "Jobs that have not ended.", stacked=True),
            Panel("Live jobs by reason", "count", [
                ("ordo_scheduler_reason_jobs", "{{reason}}"),
            ], "Why a job is in its state: what it waits for, or that it runs.",
                  stacked=True, runbook="jobs_wait_beside_free_devices"),
            Panel("Jobs that ended", "per hour", [
                ("3600 * sum by (state) "
                 "(rate(ordo_scheduler_ended_jobs_total[$__rate_interval]))",
                 "{{state}}"),
            ], "Jobs that ended in an hour, by how."),
            Panel("Attempts that ended", "per hour", [
                ("3600 * ordo:attempts_ended:rate5m", "{{reason}}"),
            ], "Starts of jobs that ended in an hour, by reason.",
                  runbook="attempts_fail"),
            Panel("Time to the first step", "seconds", [
                ("ordo:first_step_seconds:p50_1h", "half of the jobs"),
                ("ordo:first_step_seconds:p90_1h", "nine of ten"),
            ], "From a job's submission to its first step, over an hour.",
                  runbook="first_step_late", limit=1800, log=True),
            Panel("Attempts that failed", "share", [
                ("ordo:attempts_failed:ratio_15m", "failed"),
            ], "Part of the attempts that ended in 15 minutes.",
                  runbook="attempts_fail", limit=0.5),
        ]),
        Row("Time of devices", [
            Panel("Devices at work", "devices", [
                ("ordo:device_seconds:rate5m", "{{use}}"),
            ], "Devices that attempts held, by what they did; `start` is the "
                  "time until the trainer's first report.", stacked=True),
            Panel("Device time lost", "seconds", [
                ("ordo:device_seconds_lost:increase1h", "{{reason}}"),
            ], "In the last hour: since the last checkpoint of attempts that "
                  "did not end well, by cause.", stacked=True,
                  runbook="device_time_lost"),
            Panel("Device time lost, of all", "share", [
                ("ordo:device_seconds_lost:ratio_1h", "lost"),
            ], "Part of the time of devices in the last hour that was lost.",
                  runbook="device_time_lost", limit=0.1),
            Panel("Steps lost", "count", [
                ("sum by (reason) "
                 "(increase(ordo_scheduler_lost_steps_total[1h]))",
                 "{{reason}}"),
            ], "Steps that are done again, in the last hour, by cause.",
                  stacked=True, runbook="device_time_lost"),
            Panel("Workers that were lost", "count", [
                ("sum(increase(ordo_scheduler_lost_workers_total[1h]))",
                 "workers"),
            ], "Workers that were silent for longer than their lease, in the "
                  "last hour.", runbook="worker_lost", limit=1),
            Panel("Devices that came into quarantine", "devices", [
                ("sum by (cause) "
                 "(increase(ordo_scheduler_device_quarantines_total[1h]))",
                 "{{cause}}"),
            ], "In the last hour: by failures of attempts, or by what their "
                  "driver said.", runbook="device_quarantined", limit=1),
        ]),
        Row("Storage", [
            Panel("Room that is left", "bytes", [
                ("ordo_worker_free_bytes", "{{worker}} {{place}}"),
            ], "On the shared storage root, and where workers keep their "
                  "state.", runbook="storage_low", log=True),
            Panel("Checkpoints written", "bytes/s", [
                ("sum(rate(ordo_scheduler_checkpoint_written_bytes_total"
                 "[$__rate_interval]))", "bytes"),
            ], "Bytes of checkpoints that became durable.",
                  runbook="checkpoints_slow"),
            Panel("Checkpoints, by what became of them", "per hour", [
                ("3600 * sum by (result) (rate("
                 "ordo_scheduler_checkpoints_written_total"
                 "[$__rate_interval]))", "{{result}}"),
            ], "Checkpoints in an hour.", runbook="checkpoints_fail"),
        ]),
    ])
