"""What is found of checkpoints: evaluations and gates."""

from tools.dashboards.grafana import Dashboard, Panel, Row

DASHBOARD = Dashboard(
    "evaluation", "Ordo / Evaluation and gates",
    "Scores and verdicts, and how long they take.", [
        Row("Now", [
            Panel("Gates that passed", "count", [
                ("round(sum(increase(ordo_scheduler_gate_verdicts_total"
                 '{verdict="pass"}[$__range])))', "gates"),
            ], "In the time that is shown.", kind="stat"),
            Panel("Gates that failed", "count", [
                ("round(sum(increase(ordo_scheduler_gate_verdicts_total"
                 '{verdict="fail"}[$__range])))', "gates"),
            ], "In the time that is shown.", kind="stat",
                  runbook="gates_fail", limit=1),
            Panel("Gates without a verdict", "count", [
                ("round(sum(increase(ordo_scheduler_gate_verdicts_total"
                 '{verdict="inconclusive"}[$__range])))', "gates"),
            ], "Too few items to tell, in the time that is shown.",
                  kind="stat", runbook="gates_fail", limit=1),
            Panel("Results computed", "count", [
                ("round(sum(increase("
                 "ordo_scheduler_evaluations_registered_total"
                 '{source="computed"}[$__range])))', "results"),
            ], "In the time that is shown.", kind="stat"),
            Panel("Results taken", "share", [
                ("sum(increase(ordo_scheduler_evaluations_registered_total"
                 '{source="taken"}[$__range])) / '
                 "sum(increase(ordo_scheduler_evaluations_registered_total"
                 "[$__range]))", "taken"),
            ], "Part of the results that another job had already.",
                  kind="stat"),
            Panel("Devices that evaluate", "devices", [
                ('sum(ordo:device_seconds:rate5m{use="evaluate"})',
                 "devices"),
            ], "Over five minutes.", kind="stat"),
        ]),
        Row("Verdicts", [
            Panel("Gates by verdict", "per hour", [
                ("3600 * sum by (verdict) (rate("
                 "ordo_scheduler_gate_verdicts_total[$__rate_interval]))",
                 "{{verdict}}"),
            ], "Gates that were decided in an hour.", stacked=True,
                  runbook="gates_fail"),
            Panel("From checkpoint to result, half of them", "seconds", [
                ("ordo:verdict_seconds:p50_6h", "{{kind}}"),
            ], "Over six hours.", runbook="verdicts_late", log=True),
            Panel("From checkpoint to result, nine of ten", "seconds", [
                ("ordo:verdict_seconds:p90_6h", "{{kind}}"),
            ], "Over six hours.", runbook="verdicts_late", limit=7200,
                  log=True),
        ]),
        Row("Evaluations", [
            Panel("Results, computed and taken", "per hour", [
                ("3600 * sum by (source) (rate("
                 "ordo_scheduler_evaluations_registered_total"
                 "[$__rate_interval]))", "{{source}}"),
            ], "Taken ones were answered by another job's.", stacked=True),
            Panel("Reports", "per hour", [
                ("3600 * sum by (result) (rate("
                 "ordo_scheduler_reports_written_total[$__rate_interval]))",
                 "{{result}}"),
            ], "Refused ones came from attempts that were over."),
            Panel("Time of devices, by use", "devices", [
                ("ordo:device_seconds:rate5m", "{{use}}"),
            ], "Devices that train, evaluate, start and so on.", stacked=True),
        ]),
    ])
