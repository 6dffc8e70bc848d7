"""An overlay on three nodes of this machine: its pods, with the very commands,
variables, mounts and probes of the manifests, and one folder as its shared
storage. Who makes one has called enter()."""

import glob
import json
import os
import shutil
import time

import yaml

from tests.kubernetes import names, overlay, pods, policies

NUM_NODES = 3
# The address of the scheduler's service, whose pod has it besides its own.
SERVICE = "10.78.0.10"
# What else there is: who calls the scheduler from a namespace that may, the
# names of kube-system, who reads metrics, and somebody.
CLIENT, _NAMES, MONITORING, STRANGER = pods.OUTSIDE
_NAMESPACES = {
    ("ordo-client", "true"): CLIENT,
    ("kubernetes.io/metadata.name", "kube-system"): _NAMES,
    ("kubernetes.io/metadata.name", "monitoring"): MONITORING,
}
# The first address of a component's pods, whose last one has 63 more.
_FIRST_ADDRESS = {"scheduler": 64, "worker": 128}
_ADDRESSES = {"scheduler": "10.78.0.64/26, " + SERVICE,
              "worker": "10.78.0.128/26"}
_LOOK_S = 0.05
# As they are called in the image, and where Bazel lays them. The trainer trains
# nothing: what is played is everything around it.
_PROGRAMS = {name: name for name in (
    "ordo", "ordo-scheduler", "ordo-supervisor", "ordo-worker")}
_PROGRAMS["ordo-trainer"] = "tests/fake/fake_trainer"
# What is waited for comes long before this, or never.
DEADLINE_S = 60


def wait_for(look, text, deadline_s=DEADLINE_S):
    """What `look` gives once that is something; an error after the deadline."""
    end = time.monotonic() + deadline_s
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError("not within %d s: %s" % (deadline_s, text))
        time.sleep(_LOOK_S)


def training_job(name, steps, checkpoint_every):
    """A job file's fields."""
    return {
        "name": name,
        "kind": "train",
        "model": {"preset": "tiny"},
        "encoding": {"name": "rope"},
        "data": {"task": "addition", "params": {"max_digits": 3}},
        "training": {"steps": steps, "batch_size": 8},
        "checkpoint": {"every_steps": checkpoint_every},
        "resources": {"device": "cpu"},
    }


def has_policies():
    """Whether the network keeps what policies say."""
    return shutil.which("nft") is not None


def enter():
    """Goes on in namespaces of its own (pods.enter), where services have names;
    once in a process."""
    pods.enter()
    names.serve(_NAMES, {"ordo-scheduler.ordo.svc.cluster.local": SERVICE})


