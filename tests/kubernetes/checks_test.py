"""Each check finds what it is for, in objects that are broken on purpose."""

import copy
import unittest

from tests.kubernetes import checks

_LABELS = {"app.kubernetes.io/component": "worker"}
_SCHEDULER = """
listen: "0.0.0.0:7420"
metrics_listen: "0.0.0.0:7421"
store: /var/lib/ordo/ordo.db
storage_root: /srv/ordo
tls: {certificate: /etc/ordo/tls/own.pem, ca: /etc/ordo/tls/ca.pem}
"""
_WORKER = """
scheduler: "ordo-scheduler:7420"
listen: "0.0.0.0:7430"
metrics_listen: "0.0.0.0:7431"
state_folder: /var/lib/ordo
storage_root: /srv/ordo
tls: {certificate: /etc/ordo/tls/own.pem, ca: /etc/ordo/tls/ca.pem}
sandbox: {readable: [/opt/ordo]}
stop_grace: 60s
devices: ["cpu:0"]
cpus: 1
memory_bytes: 1073741824
"""


def _pod(component, command, ports, volumes):
    probe = {"exec": {"command": ["/bin/ordo", "health"]}}
    return {
        "serviceAccountName": "ordo",
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 80,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [{
            "name": component,
            "command": command,
            "env": [{"name": "POD_IP", "valueFrom": {}},
                    {"name": "ORDO_SERVER",
                     "value": "$(POD_IP):%d" % list(ports.values())[0]}],
            "ports": [{"name": name, "containerPort": port}
                      for name, port in ports.items()],
            "startupProbe": probe,
            "readinessProbe": probe,
            "livenessProbe": probe,
            "resources": {"requests": {"cpu": "1", "memory": "2Gi"},
                          "limits": {"memory": "2Gi"}},
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [
                {"name": "config", "mountPath": "/etc/ordo", "readOnly": True},
                {"name": "tls", "mountPath": "/etc/ordo/tls/own.pem", "readOnly": True,
                 "subPathExpr": "$(POD_IP).pem"},
                {"name": "tls", "mountPath": "/etc/ordo/tls/ca.pem", "readOnly": True,
                 "subPath": "ca.pem"},
                {"name": "own", "mountPath": "/var/lib/ordo"},
                {"name": "storage", "mountPath": "/srv/ordo"},
            ],
        }],
        "volumes": [
            {"name": "config", "configMap": {"name": component}},
            {"name": "tls", "secret": {"secretName": component}},
            dict(volumes, name="own"),
            {"name": "storage",
             "persistentVolumeClaim": {"claimName": "ordo-storage"}},
        ],
    }


def _item(kind, name, **rest):
    return dict({"kind": kind, "metadata": {"name": name}}, **rest)


def _workload(kind, component, pod, **spec):
    labels = {"app.kubernetes.io/component": component}
    spec.update(replicas=1, selector={"matchLabels": labels},
                template={"metadata": {"labels": labels}, "spec": pod})
    return _item(kind, "ordo-" + component, spec=spec)


