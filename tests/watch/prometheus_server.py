"""A real Prometheus beside a deployment, as deploy/prometheus has it."""

import json
import os
import re
import shutil

from tests.watch.deployment import read, wait_for
from tools.dashboards.prometheus import Prometheus

START_TIMEOUT_S = 20
INTERVAL = "1s"


def _write(path, text):
    os.chmod(path, 0o644)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def start_prometheus(deployment, config, changes=()):
    """Starts it with a configuration, such as files.yaml; gives its client.

    What is not as in deploy/prometheus: intervals, targets, which are all pages
    of the deployment, and `changes`, pairs of texts, each of which is there.
    """
    folder = deployment.path("prometheus")
    shutil.copytree("deploy/prometheus", folder,
                    ignore=shutil.ignore_patterns("tests"))
    path = os.path.join(folder, config)
    text, changed = re.subn(r"(_interval): 15s", r"\1: " + INTERVAL, read(path))
    assert changed == 2, text
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    _write(path, text)
    targets = {"scheduler": [], "workers": []}
    for name, address in deployment.metrics.items():
        if name == "scheduler":
            targets[name].append({"targets": [address]})
        else:
            targets["workers"].append({"targets": [address],
                                       "labels": {"worker": name}})
    for name, found in targets.items():
        # JSON is YAML, too.
        _write(os.path.join(folder, "targets", name + ".yaml"),
               json.dumps(found))
    deployment.start("prometheus", [
        "/usr/bin/prometheus", "--config.file=" + path,
        "--storage.tsdb.path=" + deployment.path("series"),
        "--web.listen-address=127.0.0.1:0"
    ])
    # Two threads say so, in any order.
    address = wait_for("Prometheus", lambda: re.match(
        r'(?=[\s\S]*msg="Server is ready)'
        r'[\s\S]*msg="Listening on" address=(\S+)',
        read(deployment.path("prometheus.log"))), START_TIMEOUT_S)
    return Prometheus("http://" + address[1])


def health(prometheus, num_targets):
    """(job, worker, health, last error) of each target, once it was asked."""
    def asked():
        targets = prometheus.get("targets")["activeTargets"]
        known = [target for target in targets if target["health"] != "unknown"]
        return known if len(known) == num_targets else None

    return sorted((target["labels"]["job"], target["labels"].get("worker", ""),
                   target["health"], target["lastError"])
                  for target in wait_for("all targets", asked))