class Cluster:
    """`folder`, which others may read, has everything. Pods run the programs of
    the current folder, but where `images` has the unpacked root of an image by
    its name; `changes` replaces fields of the configurations, and removes those
    that are None."""

    def __init__(self, folder, images=None, changes=None):
        self.folder = folder
        self._programs = self._path("programs", "")
        for name, path in _PROGRAMS.items():
            shutil.copy(path, self._programs + name)
        self._images = images or {}
        self._changes = changes or {}
        self._objects = []
        self._policies = None
        self._variables = {}
        self._pods = {}
        self._node_of = {}
        self._num_started = 0
        self._etc = self._path("etc", "")
        for name, text in (("hosts", "127.0.0.1 localhost\n"),
                           ("resolv.conf", names.resolver("ordo", _NAMES))):
            with open(self._etc + name, "w", encoding="ascii") as file:
                file.write(text)

    def _path(self, *parts):
        path = os.path.join(self.folder, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def apply(self, name, num_workers):
        """Starts the pods of an overlay, so many of them workers."""
        self._objects = overlay.render(name)
        self._make_certificates(num_workers)
        if has_policies():
            self._policies = policies.Policies(self._objects, _ADDRESSES,
                                               _NAMESPACES)
        for item in overlay.workloads(self._objects):
            count = num_workers if overlay.component_of(item) == "worker" else 1
            for number in range(count):
                self._start(item, number)

    def _make_certificates(self, num_workers):
        """As docs/how_to/kubernetes.md says; the secrets are folders."""
        made = self._path("certificates", "")
        command = ["admin", "certs", "init", made, "--host", "ordo-scheduler",
                   "--host", SERVICE, "--user", "admin"]
        for number in range(num_workers):
            command += ["--worker", "ordo-worker-%d" % number]
        pods.run(os.path.join(self._programs, "ordo"), *command)
        self._variables = {"ORDO_CA": made + "ca.pem",
                           "ORDO_CERTIFICATE": made + "user-admin.pem"}
        for secret, wanted in (("ordo-scheduler-tls", "scheduler.pem"),
                               ("ordo-worker-tls", "worker-*.pem")):
            folder = self._path("secrets", secret, "")
            for path in [made + "ca.pem", *glob.glob(made + wanted)]:
                shutil.copy(path, folder)

    def pods_of(self, component):
        return sorted(name for name, (item, _) in self._pods.items()
                      if overlay.component_of(item) == component)

    def pod(self, name):
        return self._pods[name][1]

    def _start(self, item, number):
        is_worker = overlay.component_of(item) == "worker"
        name = "%s-%d" % (item["metadata"]["name"], number)
        self._node_of.setdefault(name, number % NUM_NODES)
        spec = overlay.pod_of(item)
        life = self._num_started
        self._num_started += 1
        scratch = self._path("roots", "%s-%d" % (name, life))
        os.makedirs(scratch)
        pod = pods.Pod(
            name, spec, "10.78.0.%d" % (
                _FIRST_ADDRESS[overlay.component_of(item)] + life),
            {volume["name"]: self._volume(item, volume, life)
             for volume in spec["volumes"]}, {
                 "hardware": [number, 1 if is_worker else 0, 0, 1],
                 "services": [] if is_worker else [SERVICE],
                 "rules": self._policies and self._policies.rules(item),
                 "log": self._path("logs", name + ".log"),
                 "scratch": scratch,
                 "root": self._images.get(spec["containers"][0]["image"]),
                 "programs": self._programs,
                 "etc": self._etc,
             })
        self._pods[name] = (item, pod)
        pod.start()

    def claim(self, name):
        """The folder of a PersistentVolumeClaim."""
        return self._path("claims", name, "")

    def _volume(self, item, volume, life):
        """The folder of a volume, made where it is not there."""
        spec = overlay.pod_of(item)
        if "secret" in volume:
            path = self._path("secrets", volume["secret"]["secretName"], "")
            for name in os.listdir(path):
                os.chmod(path + name, volume["secret"]["defaultMode"])
                pods.own(path + name, spec)
            return path
        if "persistentVolumeClaim" in volume:
            path = self.claim(volume["persistentVolumeClaim"]["claimName"])
        else:
            path = self._path("volumes", "%s-%d" % (item["metadata"]["name"],
                                                    life), volume["name"], "")
        if "configMap" in volume:
            data = overlay.named(self._objects, "ConfigMap",
                                 volume["configMap"]["name"])["data"]
            for name, text in data.items():
                with open(path + name, "w", encoding="utf-8") as file:
                    yaml.safe_dump(self._configuration(item, text), file)
            return path
        pods.own(path, spec)
        return path

    def _configuration(self, item, text):
        config = yaml.safe_load(text)
        config.update(self._changes.get(overlay.component_of(item), {}))
        return {field: value for field, value in config.items()
                if value is not None}

    def wait_until_ready(self, name):
        """As the kubelet: the start-up probe, then the readiness probe."""
        pod = self.pod(name)
        for kind in ("startupProbe", "readinessProbe"):
            def serves():
                if not pod.is_running():
                    raise RuntimeError("%s has ended; its log: %s" % (
                        name, self.log(name)))
                return pod.probe(kind)
            wait_for(serves, "%s of %s" % (kind, name))

    def log(self, name):
        with open(self._path("logs", name + ".log"), encoding="utf-8",
                  errors="replace") as file:
            return file.read()

    def stop(self, name):
        """The exit status of a pod that is deleted; None when it was killed."""
        return self.pod(name).stop()

    def start_again(self, name):
        """A new pod of that name, with another address and empty folders."""
        item, pod = self._pods[name]
        pod.vanish()
        self._start(item, int(name.rpartition("-")[2]))
        self.wait_until_ready(name)

    def node_of(self, name):
        return self._node_of[name]

    def lose_node(self, node):
        """All workers of a node at once; their names."""
        lost = [name for name in self._pods if self._node_of[name] == node and
                overlay.component_of(self._pods[name][0]) == "worker"]
        for name in lost:
            self.pod(name).vanish()
        return lost

    def end(self):
        for _, pod in self._pods.values():
            pod.vanish()

    def ordo(self, *arguments):
        """What `ordo` prints, from outside of the pods."""
        return pods.run(os.path.join(self._programs, "ordo"), *arguments,
                        "--server", SERVICE + ":7420",
                        env=dict(os.environ, **self._variables))

    def show(self, job):
        return json.loads(self.ordo("show", job, "-o", "json"))

    def submit(self, job):
        """Submits a job file's fields."""
        path = self._path("jobs", job["name"] + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(job, file)
        return self.ordo("submit", path)

    def workers(self):
        """Names of the workers that offer devices."""
        listed = json.loads(self.ordo("list", "workers", "-o", "json"))
        return sorted(
            worker["name"].partition("/")[2]
            for worker in listed.get("workers", [])
            if worker["state"] == "ONLINE" and not any(
                device.get("withheld") for device in worker["devices"]))