def _objects():
    scheduler = _pod("scheduler", ["/bin/ordo-scheduler",
                                   "--config=/etc/ordo/scheduler.yaml"],
                     {"api": 7420, "metrics": 7421},
                     {"persistentVolumeClaim": {"claimName": "ordo-store"}})
    worker = _pod("worker", ["/bin/ordo-worker",
                             "--config=/etc/ordo/worker.yaml",
                             "--host=$(POD_IP)"],
                  {"agent": 7430, "metrics": 7431}, {"emptyDir": {}})
    return [
        _item("ServiceAccount", "ordo", automountServiceAccountToken=False),
        _item("ConfigMap", "scheduler", data={"scheduler.yaml": _SCHEDULER}),
        _item("ConfigMap", "worker", data={"worker.yaml": _WORKER}),
        _item("PersistentVolumeClaim", "ordo-store",
              spec={"accessModes": ["ReadWriteOnce"]}),
        _item("PersistentVolumeClaim", "ordo-storage",
              spec={"accessModes": ["ReadWriteMany"]}),
        _workload("Deployment", "scheduler", scheduler,
                  strategy={"type": "Recreate"}),
        _workload("StatefulSet", "worker", worker, serviceName="ordo-worker"),
        _item("Service", "ordo-worker",
              spec={"selector": dict(_LABELS),
                    "ports": [{"name": "agent", "port": 7430,
                               "targetPort": "agent"}]}),
        _item("PodDisruptionBudget", "ordo-worker",
              spec={"selector": {"matchLabels": dict(_LABELS)}}),
        _item("NetworkPolicy", "nothing",
              spec={"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}),
        _item("NetworkPolicy", "worker",
              spec={"podSelector": {"matchLabels": dict(_LABELS)},
                    "policyTypes": ["Ingress", "Egress"],
                    "ingress": [{"from": [{"podSelector": {}}],
                                 "ports": [{"port": "agent"}]}],
                    "egress": [{"to": [{"podSelector": {"matchLabels": dict(
                        _LABELS)}}], "ports": [{"port": "agent"}]}]}),
    ]


def _find(objects, kind, name):
    return next(item for item in objects
                if item["kind"] == kind and item["metadata"]["name"] == name)


def _set(path, value):
    """A change of the worker's pod; a path such as "containers.0.name"."""

    def change(objects):
        at = _find(objects, "StatefulSet", "ordo-worker")["spec"]["template"][
            "spec"]
        *folders, last = path.split(".")
        for name in folders:
            at = at[int(name) if name.isdigit() else name]
        at[int(last) if last.isdigit() else last] = value

    return change


def _configure(component, old, new):
    def change(objects):
        data = _find(objects, "ConfigMap", component)["data"]
        text = data[component + ".yaml"]
        assert old in text
        data[component + ".yaml"] = text.replace(old, new)

    return change


def _spec(kind, name, field, value):
    return lambda objects: _find(objects, kind, name)["spec"].update(
        {field: value})


def _drop(kind, name):
    return lambda objects: objects.remove(_find(objects, kind, name))


class ChecksTest(unittest.TestCase):

    def test_objects_that_are_right_have_no_findings(self):
        self.assertEqual(checks.check(_objects()), [])

    def test_each_mistake_is_found(self):
        own = "containers.0.securityContext."
        for change, words in [
            (_set("securityContext.runAsUser", 0), "runs as root"),
            (_set("securityContext.seccompProfile", {}), "seccomp"),
            (_set("automountServiceAccountToken", True), "token"),
            (_set("hostPID", True), "namespace of the node"),
            (_set("volumes.2", {"name": "own", "hostPath": {}}),
             "folder of the node"),
            (_set(own + "allowPrivilegeEscalation", True), "gain rights"),
            (_set(own + "capabilities", {}), "capabilities"),
            (_set(own + "readOnlyRootFilesystem", False), "its root"),
            (_set("containers.0.resources.requests", {"cpu": "1"}), "asks for"),
            (_set("containers.0.resources.limits",
                  {"cpu": "1", "memory": "1Gi"}),
             "offers 1073741824 bytes"),
            (_set("serviceAccountName", "other"), "ServiceAccount/other"),
            (_set("volumes.0.configMap.name", "ordo-x"), "is not there"),
            (_set("containers.0.volumeMounts.3.name", "x"), "volume x"),
            (_set("containers.0.env", [
                {"name": "ORDO_SERVER", "value": "$(POD_IP):7430"},
                {"name": "POD_IP", "valueFrom": {}}]), "not set before"),
            (_set("containers.0.command.2", "--host=$(POD)"),
             "$(POD) is not set"),
            (_set("containers.0.command.2", "--host=10.0.0.7"),
             "where its pod is reached"),
            (_configure("worker", "0.0.0.0:7430", "0.0.0.0:7"),
             "listens at 7"),
            (_set("containers.0.ports.1.containerPort", 1), "its metrics at"),
            (_set("containers.0.env.1.value", "$(POD_IP):7420"), "probes ask"),
            (_set("terminationGracePeriodSeconds", 79), "killed after 79 s"),
            (_configure("worker", "ordo-scheduler:7420", "ordo-scheduler:1"),
             "looks for the scheduler"),
            (_configure("worker", "root: /srv/ordo", "root: /srv"),
             "nothing to write to at storage_root"),
            (_configure("worker", "cpus: 1", "cpus: 2"), "offers 2 cores of 1"),
            (_configure("worker", '["cpu:0"]', '["cpu:0", "cpu:1"]'),
             "2 slots on 1 cores"),
            (_configure("worker", "tls: {certificate: /etc/ordo/tls/own.pem, "
                        "ca: /etc/ordo/tls/ca.pem}", ""), "speaks no TLS"),
            (_configure("worker", "tls:", "insecure: true\ntls:"),
             "speaks no TLS"),
            (_configure("worker", "/etc/ordo/tls/ca.pem", "/etc/ca.pem"),
             "tls.ca /etc/ca.pem is of no secret"),
            (_configure("worker", "/etc/ordo/tls/own.pem", "/etc/own.pem"),
             "trainers read /etc/own.pem"),
            (_configure("worker", "[/opt/ordo]", "[/etc/ordo]"),
             "trainers read /etc/ordo/tls/own.pem"),
            (_configure("worker", "sandbox: {readable: [/opt/ordo]}", ""),
             "trainers read all"),
            (_set("containers.0.volumeMounts.1.readOnly", False),
             "may write to /etc/ordo/tls/own.pem"),
            (_set("containers.0.volumeMounts.1.subPathExpr", "$(NAME).pem"),
             "$(NAME) is not set"),
            (lambda objects: objects.append(_item(
                "PodMonitor", "worker", spec={
                    "selector": {"matchLabels": _LABELS},
                    "podMetricsEndpoints": [{"port": "metrics"}]})),
             "reads no page with TLS"),
            (_configure("scheduler", "root: /srv/ordo",
                        "root: /var/lib/ordo"), "other storage"),
            (_spec("Deployment", "ordo-scheduler", "replicas", 2), "run twice"),
            (_spec("Deployment", "ordo-scheduler", "strategy", {}),
             "run twice"),
            (_spec("StatefulSet", "ordo-worker", "serviceName", "x"),
             "Service/x"),
            (_spec("PersistentVolumeClaim", "ordo-store", "accessModes",
                   ["ReadWriteMany"]), "mounted by several"),
            (_spec("Service", "ordo-worker", "selector", {"a": "b"}),
             "selects no pod"),
            (_spec("Service", "ordo-worker", "ports", [
                {"name": "agent", "port": 1, "targetPort": "agent"}]),
             "is another one"),
            (_spec("NetworkPolicy", "worker", "ingress", [{"ports": []}]),
             "lets everybody in"),
            (_spec("NetworkPolicy", "worker", "ingress", [
                {"from": [{}], "ports": [{"port": "api"}]}]), "no port api"),
            (_spec("NetworkPolicy", "worker", "egress", [
                {"to": [{"podSelector": {"matchLabels": {"a": "b"}}}]}]),
             "to nobody"),
            (_drop("NetworkPolicy", "nothing"), "closes all pods"),
            (_drop("PodDisruptionBudget", "ordo-worker"), "no budget"),
            (_drop("ConfigMap", "worker"), "ConfigMap/worker, which is not"),
        ]:
            objects = copy.deepcopy(_objects())
            change(objects)
            with self.subTest(words=words):
                self.assertIn(words, "\n".join(checks.check(objects)))

    def test_shared_storage_of_many_nodes_is_read_and_written_by_many(self):
        objects = _objects()
        _spec("StatefulSet", "ordo-worker", "replicas", 2)(objects)
        self.assertEqual(checks.check(objects), [])
        _spec("PersistentVolumeClaim", "ordo-storage", "accessModes",
              ["ReadWriteOnce"])(objects)
        self.assertIn("the shared storage is of one node",
                      checks.check(objects))


if __name__ == "__main__":
    unittest.main()
