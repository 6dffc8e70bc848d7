"""Three nodes with a shared folder, played by the manifests' own commands:
what an upgrade, a node that is emptied and one that is lost do to runs."""

import os
import shutil
import socket
import tempfile
import unittest

from tests.kubernetes import cluster, overlay, pods

_WHY_NOT = overlay.why_not() or pods.why_not()
if not _WHY_NOT:
    cluster.enter()
_OVERLAY = "cpu-evaluation"
_STEPS = 400
_CHECKPOINT_EVERY = 20


@unittest.skipIf(_WHY_NOT, _WHY_NOT)
class ClusterTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        os.chmod(scratch.name, 0o755)
        self.cluster = cluster.Cluster(
            scratch.name, changes={"worker": {
                # This machine may have one core.
                "devices": ["cpu:0"],
                "trainer_environment": {"ORDO_FAKE": "*:step_ms=20"},
            }})
        self.addCleanup(self._end)
        self.cluster.apply(_OVERLAY, cluster.NUM_NODES)
        self.workers = self.cluster.pods_of("worker")
        for name in self.cluster.pods_of("scheduler") + self.workers:
            self.cluster.wait_until_ready(name)
        cluster.wait_for(lambda: self.cluster.workers() == self.workers,
                         "all workers offer their devices")

    def _end(self):
        self.cluster.end()
        # Kept by Bazel, test.outputs/outputs.zip.
        kept = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        if kept:
            shutil.copytree(os.path.join(self.cluster.folder, "logs"),
                            os.path.join(kept, self._testMethodName))

    def _submit(self, *names, steps=_STEPS):
        for name in names:
            self.cluster.submit(
                cluster.training_job(name, steps, _CHECKPOINT_EVERY))

    def _wait_for_step(self, name, step):
        return cluster.wait_for(
            lambda: self._at_step(name, step),
            "%s is at step %d" % (name, step))

    def _at_step(self, name, step):
        job = self.cluster.show(name)
        at = int(job.get("progress", {}).get("step", 0))
        return job if at >= step and job["state"] == "RUNNING" else None

    def _wait_for_success(self, name):
        def ended():
            job = self.cluster.show(name)
            self.assertNotIn(job["state"], ("FAILED", "CANCELLED"), job)
            return job if job["state"] == "SUCCEEDED" else None
        job = cluster.wait_for(ended, name + " succeeds")
        self.assertEqual(int(job.get("failed_attempts", 0)), 0, job)
        return job

    @staticmethod
    def _worker_of(job):
        return job["attempts"][-1]["worker"].rpartition("/")[2]

    def test_an_upgrade_pod_by_pod_costs_no_step(self):
        # They outlast the restart of every pod.
        self._submit("a", "b", "c", steps=3 * _STEPS)
        for job in "abc":
            self._wait_for_step(job, 1)
        # As the StatefulSet does it: each is ready before the next one goes.
        for name in reversed(self.workers):
            self.assertEqual(self.cluster.stop(name), 0, name)
            self.cluster.start_again(name)
            cluster.wait_for(lambda: self.cluster.workers() == self.workers,
                             name + " is back")
        (scheduler,) = self.cluster.pods_of("scheduler")
        before = {job: self.cluster.show(job) for job in "abc"}
        for job in before.values():
            self.assertIn(job["state"], ("QUEUED", "STARTING", "RUNNING"))
        self.assertEqual(self.cluster.stop(scheduler), 0)
        self.cluster.start_again(scheduler)
        moved = 0
        for job in "abc":
            ended = self._wait_for_success(job)
            attempts = ended["attempts"]
            moved += len(attempts) - 1
            # The scheduler's restart ended none.
            self.assertEqual(len(attempts), len(before[job]["attempts"]), ended)
            for one, next_one in zip(attempts, attempts[1:]):
                self.assertEqual(one["reason"], "STOPPED", ended)
                # What was stopped wrote a checkpoint of its last step.
                self.assertEqual(one["end_step"], next_one["start_step"], ended)
        self.assertGreaterEqual(moved, 3)

    def test_runs_of_a_lost_node_go_on_elsewhere(self):
        self._submit("a")
        job = self._wait_for_step("a", 2 * _CHECKPOINT_EVERY)
        lost = self._worker_of(job)
        self.assertEqual(
            self.cluster.lose_node(self.cluster.node_of(lost)), [lost])
        ended = self._wait_for_success("a")
        first, second = ended["attempts"]
        self.assertEqual(first["reason"], "WORKER_LOST")
        self.assertNotEqual(first["worker"], second["worker"])
        # From a checkpoint, and not from the start.
        self.assertGreaterEqual(int(second["start_step"]), _CHECKPOINT_EVERY)
        # The node comes back with nothing on its disk, under its old name.
        self.cluster.start_again(lost)
        cluster.wait_for(lambda: self.cluster.workers() == self.workers,
                         "the node is back")

    @unittest.skipUnless(cluster.has_policies(), "nft is not there")
    def test_policies_let_through_what_ordo_needs_and_nothing_else(self):
        (scheduler,) = self.cluster.pods_of("scheduler")
        one, other, _ = (self.cluster.pod(name) for name in self.workers)
        scheduler = self.cluster.pod(scheduler)
        for source, api, metrics in ((cluster.CLIENT, True, False),
                                     (cluster.MONITORING, False, True),
                                     (cluster.STRANGER, False, False)):
            for address, port, may in (
                    (cluster.SERVICE, 7420, api),
                    (scheduler.address, 7421, metrics),
                    (one.address, 7430, False), (one.address, 7431, metrics)):
                with self.subTest(source=source, port=port):
                    self.assertEqual(
                        pods.reaches(address, port, source=source), may)
        self.assertTrue(scheduler.reaches(one.address, 7430))
        self.assertTrue(one.reaches(cluster.SERVICE, 7420))
        # Ranks meet at any port.
        self.assertTrue(one.reaches(other.address, 7431))
        with socket.create_server((cluster.STRANGER, 0)) as server:
            port = server.getsockname()[1]
            self.assertTrue(pods.reaches(cluster.STRANGER, port))
            for pod in (scheduler, one):
                self.assertFalse(pod.reaches(cluster.STRANGER, port))
        self.assertFalse(one.reaches(cluster.SERVICE, 7421))
        self.assertFalse(scheduler.reaches(one.address, 7431))

    def test_a_drain_lasts_longer_than_the_pod(self):
        self._submit("a")
        job = self._wait_for_step("a", 1)
        name = self._worker_of(job)
        self.cluster.ordo("workers", "drain", name, "--reason", "new fan")
        cluster.wait_for(
            lambda: self._worker_of(self.cluster.show("a")) != name,
            "the job is elsewhere")
        self.assertEqual(self.cluster.stop(name), 0)
        self.cluster.start_again(name)
        others = [worker for worker in self.workers if worker != name]
        self._submit("b", "c")
        self._wait_for_success("a")
        for other in "bc":
            ended = self._wait_for_success(other)
            self.assertIn(self._worker_of(ended), others)
        self.cluster.ordo("workers", "uncordon", name)
        cluster.wait_for(lambda: self.cluster.workers() == self.workers,
                         name + " is open")


if __name__ == "__main__":
    unittest.main()
