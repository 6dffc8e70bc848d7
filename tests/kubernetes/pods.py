"""A pod as processes: network, process and mount namespaces of its own, a root
that is read-only but for its volumes, and the user that it is to run as."""

import ctypes
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

_TOOLS = ("chroot", "ip", "mount", "nsenter", "setpriv", "unshare")
_INSIDE = "ORDO_CLUSTER_NAMESPACES"
BRIDGE = "ordo0"
# Of the machine that the nodes hang on: the first calls when nothing else is
# said.
OUTSIDE = ("10.78.0.1", "10.78.0.2", "10.78.0.3", "10.78.0.4")
# What programs of the machine need of it, where there is no image.
_HOST_FOLDERS = ("usr", "bin", "lib", "lib64", "sbin")
_HOST_FILES = ("etc/ld.so.cache",)
_LOOK_S = 0.01
# What is closed does not answer.
_CONNECT_S = 1
_DEVICES = ("null", "zero", "full", "random", "urandom")


def run(*command, **options):
    """Runs a command; its error is the exception's text."""
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError("%s: status %d: %s%s" % (
            " ".join(command), done.returncode, done.stdout, done.stderr))
    return done.stdout


def why_not():
    """Why pods cannot be made here, or None."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    os.environ["PATH"] = path
    for tool in _TOOLS:
        if shutil.which(tool) is None:
            return tool + " is not there"
    # landlock_create_ruleset, asked for its version (worker/supervisor).
    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 2:
        return "no Landlock, without which the manifests' workers do not start"
    trial = ("ip link add ordo-t type veth peer name ordo-u && "
             "unshare --pid --fork --mount sh -c 'mount -t proc proc /proc && "
             "mount -t tmpfs tmpfs /run'")
    try:
        run(*_unshare(), "sh", "-c", trial)
    except RuntimeError as error:
        return "no namespaces: %s" % error
    return None


def _unshare():
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--net", "--mount"]


def enter():
    """Goes on in namespaces of its own, with a bridge that pods hang on; what
    is mounted and made there goes with the process."""
    if _INSIDE not in os.environ:
        os.environ[_INSIDE] = "root" if os.getuid() == 0 else "mapped"
        arguments = [*_unshare(), "/usr/bin/python3", "-B", *sys.argv]
        os.execvp(arguments[0], arguments)
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", BRIDGE, "type", "bridge")
    for address in OUTSIDE:
        run("ip", "address", "add", address + "/24", "dev", BRIDGE)
    run("ip", "link", "set", BRIDGE, "up")


def _may_change_user():
    # In a user namespace that maps one user there is no other.
    return os.environ.get(_INSIDE) == "root"


def expand(text, variables):
    """Kubernetes' $(NAME) in commands and variables."""
    return re.sub(r"\$\((\w+)\)", lambda match: variables[match[1]], text)


