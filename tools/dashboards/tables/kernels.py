"""Devices: their kernels, and what drivers say of GPUs."""

from tools.dashboards.grafana import WORKER, Dashboard, Panel, Row, Variable

DEVICE = Variable("device", 'ordo_worker_wrong_kernels{worker=~"$worker"}')
ON = '{worker=~"$worker", device=~"$device"}'
OF = '{worker=~"$worker"}'

DASHBOARD = Dashboard(
    "kernels", "Ordo / Kernels and devices",
    "Which kernels are right, how fast devices are, and how GPUs do.", [
        Row("Kernels", [
            Panel("Wrong kernels", "count", [
                ("ordo_worker_wrong_kernels" + ON, "{{worker}} {{device}}"),
            ], "Kernels that differ from the judge by more than rounding, and "
                  "are left out there.", runbook="kernel_wrong", limit=1),
            Panel("Probes", "per hour", [
                ("3600 * sum by (worker, result) (rate("
                 "ordo_worker_kernel_probes_total" + OF +
                 "[$__rate_interval]))", "{{worker}} {{result}}"),
            ], "Runs of all kernels beside the judge: all right, some wrong, "
                  "or no report.", runbook="kernel_probe_fails"),
            Panel("Devices withheld", "devices", [
                ("ordo_worker_withheld_devices" + OF, "{{worker}}"),
            ], "Probed, in use by others, or not answered for by their driver.",
                  runbook="devices_withheld", limit=1),
        ]),
        Row("Speed", [
            Panel("Time of a training step", "seconds", [
                ("ordo_worker_training_step_seconds" + ON,
                 "{{worker}} {{device}}"),
            ], "Of the newest reported steps. A device that is slower than its "
                  "like under the same job has a slower kernel or is hot.",
                  runbook="kernel_wrong"),
            Panel("Tokens", "tokens/s", [
                ("ordo_worker_training_rate_tokens_per_second" + ON,
                 "{{worker}} {{device}}"),
            ], "Of the newest reported step.", runbook="gpu_idle"),
            Panel("Devices that measure kernels", "devices", [
                ('ordo:device_seconds:rate5m{use="benchmark"}', "devices"),
            ], "Jobs of kind BENCHMARK, over five minutes."),
        ]),
        Row("GPUs", [
            Panel("Use", "share", [
                ("ordo_worker_gpu_utilization_ratio" + ON,
                 "{{worker}} {{device}}"),
            ], "Part of the time in which the GPU computed.",
                  runbook="gpu_idle", limit=0.05, below=True),
            Panel("Memory in use", "share", [
                ("ordo_worker_gpu_memory_used_bytes" + ON +
                 " / (ordo_worker_gpu_memory_used_bytes" + ON +
                 " + ordo_worker_gpu_memory_free_bytes" + ON + ")",
                 "{{worker}} {{device}}"),
            ], "Of all its memory."),
            Panel("Temperature", "celsius", [
                ("ordo_worker_gpu_temperature_celsius" + ON,
                 "{{worker}} {{device}}"),
            ], "It slows down at about 90 °C.", runbook="gpu_hot", limit=88),
            Panel("Power", "watts", [
                ("ordo_worker_gpu_power_watts" + ON, "{{worker}} {{device}}"),
            ], "What the GPU draws."),
            Panel("Errors of memory", "count", [
                ("increase(ordo_worker_gpu_ecc_errors_total" + ON + "[1h])",
                 "{{worker}} {{device}} {{kind}}"),
            ], "In the last hour, corrected or not.",
                  runbook="gpu_memory_errors", limit=1),
            Panel("Faults", "count", [
                ("ordo_worker_gpu_faults_total" + ON,
                 "{{worker}} {{device}} {{code}}"),
            ], "Errors of the GPU itself since the worker began, by code.",
                  runbook="gpu_fault", limit=1),
        ]),
    ], [WORKER, DEVICE])
