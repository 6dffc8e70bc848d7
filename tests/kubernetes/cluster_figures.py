"""Measures the cluster that cluster_test.py plays.

  tools/bench cluster [--json FILE] [--quick]

From `kubectl apply` to pods that are ready, and to the first step of a job that
is submitted as soon as the scheduler serves; and from the loss of the node that
a job runs on to its next attempt's trainer, on another one.
"""

import argparse
import datetime
import json
import os
import re
import statistics
import sys
import tempfile
import time

from tests.kubernetes import cluster, overlay, pods

_OVERLAY = "cpu-evaluation"
_ROUNDS = 5
# Where --json is seen from.
_CALLER = "ORDO_CALLERS_FOLDER"


def _seconds(timestamp):
    """Seconds since 1970 of a Timestamp's JSON, which has nanoseconds."""
    whole, fraction = re.fullmatch(r"(.*T[0-9:]+)(\.[0-9]+)?Z",
                                   timestamp).groups()
    moment = datetime.datetime.fromisoformat(whole + "+00:00")
    return moment.timestamp() + float(fraction or 0)


def _time_of(played, number, event):
    """When that happened in an attempt of the job, waited for."""

    def look():
        attempts = played.show("first").get("attempts", [])
        return attempts[number].get(event) if number < len(attempts) else None

    return _seconds(cluster.wait_for(look, event))


def _round():
    """Seconds to ready pods, to the first step, and from loss to next run."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        played = cluster.Cluster(folder, changes={"worker": {
            "devices": ["cpu:0"],
            "trainer_environment": {"ORDO_FAKE": "*:step_ms=20"},
        }})
        try:
            start = time.time()
            played.apply(_OVERLAY, cluster.NUM_NODES)
            (scheduler,) = played.pods_of("scheduler")
            played.wait_until_ready(scheduler)
            played.submit(cluster.training_job("first", 5000, 20))
            for name in played.pods_of("worker"):
                played.wait_until_ready(name)
            ready = time.time() - start
            first = _time_of(played, 0, "first_step_time") - start
            worker = played.show("first")["attempts"][0]["worker"]
            lost = time.time()
            played.lose_node(played.node_of(worker.rpartition("/")[2]))
            return ready, first, _time_of(played, 1, "run_time") - lost
        finally:
            played.end()


def _line(metric, samples, quick):
    params = {"nodes": str(cluster.NUM_NODES), "trainer": "fake"}
    if quick:
        params["quick"] = "true"
    return {"benchmark": "cluster", "metric": metric,
            "value": statistics.median(samples), "unit": "s", "params": params,
            "min": min(samples), "max": max(samples)}


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", metavar="FILE",
                        help="writes each figure as a line of JSON")
    parser.add_argument("--quick", action="store_true",
                        help="a round or two, to see that it works")
    options = parser.parse_args(arguments)
    reason = overlay.why_not() or pods.why_not()
    if reason:
        print("cluster: not measured here: " + reason, file=sys.stderr)
        return 1
    cluster.enter()
    rounds = [_round() for _ in range(2 if options.quick else _ROUNDS)]
    lines = [_line(metric, samples, options.quick) for metric, samples in
             zip(("apply_to_ready", "apply_to_first_step", "node_loss_to_run"),
                 zip(*rounds))]
    for line in lines:
        print("%(benchmark)s %(metric)-20s %(value).3f %(unit)s" % line,
              "(%(min).3f..%(max).3f)" % line)
    if options.json:
        path = os.path.join(os.environ.get(_CALLER, "."), options.json)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