class Pod:
    """One container. `spec` is a pod's; `address` its own in the network;
    `volumes` has the folder of each volume; `root` the image's, or None for the
    machine's programs with `programs` as /opt/ordo/bin."""

    def __init__(self, name, spec, address, volumes, options):
        self.name = name
        self.address = address
        self._spec = spec
        self._container = spec["containers"][0]
        self._volumes = volumes
        self._options = options
        self._process = None
        self._link = "v" + address.rpartition(".")[2]
        self.variables = {}
        for variable in self._container.get("env", []):
            field = variable.get("valueFrom", {}).get("fieldRef", {}).get(
                "fieldPath")
            self.variables[variable["name"]] = (
                {"metadata.name": name, "status.podIP": address}[field]
                if field else expand(variable["value"], self.variables))

    def start(self):
        """Starts the container's command as the first process of the pod."""
        # What starts again is found under its name at once.
        hardware = "02:00:" + ":".join(
            "%02x" % byte for byte in self._options["hardware"])
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self._link, "type", "veth", "peer", "name",
            "eth0", "address", hardware, "netns", self.name)
        run("ip", "link", "set", self._link, "master", BRIDGE, "up")
        self._ip("link set lo up")
        for address in [self.address, *self._options["services"]]:
            self._ip("address add %s/24 dev eth0" % address)
        self._ip("link set eth0 up")
        if self._options["rules"]:
            run("nsenter", "--net=/run/netns/" + self.name, "nft", "-f", "-",
                input=self._options["rules"])
        # A container is started once its network is there.
        while "state UP" not in run("ip", "link", "show", self._link):
            time.sleep(_LOOK_S)
        script = "\n".join(["set -e", *self._root(), self._command()])
        with open(self._options["log"], "ab") as log:
            self._process = subprocess.Popen(
                ["nsenter", "--net=/run/netns/" + self.name, "unshare",
                 "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child",
                 "/bin/sh", "-c", script], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)

    def _ip(self, words):
        run("ip", "-n", self.name, *words.split())

    def _root(self):
        """The lines of a script that make the pod's file system."""
        root = self._options["scratch"]
        image = self._options["root"]
        quoted = shlex.quote
        yield "mount -t tmpfs -o mode=755 tmpfs " + quoted(root)
        yield "cd " + quoted(root)
        yield "mkdir -p dev proc tmp etc/ordo opt/ordo/bin var/lib srv"
        if image is None:
            for name in _HOST_FOLDERS:
                path = "/" + name
                if os.path.islink(path):
                    yield "cp -P %s %s" % (path, name)
                elif os.path.isdir(path):
                    yield _bind(path, name)
            for name in _HOST_FILES:
                yield "cp /%s %s" % (name, name)
            yield _bind(self._options["programs"], "opt/ordo/bin")
        else:
            for name in sorted(os.listdir(image)):
                path = os.path.join(image, name)
                if os.path.islink(path):
                    yield "cp -P %s %s" % (quoted(path), quoted(name))
                elif name in ("etc", "srv", "var"):
                    yield "cp -rP %s ." % quoted(path)
                elif name not in ("dev", "proc", "tmp"):
                    yield _bind(path, name)
        # What a container's runtime puts there.
        yield "cp %s/* etc" % quoted(self._options["etc"])
        yield "mount -t proc proc proc"
        for name in _DEVICES:
            yield "touch dev/%s && mount --bind /dev/%s dev/%s" % (
                name, name, name)
        for mount in self._container["volumeMounts"]:
            source = os.path.join(
                self._volumes[mount["name"]],
                mount.get("subPath", expand(mount.get("subPathExpr", ""),
                                            self.variables)))
            yield _bind(source, mount["mountPath"].lstrip("/"),
                        read_only=mount.get("readOnly", False))
        if self._container["securityContext"]["readOnlyRootFilesystem"]:
            yield "mount -o remount,bind,ro " + quoted(root)
        yield "hostname " + quoted(self.name)

    def _command(self):
        user = ""
        if _may_change_user():
            context = self._spec["securityContext"]
            user = "--userspec=%d:%d --groups=%d" % (
                context["runAsUser"], context["runAsGroup"], context["fsGroup"])
        return "exec env -i %s setpriv --no-new-privs chroot %s %s %s" % (
            _words("%s=%s" % item for item in self._environment().items()),
            user, shlex.quote(self._options["scratch"]),
            _words(expand(word, self.variables)
                   for word in self._container["command"]))

    def _environment(self):
        return dict(self.variables, PATH=os.environ["PATH"])

    def _first(self):
        """The process that is the pod's first, or None."""
        if self._process is None or self._process.poll() is not None:
            return None
        path = "/proc/%d/task/%d/children" % ((self._process.pid,) * 2)
        with open(path, encoding="ascii") as file:
            children = file.read().split()
        return int(children[0]) if children else None

    def probe(self, kind="readinessProbe"):
        """Whether a probe of the container says that all is well."""
        first = self._first()
        if first is None:
            return False
        probe = self._container[kind]
        user = []
        if _may_change_user():
            context = self._spec["securityContext"]
            user = ["--setuid", str(context["runAsUser"]),
                    "--setgid", str(context["runAsGroup"])]
        try:
            return subprocess.run(
                ["nsenter", "--target", str(first), "--mount", "--net", "--pid",
                 "--ipc", "--uts", "--root", "--wd", *user, "--",
                 *probe["exec"]["command"]], check=False,
                env=self._environment(), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=probe["timeoutSeconds"]).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def reaches(self, address, port):
        """Whether the pod may open a connection."""
        return reaches(address, port,
                       ["nsenter", "--net=/run/netns/" + self.name])

    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def stop(self):
        """As the kubelet: SIGTERM, and SIGKILL after the grace period. The
        command's exit status; None when it had to be killed."""
        status = None
        first = self._first()
        if first is not None:
            os.kill(first, signal.SIGTERM)
            try:
                status = self._process.wait(
                    self._spec["terminationGracePeriodSeconds"])
            except subprocess.TimeoutExpired:
                pass
        self.vanish()
        return status

    def vanish(self):
        """As a node that loses its power: no word to anybody."""
        if self._process is None:
            return
        run("ip", "link", "delete", self._link)
        first = self._first()
        if first is not None:
            os.kill(first, signal.SIGKILL)
        self._process.wait()
        self._process = None
        run("ip", "netns", "delete", self.name)


def reaches(address, port, inside=(), source=""):
    """Whether a connection can be opened: by a command that goes inside of a
    network, and from an address that is there."""
    code = ("import socket, sys; socket.create_connection((sys.argv[1], "
            "int(sys.argv[2])), float(sys.argv[3]), (sys.argv[4], 0))")
    return subprocess.run(
        [*inside, "/usr/bin/python3", "-c", code, address, str(port),
         str(_CONNECT_S), source], check=False,
        stderr=subprocess.DEVNULL).returncode == 0


def _bind(source, target, read_only=True):
    lines = "mkdir -p %s && " % shlex.quote(target)
    if os.path.isfile(source):
        lines = "mkdir -p %s && touch %s && " % (
            shlex.quote(os.path.dirname(target)), shlex.quote(target))
    lines += "mount --bind %s %s" % (shlex.quote(source), shlex.quote(target))
    if read_only:
        lines += " && mount -o remount,bind,ro %s" % shlex.quote(target)
    return lines


def _words(words):
    return " ".join(map(shlex.quote, words))


def own(path, spec):
    """Gives a volume, or a file of it, to the pod, as Kubernetes does by
    fsGroup."""
    if _may_change_user():
        os.chown(path, spec["securityContext"]["runAsUser"],
                 spec["securityContext"]["fsGroup"])
