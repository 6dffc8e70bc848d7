"""What Kustomize makes of deploy/kubernetes, beside Kubernetes' schemas, and
beside the programs that it starts."""

import copy
import re
import subprocess
import unittest

from tests.kubernetes import checks, overlay, schemas


def _said(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          text=True).stdout


@unittest.skipIf(overlay.why_not(), overlay.why_not())
class ManifestsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.objects = {name: overlay.render(name) for name in overlay.OVERLAYS}
        cls.releases = schemas.releases()

    def test_there_are_overlays_and_schemas(self):
        self.assertEqual(overlay.OVERLAYS,
                         ["cpu-evaluation", "gpu-cluster", "single-node"])
        self.assertEqual(sorted(self.releases), ["v1.29", "v1.37"])

    def test_each_release_takes_each_object(self):
        for name, objects in self.objects.items():
            for release, definitions in self.releases.items():
                for item in objects:
                    with self.subTest(overlay=name, release=release):
                        self.assertEqual(
                            schemas.violations(item, definitions), [])

    def test_schemas_find_mistakes(self):
        for release, definitions in self.releases.items():
            objects = copy.deepcopy(self.objects["gpu-cluster"])
            workload = overlay.named(objects, "StatefulSet", "ordo-worker")
            container = overlay.pod_of(workload)["containers"][0]
            container["ports"][0]["containerPort"] = "many"
            overlay.pod_of(workload)["terminationGracePeriod"] = 1
            monitor = overlay.named(objects, "PodMonitor", "ordo-worker")
            monitor["spec"]["podMetricsEndpoints"][0]["ports"] = ["metrics"]
            strange = dict(monitor, kind="Monitor")
            with self.subTest(release=release):
                found = schemas.violations(workload, definitions)
                self.assertIn("'many'", "".join(found))
                self.assertIn("terminationGracePeriod", "".join(found))
                self.assertIn("'ports'", "".join(
                    schemas.violations(monitor, definitions)))
                self.assertIn("no such kind", "".join(
                    schemas.violations(strange, definitions)))

    def test_objects_fit_together(self):
        for name, objects in self.objects.items():
            with self.subTest(overlay=name):
                self.assertEqual(checks.check(objects), [])

    def test_programs_know_the_flags_and_commands_that_they_get(self):
        helps = {}
        called = set()
        for objects in self.objects.values():
            for program, words in checks.programs(objects):
                called.add(program)
                if program == "ordo":
                    # It says so of a command that it does not know, and fails.
                    _said("./ordo", "help", words[0])
                    continue
                helps.setdefault(program, _said("./" + program, "--help"))
                for word in words:
                    flag = re.match(r"--[a-z-]+", word).group(0)
                    self.assertRegex(helps[program], flag + r"\b", program)
        self.assertEqual(called, {"ordo", "ordo-scheduler", "ordo-worker"})

    def test_a_change_of_a_configuration_rolls_out(self):
        for objects in self.objects.values():
            for item in overlay.named(objects, "ConfigMap"):
                self.assertRegex(item["metadata"]["name"], r"-[a-z0-9]{10}$")

    def test_whole_gpus_are_asked_for_where_jobs_may_ask_for_them(self):
        worker = overlay.named(self.objects["gpu-cluster"], "StatefulSet",
                               "ordo-worker")
        pod = overlay.pod_of(worker)
        self.assertIn("nvidia.com/gpu",
                      pod["containers"][0]["resources"]["limits"])
        terms = pod["affinity"]["nodeAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"][
                "nodeSelectorTerms"]
        for term in terms:
            keys = {one["key"] for one in term["matchExpressions"]}
            self.assertEqual(
                keys, {"nvidia.com/gpu.present", "nvidia.com/mig.config"})
        config = overlay.config_of(self.objects["gpu-cluster"], worker)
        self.assertEqual(config["labels"], {"gpu.partition": "whole"})


if __name__ == "__main__":
    unittest.main()
