"""A real Prometheus reads a real deployment, and every query finds something.

The deployment has a worker with the real trainer, which trains, evaluates and
gates, and one with a made-up GPU and a trainer that fails once and then goes on
for as long as the test. Its scheduler asks who calls. Prometheus has the very
files of deploy/prometheus, but for its intervals and ports. Then each query of
each dashboard and each rule is asked, and the dashboards are drawn from what it
has.
"""

import os
import shutil
import tempfile
import time
import unittest

from tests.watch.deployment import Deployment, program, read, wait_for
from tests.watch.prometheus_server import health, start_prometheus
from tools.dashboards import pictures, queries
from tools.dashboards.prometheus import PrometheusError

# Queries without an answer here, and why that is as it should be. One that is
# not asked any more, or has an answer, fails the test.
_CALLS = "ordo_scheduler_rpc_requests_total"
_CODE = "the series of a code begins with its first answer, and nothing here "
_NO_TLS = "here is no TLS; tls_test.py has it"
EMPTY = {
    _CALLS + '{code=~"UNKNOWN|DEADLINE_EXCEEDED|INTERNAL|UNAVAILABLE|'
    'DATA_LOSS"}': _CODE + "was the service's fault",
    "ordo_scheduler_certificate_expiry_timestamp_seconds": _NO_TLS,
    "ordo_scheduler_certificate_expiry_timestamp_seconds - time()": _NO_TLS,
    "ordo_worker_certificate_expiry_timestamp_seconds": _NO_TLS,
    "ordo_worker_certificate_expiry_timestamp_seconds - time()": _NO_TLS,
}
# What fires here: its GPU is told to have an error.
FIRING_AND_CRITICAL = ["OrdoGpuFault"]

TRAINED = """
kind: train
name: {name}
model: {{preset: tiny, layers: 1, width: 32, heads: 2}}
encoding: {{name: rope}}
data: {{task: addition, params: {{max_digits: 1}}, seed: 1}}
training: {{steps: {steps}, batch_size: 16, log_every_steps: 5}}
checkpoint: {{every_steps: 50}}
resources: {{device: cpu, threads: 1}}
"""
ON_GPU = """
kind: train
name: {name}
queue: night
model: {{preset: tiny, layers: 1, width: 16, heads: 2}}
encoding: {{name: rope}}
data: {{task: addition, params: {{max_digits: 2}}, seed: 1}}
training: {{steps: {steps}, batch_size: 4, log_every_steps: 1}}
checkpoint: {{every_steps: 20}}
resources: {{device: cuda, threads: 1}}
"""
# Seconds of which pictures are drawn.
SHOWN_S = 60


class WatchTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(
            dir=os.environ.get("TEST_TMPDIR"))
        cls.addClassCleanup(cls.folder.cleanup)
        cls.deployment = Deployment(os.path.realpath(cls.folder.name))
        cls.addClassCleanup(cls._keep_logs)
        cls.addClassCleanup(cls.deployment.end_all)
        cls._start_deployment()
        cls.prometheus = start_prometheus(cls.deployment, "files.yaml")
        # What was counted before the first look has never risen.
        health(cls.prometheus, 3)
        cls._run_jobs()
        cls._wait_for_samples()

    @classmethod
    def _keep_logs(cls):
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        for name in os.listdir(cls.deployment.folder):
            if folder and name.endswith(".log"):
                shutil.copy(cls.deployment.path(name), folder)

    @classmethod
    def _start_deployment(cls):
        it = cls.deployment
        # `ordo` shows this one.
        token = cls._make_token("admin")
        os.environ["ORDO_TOKEN_FILE"] = token
        cls.addClassCleanup(os.environ.pop, "ORDO_TOKEN_FILE")
        it.start_scheduler('auth { admin_token_file: "%s" }\n' % token +
                           "retry_backoff { nanos: 50000000 }\n"
                           "heartbeat { nanos: 200000000 }\n")
        it.start_worker("worker-1", 'devices: "cpu:0"\ntrainer: "%s"\n' %
                        program("ordo-trainer"))
        # Where the worker's dynamic linker looks first.
        os.makedirs(it.path("lib"))
        os.symlink(program("worker/agent/testing/libfake_nvml.so"),
                   it.path("lib", "libnvidia-ml.so.1"))
        cls._driver_says("")
        it.start_worker(
            "worker-2", 'devices: "cuda:3"\ntrainer: "%s"\n'
            'trainer_environment { key: "ORDO_FAKE" value: '
            '"*:step_ms=20;fails:step_ms=5,crash_at=30,once=1" }\n' %
            program("tests/fake/fake_trainer"), {
                "LD_LIBRARY_PATH": it.path("lib"),
                "ORDO_FAKE_NVML": it.path("gpus"),
            })

    @classmethod
    def _make_token(cls, name):
        """The path of a file with a secret of its own."""
        path = cls.deployment.path(name + ".token")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w",
                  encoding="utf-8") as file:
            file.write((name + "-").ljust(40, "x") + "\n")
        return path

    @classmethod
    def _driver_says(cls, event):
        """Of its one GPU; an event is told once."""
        path = cls.deployment.path("gpus")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write("3 GPU-a 1000 0 util:40 temp:60 power:90000 "
                       "corrected:3 uncorrected:0\n" + event)
        os.replace(path + ".new", path)

    @classmethod
    def _run_jobs(cls):
        it = cls.deployment
        status, said = it.ordo("queues", "create", "night", "--weight", "2",
                               "--quota", "cuda=1:1")
        assert status == 0, said
        it.submit(ON_GPU.format(name="fails", steps=60))
        # These stay: one runs, one waits for its device.
        it.submit(ON_GPU.format(name="stays", steps=1000000))
        it.submit(ON_GPU.format(name="waits", steps=1000000))
        it.submit(TRAINED.format(name="early", steps=5))
        it.submit(TRAINED.format(name="late", steps=150), "--wait")
        items = ("--task", "addition_grid", "--param", "max_digits=1",
                 "--param", "samples=200", "--set", "resources.threads=1")
        status, said = it.ordo("evaluate", "late", *items, "--set",
                               "name=scores", "--wait")
        assert status == 0, said
        status, said = it.ordo("gate", "--candidate", "early", "--baseline",
                               "late", "--margin", "0.05", "--set", "name=gate",
                               *items)
        # Whatever the verdict is.
        assert status in (0, 6, 7), said
        # An error that a GPU goes on after.
        cls._driver_says("xid 0 63\n")
        # A mistake of a caller.
        status, said = it.ordo("show", "nobody")
        assert status != 0, said
        # A login that is refused.
        status, said = it.ordo("list", "jobs", "--token-file",
                               cls._make_token("stranger"))
        assert status != 0, said
        # A limit that is met.
        status, said = it.ordo("queues", "create", "full", "--max-queued-jobs",
                               "1")
        assert status == 0, said
        it.submit("queue: full\nhold: true\n" +
                  TRAINED.format(name="fills", steps=5))
        status, said = it.ordo("submit", "-", text="queue: full\n" +
                               TRAINED.format(name="refused", steps=5))
        assert status != 0 and "max_queued_jobs" in said, said

    @classmethod
    def _wait_for_samples(cls):
        """Until all of that is known, and the rules have computed with it."""
        def has(expression):
            return any(value > 0
                       for _, value in cls.prometheus.query(expression))

        for expression in (
                "sum(ordo_scheduler_gate_verdicts_total)",
                "ordo_scheduler_lost_steps_total",
                'ordo:training_steps:rate5m{worker="worker-2"}',
                "ordo_scheduler_queue_oldest_wait_seconds",
                'ALERTS{alertname="OrdoGpuFault", alertstate="firing"}'):
            wait_for(expression, lambda wanted=expression: has(wanted))
        # One turn of the rules reads what those before it wrote.
        for _ in range(2):
            before = cls._turns()
            wait_for("a turn of the rules", lambda seen=before: all(
                turn > seen[name] for name, turn in cls._turns().items()))

    @classmethod
    def _turns(cls):
        """When each rule was last looked at, as text that sorts."""
        return {rule["name"]: rule["lastEvaluation"] for rule in cls._rules()}

    @classmethod
    def _rules(cls):
        return [rule for group in cls.prometheus.get("rules")["groups"]
                for rule in group["rules"]]

    def _dashboards(self):
        return pictures.read_dashboards("deploy/grafana/dashboards")

    def _asked(self):
        """(what asks it, the query) of everything that must have an answer."""
        asked = []
        for name, dashboard in self._dashboards().items():
            for panel in queries.panels(dashboard):
                asked += [("%s: %s" % (name, panel["title"]), expression)
                          for expression, _ in queries.of_panel(panel)]
            asked += [(name, queries.expand(annotation["expr"]))
                      for annotation in dashboard["annotations"]["list"]]
        for rule in self._rules():
            if rule["type"] == "recording":
                asked.append((rule["name"], rule["name"]))
            # An alert that is quiet finds nothing; but it reads something.
            asked += [(rule["name"], selector)
                      for selector in queries.selectors(rule["query"])]
        return asked

    def test_all_pages_are_read(self):
        self.assertEqual(health(self.prometheus, 3),
                         [("ordo-scheduler", "", "up", ""),
                          ("ordo-worker", "worker-1", "up", ""),
                          ("ordo-worker", "worker-2", "up", "")])

    def test_all_queries_are_answered(self):
        failures = []
        empty = set()
        for who, expression in self._asked():
            try:
                answer = self.prometheus.query(expression)
                if not answer:
                    # A moment ago, as a picture shows it.
                    now = time.time()
                    answer = self.prometheus.query_range(expression, now - 20,
                                                         now, 1)
            except PrometheusError as error:
                failures.append("%s: %s: %s" % (who, expression, error))
                continue
            if not answer:
                empty.add(expression)
                if expression not in EMPTY:
                    failures.append("%s: %s: no answer" % (who, expression))
        failures += ["EMPTY: %s has an answer, or is not asked" % expression
                     for expression in EMPTY.keys() - empty]
        self.assertFalse(failures, "\n".join(failures))

    def test_what_is_counted_is_what_happened(self):
        def value(expression):
            answer = self.prometheus.query(expression)
            self.assertEqual(len(answer), 1, expression)
            return answer[0][1]

        self.assertEqual(
            value('ordo_scheduler_ended_attempts_total{reason="TRAINER_KILLED"}'
                 ), 1)
        self.assertGreater(value("sum(ordo_scheduler_lost_steps_total)"), 0)
        self.assertEqual(value("sum(ordo_scheduler_gate_verdicts_total)"), 1)
        self.assertEqual(value("ordo:scheduler_rpc_errors:ratio_rate5m"), 0)
        self.assertEqual(value('ordo_scheduler_queue_held_devices'
                               '{queue="night", kind="cuda"}'), 1)
        self.assertGreater(value("ordo:first_step_seconds:p50_1h"), 0)
        self.assertGreater(value('ordo:devices_held:ratio{kind="cuda"}'), 0)

    def test_variables_have_values(self):
        for name, dashboard in self._dashboards().items():
            for label, selector in queries.of_variables(dashboard):
                values = self.prometheus.label_values(label, selector)
                self.assertTrue(values, "%s: %s" % (name, selector))

    def test_rules_have_no_errors_and_what_should_fire_does(self):
        for rule in self._rules():
            self.assertEqual((rule["health"], rule.get("lastError", "")),
                             ("ok", ""), rule["name"])
        alerts = self.prometheus.get("alerts")["alerts"]
        self.assertEqual(
            sorted(alert["labels"]["alertname"] for alert in alerts
                   if alert["state"] == "firing" and
                   alert["labels"]["severity"] == "critical"),
            FIRING_AND_CRITICAL)

    def test_dashboards_are_drawn(self):
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR",
                                self.deployment.path("pictures"))
        os.makedirs(folder, exist_ok=True)
        dashboards = self._dashboards()
        pictures.draw_all(self.prometheus, dashboards, folder, SHOWN_S)
        for name, dashboard in dashboards.items():
            path = os.path.join(folder, "dashboard-" + name.replace("_", "-"))
            svg = read(path + ".svg")
            empty = [panel for panel in queries.panels(dashboard)
                     if all(expression in EMPTY
                            for expression, _ in queries.of_panel(panel))]
            self.assertEqual(svg.count("no data"), len(empty), name)
            self.assertIn("</svg>", svg, name)


if __name__ == "__main__":
    unittest.main()
