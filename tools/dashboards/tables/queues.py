"""Who waits, who has how much, and whether that is what was meant."""

from tools.dashboards.grafana import QUEUE, Dashboard, Panel, Row

DASHBOARD = Dashboard(
    "queues", "Ordo / Queues",
    "Waiting, quotas and fair shares, by queue.", [
        Row("Waiting", [
            Panel("Jobs that wait", "count", [
                ('ordo_scheduler_queue_depth_jobs{queue=~"$queue"}',
                 "{{queue}}"),
            ], "Jobs that are queued, whatever for.", stacked=True),
            Panel("Longest wait for devices", "seconds", [
                ('ordo_scheduler_queue_oldest_wait_seconds{queue=~"$queue"}',
                 "{{queue}}"),
            ], "How long the job has waited that waits longest; 0 when none "
                  "waits for devices.", runbook="queue_waits_long",
                  limit=86400),
            Panel("Wait until an attempt began", "seconds", [
                ('ordo:queue_wait_seconds:p90_1h{queue=~"$queue"}',
                 "{{queue}}"),
            ], "Nine of ten jobs waited for less, in the last hour.",
                  runbook="first_step_late", log=True),
            Panel("Why jobs wait", "count", [
                ('ordo_scheduler_reason_jobs{reason=~"WAITING_.+|BACKOFF|'
                 'HELD"}', "{{reason}}"),
            ], "Of all queues: for devices, needs, checkpoints or results, "
                  "for the end of a backoff, or for a person.", stacked=True,
                  runbook="jobs_wait_beside_free_devices"),
            Panel("Free devices", "devices", [
                ('ordo:devices:sum{state="free"}', "{{kind}}"),
            ], "Devices that nobody holds, by kind.",
                  runbook="jobs_wait_beside_free_devices"),
            Panel("Jobs that hold devices", "count", [
                ('ordo_scheduler_queue_active_jobs{queue=~"$queue"}',
                 "{{queue}}"),
            ], "Jobs with an attempt.", stacked=True),
        ]),
        Row("Quotas", [
            Panel("Devices held", "devices", [
                ('ordo_scheduler_queue_held_devices{queue=~"$queue"}',
                 "{{queue}} {{kind}}"),
            ], "What the jobs of a queue hold.", stacked=True,
                  runbook="queue_over_quota"),
            Panel("Held, of what is guaranteed", "share", [
                ('ordo_scheduler_queue_held_devices{queue=~"$queue"}'
                 " / (ordo_scheduler_queue_guaranteed_devices > 0)",
                 "{{queue}} {{kind}}"),
            ], "Below 1 while jobs of the queue wait, others have what is "
                  "its; above 1 it borrows.",
                  runbook="queue_below_guarantee"),
            Panel("Held, of what is permitted", "share", [
                ('ordo_scheduler_queue_held_devices{queue=~"$queue"}'
                 " / (ordo_scheduler_queue_limit_devices > 0)",
                 "{{queue}} {{kind}}"),
            ], "Above 1 only after a limit became smaller.",
                  runbook="queue_over_quota", limit=1),
        ]),
        Row("Fair shares", [
            Panel("Used lately", "seconds", [
                ('ordo_scheduler_queue_usage_device_seconds{queue=~"$queue"}',
                 "{{queue}} {{kind}}"),
            ], "Device time as the fair share counts it: it decays by half in "
                  "each half-life."),
            Panel("Used lately, beside its weight", "seconds", [
                ('ordo_scheduler_queue_usage_device_seconds{queue=~"$queue"}'
                 " / on (queue) group_left ordo_scheduler_queue_weight_ratio",
                 "{{queue}} {{kind}}"),
            ], "The queue with the least is next. Lines that stay apart while "
                  "jobs wait are not fair."),
            Panel("Weights", "count", [
                ('ordo_scheduler_queue_weight_ratio{queue=~"$queue"}',
                 "{{queue}}"),
            ], "A queue's part is its weight beside those of the others."),
        ]),
    ], [QUEUE])
