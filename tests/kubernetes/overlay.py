"""Overlays of deploy/kubernetes as Kustomize renders them."""

import os
import re
import shutil
import subprocess
import tempfile

import yaml

FOLDER = "deploy/kubernetes"
OVERLAYS = sorted(os.listdir(os.path.join(FOLDER, "overlays")))
# The first whose Kustomize reads what is written here.
_MIN_KUBECTL = (1, 27)


def why_not():
    """Why nothing can be rendered here, or None."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        return "kubectl is not there (Debian's is too old)"
    said = subprocess.run([kubectl, "version", "--client"], check=False,
                          stdout=subprocess.PIPE, text=True,
                          env=_environment()).stdout
    version = re.search(r"Client Version: \D*(\d+)\.(\d+)", said)
    if version is None or tuple(map(int, version.groups())) < _MIN_KUBECTL:
        return "kubectl is older than %d.%d: %s" % (_MIN_KUBECTL + (said,))
    return None


def _environment():
    # kubectl writes below its home.
    return dict(os.environ, HOME=tempfile.gettempdir())


def render(overlay):
    """The objects of an overlay, in Kustomize's order."""
    # A sandbox has links to the files, and Kustomize takes no file from outside
    # of its folder.
    with tempfile.TemporaryDirectory() as scratch:
        copy = os.path.join(scratch, "kubernetes")
        shutil.copytree(FOLDER, copy)
        done = subprocess.run(
            ["kubectl", "kustomize", os.path.join(copy, "overlays", overlay)],
            check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=_environment())
    if done.returncode != 0 or done.stderr:
        raise RuntimeError("kubectl kustomize %s: %s" % (overlay, done.stderr))
    return [item for item in yaml.safe_load_all(done.stdout) if item]


def named(objects, kind, name=None):
    """Those of a kind; the one of that name."""
    found = [item for item in objects if item["kind"] == kind and
             name in (None, item["metadata"]["name"])]
    if name is None:
        return found
    if len(found) != 1:
        raise KeyError("%d of %s %s" % (len(found), kind, name))
    return found[0]


def workloads(objects):
    return [item for item in objects
            if item["kind"] in ("Deployment", "StatefulSet", "DaemonSet")]


def pod_of(workload):
    return workload["spec"]["template"]["spec"]


def component_of(workload):
    labels = workload["spec"]["template"]["metadata"]["labels"]
    return labels["app.kubernetes.io/component"]


def volume_of(pod, name):
    return next(item for item in pod["volumes"] if item["name"] == name)


def flags_of(container):
    """The command's flags by name; Ordo's take their value behind `=`."""
    return dict(word[2:].partition("=")[::2]
                for word in container["command"][1:] if word.startswith("--"))


def file_text(objects, pod, container, path):
    """What a container reads at a path: of a ConfigMap that is mounted."""
    for mount in container["volumeMounts"]:
        volume = volume_of(pod, mount["name"])
        if "configMap" in volume and path.startswith(mount["mountPath"] + "/"):
            name = path[len(mount["mountPath"]) + 1:]
            return named(objects, "ConfigMap",
                         volume["configMap"]["name"])["data"][name]
    raise KeyError("no ConfigMap is mounted at " + path)


def config_of(objects, workload):
    """The configuration that a program gets, as its YAML says."""
    pod = pod_of(workload)
    container = pod["containers"][0]
    return yaml.safe_load(
        file_text(objects, pod, container, flags_of(container)["config"]))


def bytes_of(quantity):
    """Kubernetes' "4Gi" in bytes."""
    units = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40}
    match = re.fullmatch(r"(\d+)(Ki|Mi|Gi|Ti)?", str(quantity))
    return int(match[1]) << units.get(match[2], 0)


def seconds_of(duration):
    """A configuration's "120s" in seconds."""
    return int(re.fullmatch(r"(\d+)s", duration)[1])
