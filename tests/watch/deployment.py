"""A scheduler and workers as processes, for tests in Python."""

import json
import os
import signal
import subprocess
import time

START_TIMEOUT_S = 20
END_TIMEOUT_S = 120
POLL_INTERVAL_S = 0.05


def program(name):
    """The path of one of our programs, which Bazel lays in this folder."""
    return os.path.abspath(name)


def wait_for(what, done, timeout_s=60):
    """What `done` gives, once that is true; AssertionError after a while."""
    deadline = time.monotonic() + timeout_s
    while True:
        answer = done()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError("waited for " + what)
        time.sleep(POLL_INTERVAL_S)


def read(path):
    """The content of a file; nothing where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


class Deployment:
    """Everything lies below `folder`, which exists; ports are the kernel's."""

    def __init__(self, folder):
        self.folder = folder
        self.api = ""
        # Name -> host:port of the metrics page.
        self.metrics = {}
        self.processes = {}

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def start(self, name, arguments, environment=None):
        """Starts a process; its output goes to <name>.log."""
        with open(self.path(name + ".log"), "ab") as log:
            # Alive until `end`. pylint: disable=consider-using-with
            self.processes[name] = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=dict(os.environ, **(environment or {})))

    def _start_ours(self, part, name, config, environment):
        endpoints = self.path(name + ".endpoints.json")
        path = self.path(name + ".textproto")
        with open(path, "w", encoding="utf-8") as file:
            file.write('listen: "127.0.0.1:0"\nmetrics_listen: "127.0.0.1:0"\n'
                       'storage_root: "%s"\nendpoints_file: "%s"\n%s' %
                       (self.path("storage"), endpoints, config))
        self.start(name, [program(part), "--config", path, "--deployment",
                          self.folder], environment)

        def answers():
            if self.processes[name].poll() is not None:
                raise AssertionError(name + " ended: " +
                                     read(self.path(name + ".log")))
            return read(endpoints)

        found = json.loads(wait_for(name, answers, START_TIMEOUT_S))
        self.metrics[name] = found["metrics"]
        return found["api"]

    def start_scheduler(self, config=""):
        self.api = self._start_ours(
            "ordo-scheduler", "scheduler",
            'store: "%s"\n%s' % (self.path("ordo.db"), config), None)

    def start_worker(self, name, config, environment=None):
        os.makedirs(self.path(name), exist_ok=True)
        self._start_ours(
            "ordo-worker", name,
            'worker: "%s"\nscheduler: "%s"\nstate_folder: "%s"\n%s' %
            (name, self.api, self.path(name), config), environment)

    def ordo(self, *arguments, text=None):
        """(exit code, what it printed) of `ordo ARGUMENTS`."""
        # What needs no server may come before there is one.
        server = ["--server", self.api] if self.api else []
        done = subprocess.run(
            [program("ordo"), *server, *arguments], input=text,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=END_TIMEOUT_S)
        return done.returncode, done.stdout

    def submit(self, job, *arguments):
        """Submits a job, which is YAML; AssertionError when it is refused."""
        status, said = self.ordo("submit", "-", *arguments, text=job)
        if status != 0:
            raise AssertionError("ordo submit: %d: %s" % (status, said))

    def end(self, name, how=signal.SIGTERM):
        process = self.processes.pop(name)
        process.send_signal(how)
        process.wait(END_TIMEOUT_S)

    def end_all(self):
        """Ends what was started, last first."""
        for name in reversed(list(self.processes)):
            self.end(name)
