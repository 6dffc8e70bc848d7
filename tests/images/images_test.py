"""Images that tools/images makes: the same bytes twice, small, with nothing
that is not wanted, and of use: pods of deploy/kubernetes run on them.

ORDO_TRAINER names the trainer of the worker's image; by default one that trains
nothing, so that the image has no LibTorch.
"""

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

import yaml

from tests.kubernetes import cluster, overlay, pods
from tools.oci import layout

_WHY_NOT = overlay.why_not() or pods.why_not()
if not _WHY_NOT:
    cluster.enter()
_TRAINER = os.environ.get("ORDO_TRAINER", "tests/fake/fake_trainer")
_TRAINS = _TRAINER == "ordo-trainer"
_PROGRAMS = ("ordo", "ordo-scheduler", "ordo-supervisor", "ordo-worker")
_LIBRARY = "model/text/tokenizers/sentence_piece/libordo_sentence_piece.so"
_IMAGES = ("ordo-control-plane", "ordo-worker")
# Of the issue: without LibTorch. As files, and not packed.
_MAX_CONTROL_PLANE_BYTES = 100_000_000
_MOMENT = 1_790_000_000


def _read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class ImagesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        os.chmod(cls.folder, 0o755)
        built = os.path.join(cls.folder, "built")
        os.mkdir(built)
        for name in _PROGRAMS:
            os.symlink(os.path.abspath(name), os.path.join(built, name))
        os.makedirs(os.path.join(built, os.path.dirname(_LIBRARY)))
        # A trainer that trains nothing loads nothing.
        for name, path in (("ordo-trainer", _TRAINER),
                           (_LIBRARY, _LIBRARY if _TRAINS else _TRAINER)):
            os.symlink(os.path.abspath(path), os.path.join(built, name))
        cls.environment = dict(os.environ, ORDO_BIN=built,
                               SOURCE_DATE_EPOCH=str(_MOMENT))
        cls.out = cls._make("images")
        cls.roots = {}
        cls.configs = {}
        for name in _IMAGES:
            cls.roots[name] = os.path.join(cls.folder, "roots", name)
            cls.configs[name] = layout.unpack(cls.out, name, cls.roots[name])

    @classmethod
    def _make(cls, out, *arguments):
        path = os.path.join(cls.folder, out)
        subprocess.run(["tools/images", "--out", path, *arguments], check=True,
                       env=cls.environment, stdout=subprocess.DEVNULL)
        return path

    def _files(self, name):
        root = self.roots[name]
        for folder, folders, names in os.walk(root):
            for each in folders + names:
                path = os.path.join(folder, each)
                yield os.path.relpath(path, root), os.lstat(path)

    def test_the_same_programs_give_the_same_bytes(self):
        one = self._make("one", "control-plane")
        two = self._make("two", "control-plane")
        # It has the digest of the manifest, which has those of all else.
        self.assertEqual(_read(one, "index.json"), _read(two, "index.json"))
        self.assertEqual(_read(one, "ordo-control-plane.spdx.json"),
                         _read(two, "ordo-control-plane.spdx.json"))

    @unittest.skipIf(shutil.which("skopeo") is None, "skopeo is not there")
    def test_others_read_it(self):
        for name in _IMAGES:
            said = json.loads(subprocess.run(
                ["skopeo", "inspect", "oci:%s:%s" % (self.out, name)],
                check=True, stdout=subprocess.PIPE, text=True).stdout)
            self.assertEqual((said["Os"], said["Architecture"]),
                             ("linux", "amd64"))
            self.assertEqual(len(said["Layers"]), 2)

    def test_what_cannot_be_made_leaves_nothing(self):
        for arguments, text in ((["--out", self.out], "is there already"),
                                (["--out", self.folder + "/x", "worker-gpu"],
                                 "libordo_cuda.so is not there")):
            done = subprocess.run(
                ["tools/images", *arguments], check=False, text=True,
                env=self.environment, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)
            self.assertIn(text, done.stderr)
        self.assertFalse([name for name in os.listdir(self.folder)
                          if name.startswith("x")])

    def test_blobs_are_what_they_are_called(self):
        blobs = os.path.join(self.out, "blobs", "sha256")
        for name in os.listdir(blobs):
            with open(os.path.join(blobs, name), "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).hexdigest(), name)
        self.assertEqual(json.loads(_read(self.out, "oci-layout")),
                         {"imageLayoutVersion": "1.0.0"})

    def test_the_control_plane_is_small_and_has_no_libtorch(self):
        sizes = {path: status.st_size
                 for path, status in self._files("ordo-control-plane")
                 if stat.S_ISREG(status.st_mode)}
        self.assertLess(sum(sizes.values()), _MAX_CONTROL_PLANE_BYTES)
        self.assertEqual([path for path in sizes if "torch" in path], [])

    def test_nothing_gains_rights_and_there_is_no_shell(self):
        for name in _IMAGES:
            for path, status in self._files(name):
                self.assertFalse(status.st_mode & (stat.S_ISUID | stat.S_ISGID),
                                 path)
                if stat.S_ISREG(status.st_mode):
                    self.assertEqual(status.st_mtime, _MOMENT, path)
                    self.assertNotIn(os.path.basename(path),
                                     ("sh", "bash", "dash", "apt", "dpkg"))
                if not stat.S_ISLNK(status.st_mode) and path != "tmp":
                    self.assertFalse(status.st_mode & stat.S_IWOTH, path)

    def test_they_are_what_the_manifests_start(self):
        if overlay.why_not():
            self.skipTest(overlay.why_not())
        for name in overlay.OVERLAYS:
            objects = overlay.render(name)
            for item in overlay.workloads(objects):
                pod = overlay.pod_of(item)
                (container,) = pod["containers"]
                # The image for GPUs is as the other one.
                image = container["image"].replace("-gpu", "")
                config = self.configs[image]
                called = [container["command"][0],
                          *(container[probe]["exec"]["command"][0] for probe in
                            ("startupProbe", "readinessProbe",
                             "livenessProbe"))]
                trainer = overlay.config_of(objects, item).get("trainer")
                for path in [*called, *([trainer] if trainer else [])]:
                    self.assertTrue(
                        os.access(self.roots[image] + path, os.X_OK), path)
                context = pod["securityContext"]
                self.assertEqual(config["Entrypoint"], container["command"][:1])
                self.assertEqual(config["Cmd"], container["command"][1:2])
                self.assertEqual(config["User"], "%d:%d" % (
                    context["runAsUser"], context["runAsGroup"]))
                self.assertEqual(
                    sorted(config["ExposedPorts"]),
                    sorted("%d/tcp" % port["containerPort"]
                           for port in container["ports"]))
                # Not every runtime makes mount points in a root that is
                # read-only.
                for mount in container["volumeMounts"]:
                    path = mount["mountPath"]
                    if "subPath" in mount or "subPathExpr" in mount:
                        path = os.path.dirname(path)
                    if not path.startswith("/dev/"):
                        self.assertTrue(os.path.isdir(
                            self.roots[image] + path), mount)

    def test_each_file_is_in_the_bill_of_materials(self):
        for name in _IMAGES:
            text = _read(self.out, name + ".spdx.json")
            self.assertEqual(
                text, _read(self.roots[name], "usr/share/ordo/sbom.spdx.json"))
            bill = json.loads(text)
            self.assertEqual(bill["spdxVersion"], "SPDX-2.3")
            ids = [package["SPDXID"] for package in bill["packages"]]
            self.assertEqual(len(ids), len(set(ids)))
            for each in ids:
                self.assertRegex(each, r"^SPDXRef-[A-Za-z0-9.-]+$")
            for package in bill["packages"]:
                self.assertLessEqual(
                    {"name", "SPDXID", "versionInfo", "downloadLocation"},
                    set(package))
            contained = {relation["relatedSpdxElement"]
                         for relation in bill["relationships"]
                         if relation["relationshipType"] == "CONTAINS"}
            self.assertEqual(contained, set(ids) - {ids[0]})
            programs = {package["packageFileName"]: package["checksums"][0]
                        for package in bill["packages"]
                        if "packageFileName" in package}
            for path in os.listdir(self.roots[name] + "/opt/ordo/bin"):
                path = "/opt/ordo/bin/" + path
                if os.path.isdir(self.roots[name] + path):
                    continue
                with open(self.roots[name] + path, "rb") as file:
                    self.assertEqual(programs[path]["checksumValue"],
                                     hashlib.sha256(file.read()).hexdigest())
            debian = {package["name"] for package in bill["packages"]
                      if package.get("supplier") == "Organization: Debian"}
            self.assertEqual(
                debian,
                set(os.listdir(self.roots[name] + "/var/lib/dpkg/status.d")))
            self.assertLessEqual({"libc6", "libgrpc++1.51", "libssl3"}, debian)
            wheels = {package["name"] for package in bill["packages"]
                      if "pkg:pypi/" in json.dumps(package)}
            self.assertEqual("torch" in wheels, _TRAINS and
                             name == "ordo-worker")

    @unittest.skipIf(_WHY_NOT, _WHY_NOT)
    def test_pods_run_on_them(self):
        played = cluster.Cluster(
            os.path.join(self.folder, "cluster"), images=self.roots,
            changes={"worker": {"devices": ["cpu:0"]}})
        self.addCleanup(played.end)
        played.apply("cpu-evaluation", 2)
        for name in played.pods_of("scheduler") + played.pods_of("worker"):
            played.wait_until_ready(name)
        self._train(played, "one", 1)
        if not _TRAINS:
            return
        # Drawn by the image's gnuplot, with its fonts.
        job = played.claim("ordo-storage") + "jobs/one"
        drawn = [name for _, _, names in os.walk(job) for name in names
                 if re.search(r"\.(svg|png)$", name)]
        self.assertTrue(drawn)
        # Each pod has one device, so the ranks meet across the network.
        job = self._train(played, "two", 2)
        self.assertEqual(len({rank["worker"] for rank in
                              job["attempts"][-1]["ranks"]}), 2)

    def _train(self, played, name, ranks):
        job = cluster.training_job(name, 20, 10)
        job["resources"]["ranks"] = ranks
        played.submit(job)

        def ended():
            job = played.show(name)
            self.assertNotEqual(job["state"], "FAILED", job)
            return job if job["state"] == "SUCCEEDED" else None

        return cluster.wait_for(ended, name + " has ended")


class DescriptionsTest(unittest.TestCase):

    def setUp(self):
        self.images = {}
        for each in os.listdir("deploy/images"):
            if each.endswith(".yaml"):
                image = yaml.safe_load(_read("deploy/images", each))
                self.images[image["name"]] = image

    def test_there_is_one_for_each_image_of_the_manifests(self):
        if overlay.why_not():
            self.skipTest(overlay.why_not())
        wanted = {
            overlay.pod_of(item)["containers"][0]["image"]
            for name in overlay.OVERLAYS
            for item in overlay.workloads(overlay.render(name))}
        self.assertEqual(set(self.images), wanted)

    def test_that_for_gpus_has_more_and_is_else_the_same(self):
        plain, gpus = self.images["ordo-worker"], self.images["ordo-worker-gpu"]
        self.assertLess(set(plain["libraries"]), set(gpus["libraries"]))
        for field in set(plain) - {"name", "title", "libraries"}:
            self.assertEqual(plain[field], gpus[field], field)
        self.assertTrue(gpus["on_request"])


if __name__ == "__main__":
    unittest.main()
