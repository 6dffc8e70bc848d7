"""Prometheus's files as promtool reads them, and what their tests cover."""

import glob
import json
import re
import subprocess
import tempfile
import unittest

HERE = "deploy/prometheus"
PROMTOOL = "/usr/bin/promtool"
# Rule tests compute for hours of samples: ten seconds alone.
TIMEOUT_S = 200


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def promtool(*arguments):
    """(exit status, what it printed)."""
    done = subprocess.run([PROMTOOL, *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False,
                          timeout=TIMEOUT_S)
    return done.returncode, done.stdout


def alerts():
    """Name -> its lines, of all alerts."""
    found = {}
    for path in sorted(glob.glob(HERE + "/rules/*.yaml")):
        for text in re.split(r"\n      - (?=alert: )", read(path))[1:]:
            found[text.split()[1]] = text
    return found


def looks():
    """Name -> {True: seen firing, False: seen quiet}, of all tests."""
    found = {}
    for path in glob.glob(HERE + "/tests/*_test.yaml"):
        for text in re.split(r"\n      - (?=alertname: )", read(path))[1:]:
            fires = "exp_alerts: []" not in text
            found.setdefault(text.split()[1], set()).add(fires)
    return found


class RulesTest(unittest.TestCase):

    def test_promtool_finds_no_fault(self):
        status, said = promtool("check", "rules", "--lint=all", "--lint-fatal",
                                *sorted(glob.glob(HERE + "/rules/*.yaml")))
        self.assertEqual(status, 0, said)

    def test_rules_compute_and_fire_as_they_should(self):
        status, said = promtool("test", "rules",
                                *sorted(glob.glob(HERE + "/tests/*.yaml")))
        self.assertEqual(status, 0, said)

    def test_each_alert_is_seen_firing_and_seen_quiet(self):
        self.assertEqual(
            looks(), {name: {True, False} for name in alerts()})

    def test_each_alert_says_how_bad_it_is_and_what_to_do(self):
        self.assertGreater(len(alerts()), 40)
        for name, text in alerts().items():
            with self.subTest(name):
                self.assertRegex(
                    text, r"labels: \{severity: (critical|warning)\}\n")
                for field in ("summary", "description"):
                    self.assertIn("\n          %s: " % field, text)
                page = re.sub(r"(?<=[a-z])(?=[A-Z])", "_",
                              name[len("Ordo"):]).lower()
                self.assertIn(
                    "{{ $externalLabels.docs }}/runbooks/%s.html" % page, text)


class ScrapeConfigurationTest(unittest.TestCase):

    def test_promtool_reads_what_this_prometheus_supports(self):
        for name in ("files.yaml", "files_tls.yaml"):
            # Certificates are where the deployment has them.
            status, said = promtool("check", "config", "--syntax-only",
                                    HERE + "/" + name)
            self.assertEqual(status, 0, said)
        status, said = promtool("check", "config", HERE + "/files.yaml")
        self.assertEqual(status, 0, said)
        self.assertIn("7 rule files found", said)

    def test_variants_with_tls_differ_by_that_alone(self):
        for name in ("files", "kubernetes"):
            guarded = read("%s/%s_tls.yaml" % (HERE, name))
            open_text = read("%s/%s.yaml" % (HERE, name))
            without = re.sub(
                r"    scheme: https\n    tls_config:\n"
                r"(?:      (?:\w+_file|server_name|#).*\n)*", "", guarded)
            self.assertEqual(guarded.count("scheme: https"),
                             guarded.count("job_name"))
            self.assertEqual(self._code(without), self._code(open_text))

    def _code(self, text):
        return [line for line in text.splitlines()
                if line and not line.lstrip().startswith("#")]

    def _labels_in_kubernetes(self, job, pods):
        """What a job makes of each pod's port, by labels; None: nothing.

        Debian's Prometheus finds no pods, so what it would find is in a file.
        """
        text, replaced = re.subn(
            r"    kubernetes_sd_configs:\n      - role: pod\n"
            r"        namespaces: .*\n",
            "    file_sd_configs:\n      - files: [pods.json]\n",
            read(HERE + "/kubernetes.yaml"))
        self.assertEqual(replaced, 2)
        found = [{
            "targets": ["10.0.0.%d:9420" % number],
            "labels": {"__meta_kubernetes_pod_" + name: value
                       for name, value in pod.items()},
        } for number, pod in enumerate(pods)]
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/config.yaml", "w", encoding="utf-8") as file:
                file.write(text)
            with open(folder + "/pods.json", "w", encoding="utf-8") as file:
                json.dump(found, file)
            # It looks for as long as it may.
            status, said = promtool("check", "service-discovery",
                                    folder + "/config.yaml", job,
                                    "--timeout=3s")
        self.assertEqual(status, 0, said)
        became = [None] * len(pods)
        for target in json.loads(said[said.index("[\n"):]):
            address = target["discoveredLabels"]["__address__"]
            became[int(address.split(":")[0].split(".")[-1])] = {
                name: value for name, value in target["labels"].items()
                if not name.startswith("__")
            } or None
        return became

    def test_pods_of_kubernetes_become_what_rules_ask_for(self):
        worker = {
            "label_app_kubernetes_io_name": "ordo",
            "label_app_kubernetes_io_component": "worker",
            "container_port_name": "metrics",
            "name": "ordo-worker-3",
            "node_name": "node-7",
            "phase": "Running",
        }
        scheduler = dict(worker, label_app_kubernetes_io_component="scheduler",
                         name="ordo-scheduler-x")
        others = [dict(worker, container_port_name="api"),
                  dict(worker, phase="Succeeded"),
                  dict(worker, label_app_kubernetes_io_name="other")]
        pods = [worker, scheduler] + others
        self.assertEqual(
            self._labels_in_kubernetes("ordo-worker", pods), [{
                "job": "ordo-worker",
                "worker": "ordo-worker-3",
                "instance": "ordo-worker-3",
                "node": "node-7"
            }, None, None, None, None])
        self.assertEqual(
            self._labels_in_kubernetes("ordo-scheduler", pods), [None, {
                "job": "ordo-scheduler",
                "instance": "ordo-scheduler-x",
                "node": "node-7"
            }, None, None, None])


if __name__ == "__main__":
    unittest.main()
