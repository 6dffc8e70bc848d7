"""The scheduler, its store, its calls, and the workers' own processes."""

from tools.dashboards.grafana import Dashboard, Panel, Row


def both(metric, legend):
    """The metric of the scheduler and of workers."""
    return [("ordo_scheduler_" + metric, "scheduler" + legend),
            ("ordo_worker_" + metric, "{{worker}}" + legend)]


DASHBOARD = Dashboard(
    "control_plane", "Ordo / Control plane",
    "Whether the service itself is well.", [
        Row("Now", [
            Panel("Scheduler", "count", [
                ('sum(up{job="ordo-scheduler"})', "up"),
            ], "1 while its metrics page can be read.", kind="stat",
                  runbook="scheduler_down", limit=1, below=True),
            Panel("Workers", "count", [
                ('sum(up{job="ordo-worker"})', "up"),
            ], "Those whose metrics page can be read.", kind="stat",
                  runbook="worker_down", limit=1, below=True),
            Panel("Releases of the protocol", "count", [
                ("count(count by (protocol) (ordo_scheduler_build_info or "
                 "ordo_worker_build_info))", "releases"),
            ], "More than one during an upgrade.", kind="stat",
                  runbook="protocols_differ", limit=2),
            Panel("Errors", "share", [
                ("ordo:scheduler_rpc_errors:ratio_rate5m", "errors"),
            ], "Of all answers those that say that the service is at fault.",
                  kind="stat", runbook="rpc_errors", limit=0.02),
            Panel("Room for the store", "bytes", [
                ("ordo_scheduler_store_free_bytes", "free"),
            ], "On the disk of the store.", kind="stat", runbook="store_low",
                  limit=2 * 2**30, below=True),
            Panel("Damaged records", "count", [
                ("ordo_scheduler_damaged_records_total", "records"),
            ], "Since the scheduler began.", kind="stat",
                  runbook="store_damaged", limit=1),
        ]),
        Row("Calls", [
            Panel("Calls by method", "per second", [
                ("sum by (method) (rate("
                 "ordo_scheduler_rpc_requests_total[$__rate_interval]))",
                 "{{method}}"),
            ], "Calls that were answered, by method.", stacked=True,
                  runbook="rpc_errors"),
            Panel("Calls by answer", "per second", [
                ("sum by (code) (rate("
                 "ordo_scheduler_rpc_requests_total[$__rate_interval]))",
                 "{{code}}"),
            ], "UNAVAILABLE, INTERNAL, UNKNOWN, DEADLINE_EXCEEDED, DATA_LOSS: "
                  "the service's fault. CANCELLED: a caller that left.",
                  runbook="rpc_errors", log=True),
            Panel("Time of calls, 99 of 100", "seconds", [
                ("ordo:scheduler_rpc_latency_seconds:p99_5m", "{{method}}"),
            ], "Of unary calls, over five minutes.", runbook="rpc_slow",
                  limit=1, log=True),
            Panel("Time of calls, half of them", "seconds", [
                ("ordo:scheduler_rpc_latency_seconds:p50_5m", "{{method}}"),
            ], "Of unary calls, over five minutes.", runbook="rpc_slow",
                  log=True),
            Panel("Messages to workers", "per second", [
                ("sum by (result) (rate("
                 "ordo_scheduler_dispatch_calls_total[$__rate_interval]))",
                 "{{result}}"),
            ], "Desired sets, by result.", runbook="dispatch_fails"),
            Panel("Announcements that failed", "per hour", [
                ("3600 * rate("
                 "ordo_worker_announce_failures_total[$__rate_interval])",
                 "{{worker}}"),
            ], "That the scheduler did not answer.",
                  runbook="worker_cannot_announce"),
        ]),
        Row("Store", [
            Panel("Time of a commit", "seconds", [
                ("ordo:store_commit_seconds:p50_5m", "half"),
                ("ordo:store_commit_seconds:p99_5m", "99 of 100"),
            ], "One transaction of the store, over five minutes.",
                  runbook="store_slow", limit=0.25, log=True),
            Panel("Records written", "per second", [
                ("rate(ordo_scheduler_commit_records_total"
                 "[$__rate_interval])", "records"),
            ], "Records in all transactions.", runbook="store_slow"),
            Panel("Jobs that wait for a commit", "count", [
                ("ordo_scheduler_commit_waiting_jobs", "jobs"),
            ], "Calls are refused at 100 000.", runbook="store_backlog",
                  limit=50000),
            Panel("Size", "bytes", [
                ("ordo_scheduler_store_size_bytes", "{{file}}"),
            ], "The database, and the log of changes that are not in it yet.",
                  runbook="store_log_grows", limit=2**30, log=True),
            Panel("Times that the disk was full", "count", [
                ("increase(ordo_scheduler_full_disks_total[1h])", "times"),
            ], "In the last hour.", runbook="store_full", limit=1),
            Panel("Removals that failed", "count", [
                ("increase(ordo_scheduler_checkpoint_removal_errors_total[1h])",
                 "files and folders"),
            ], "Of checkpoints that nobody keeps, in the last hour.",
                  runbook="checkpoint_removal_fails", limit=1),
        ]),
        Row("Processes", [
            Panel("Lateness of the scheduler", "seconds", [
                ("ordo:scheduler_timer_delay_seconds:p99_5m", "99 of 100"),
            ], "How late it came to what was due.", runbook="scheduler_behind",
                  limit=0.5, log=True),
            Panel("A turn of a worker", "seconds", [
                ("ordo:worker_turn_seconds:p99_5m", "{{worker}}"),
            ], "What comes in meanwhile waits so long; 99 of 100.",
                  runbook="worker_behind", limit=1, log=True),
            Panel("Processors", "cores", [
                ("rate(ordo_scheduler_process_cpu_seconds_total"
                 "[$__rate_interval])", "scheduler"),
                ("rate(ordo_worker_process_cpu_seconds_total"
                 "[$__rate_interval])", "{{worker}}"),
            ], "Cores that the programs keep busy; trainers are not among "
                  "them."),
            Panel("Main memory", "bytes",
                  both("process_resident_bytes", ""),
                  "What the programs have; trainers are not among them."),
            Panel("Open files", "share", [
                ("ordo_scheduler_process_open_files / "
                 "ordo_scheduler_process_open_files_limit", "scheduler"),
                ("ordo_worker_process_open_files / "
                 "ordo_worker_process_open_files_limit", "{{worker}}"),
            ], "Of those that may be open.", runbook="open_files", limit=0.8),
            Panel("Threads", "count", both("process_threads", ""),
                  "Of the programs."),
            Panel("Lines of logs", "per second", [
                ("sum by (level) (rate("
                 "ordo_scheduler_log_lines_total[$__rate_interval]))",
                 "scheduler {{level}}"),
                ("sum by (level) (rate("
                 "ordo_worker_log_lines_total[$__rate_interval]))",
                 "workers {{level}}"),
            ], "An error is what somebody has to look at.",
                  runbook="errors_logged"),
            Panel("Up since", "seconds", [
                ("time() - ordo_scheduler_process_start_timestamp_seconds",
                 "scheduler"),
                ("time() - ordo_worker_process_start_timestamp_seconds",
                 "{{worker}}"),
            ], "A line that falls to 0 again and again is a program that ends "
                  "again and again.", runbook="scheduler_restarts"),
            Panel("Certificates hold for", "seconds", [
                ("ordo_scheduler_certificate_expiry_timestamp_seconds - time()",
                 "scheduler {{file}}"),
                ("ordo_worker_certificate_expiry_timestamp_seconds - time()",
                 "{{worker}} {{file}}"),
            ], "By the field of `tls` that names the file; none without TLS.",
                  runbook="certificate_expires", limit=7 * 86400, below=True),
            Panel("Clocks", "seconds", [
                ("abs(ordo_scheduler_process_clock_timestamp_seconds - "
                 "timestamp(ordo_scheduler_process_clock_timestamp_seconds))",
                 "scheduler"),
                ("abs(ordo_worker_process_clock_timestamp_seconds - "
                 "timestamp(ordo_worker_process_clock_timestamp_seconds))",
                 "{{worker}}"),
            ], "How far they are away from that of Prometheus.",
                  runbook="clock_wrong", limit=5),
            Panel("Attempts that were over and ran", "count", [
                ("increase(ordo_scheduler_stale_attempts_total[1h])",
                 "attempts"),
            ], "In the last hour: a worker was away while its job went on "
                  "elsewhere. They are stopped.", runbook="worker_lost"),
        ]),
    ])
