"""What must hold among the objects of an overlay, beyond their schemas.

A check is a function from the objects to findings, lines of text; so each is
tested on objects that break it.
"""

import os
import re

from tests.kubernetes.overlay import (bytes_of, component_of, config_of,
                                      flags_of, named, pod_of, seconds_of,
                                      volume_of, workloads)

# A worker leaves so long after the grace of what it runs at the latest
# (worker/agent/drain.h), and needs a moment itself.
DRAIN_MARGIN_S = 15 + 5
# Main memory that a worker, its supervisors and page tables take beside jobs.
WORKER_BYTES = 1 << 30


def _name(item):
    return "%s/%s" % (item["kind"], item["metadata"]["name"])


def _matches(selector, labels):
    return all(labels.get(key) == value
               for key, value in selector.get("matchLabels", {}).items())


def _labels(workload):
    return workload["spec"]["template"]["metadata"]["labels"]


def _selected(objects, selector):
    return [item for item in workloads(objects)
            if _matches(selector, _labels(item))]


def _ports(workload):
    return {port["name"]: port["containerPort"]
            for container in pod_of(workload)["containers"]
            for port in container["ports"]}


def check_pods(objects):
    """What Pod Security calls restricted, and a root that nothing writes to."""
    for item in workloads(objects):
        pod = pod_of(item)
        context = pod.get("securityContext", {})
        wanted = {
            "runs as root": not context.get("runAsNonRoot") or
                            context.get("runAsUser", 0) == 0,
            "has no seccomp profile": context.get("seccompProfile", {}).get(
                "type") != "RuntimeDefault",
            "gets a token of the API": pod.get("automountServiceAccountToken",
                                               True),
            "shares a namespace of the node": any(
                pod.get("host" + name) for name in ("IPC", "Network", "PID")),
            "mounts a folder of the node": any(
                "hostPath" in volume for volume in pod["volumes"]),
        }
        for container in pod["containers"]:
            own = container.get("securityContext", {})
            wanted.update({
                "may gain rights": own.get("allowPrivilegeEscalation", True),
                "has capabilities":
                    own.get("capabilities") != {"drop": ["ALL"]},
                "writes to its root": not own.get("readOnlyRootFilesystem"),
                "asks for no cpu or memory": not {"cpu", "memory"} <= set(
                    container.get("resources", {}).get("requests", {})),
                "has no limit of memory": "memory" not in container.get(
                    "resources", {}).get("limits", {}),
            })
        for text, broken in wanted.items():
            if broken:
                yield "%s %s" % (_name(item), text)


def check_references(objects):
    """Everything that is named is there."""
    for item in workloads(objects):
        pod = pod_of(item)
        account = pod.get("serviceAccountName", "default")
        wanted = [("ServiceAccount", account)]
        for volume in pod["volumes"]:
            if "configMap" in volume:
                wanted.append(("ConfigMap", volume["configMap"]["name"]))
            if "persistentVolumeClaim" in volume:
                wanted.append(("PersistentVolumeClaim",
                               volume["persistentVolumeClaim"]["claimName"]))
        if item["kind"] == "StatefulSet":
            wanted.append(("Service", item["spec"]["serviceName"]))
        for kind, name in wanted:
            if not [other for other in named(objects, kind)
                    if other["metadata"]["name"] == name]:
                yield "%s names %s/%s, which is not there" % (_name(item), kind,
                                                              name)
        for container in pod["containers"]:
            volumes = {volume["name"] for volume in pod["volumes"]}
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            for name in mounted ^ volumes:
                yield "%s: volume %s is not there, or not mounted" % (
                    _name(item), name)
            yield from _check_variables(_name(item), container)
    for item in named(objects, "ServiceAccount"):
        if item.get("automountServiceAccountToken", True):
            yield _name(item) + " gives a token of the API away"
    if named(objects, "ClusterRoleBinding") or named(objects, "RoleBinding"):
        yield "nothing of Ordo calls the API of Kubernetes, so it needs no role"


def _check_variables(name, container):
    """$(NAME) stands for a variable that is set before."""
    known = set()
    for variable in container.get("env", []):
        for used in re.findall(r"\$\((\w+)\)", variable.get("value", "")):
            if used not in known:
                yield "%s: $(%s) is not set before %s" % (name, used,
                                                          variable["name"])
        known.add(variable["name"])
    paths = [mount.get("subPathExpr", "") for mount in
             container["volumeMounts"]]
    for used in re.findall(r"\$\((\w+)\)",
                           " ".join(container["command"] + paths)):
        if used not in known:
            yield "%s: $(%s) is not set" % (name, used)


def check_selectors(objects):
    """Whatever selects pods selects some, and ports that they have."""
    for item in objects:
        spec = item.get("spec", {})
        if item["kind"] == "Service":
            chosen = _selected(objects, {"matchLabels": spec["selector"]})
            ports = {port["targetPort"] for port in spec["ports"]}
            for port in spec["ports"]:
                for workload in chosen:
                    if _ports(workload).get(port["targetPort"]) != port["port"]:
                        yield "%s: port %s is another one in %s" % (
                            _name(item), port["name"], _name(workload))
        elif item["kind"] == "PodDisruptionBudget":
            chosen, ports = _selected(objects, spec["selector"]), set()
        elif item["kind"] == "PodMonitor":
            chosen = _selected(objects, spec["selector"])
            ports = {end["port"] for end in spec["podMetricsEndpoints"]}
        elif item["kind"] == "NetworkPolicy":
            chosen = _selected(objects, spec["podSelector"])
            ports = {port["port"] for rule in spec.get("ingress", [])
                     for port in rule.get("ports", [])}
            yield from _check_egress(objects, item)
        elif item["kind"] == "ServiceMonitor":
            services = [
                other for other in named(objects, "Service")
                if _matches(spec["selector"], other["metadata"]["labels"])]
            known = {port["name"] for service in services
                     for port in service["spec"]["ports"]}
            for end in spec["endpoints"]:
                if end["port"] not in known:
                    yield "%s: no service has a port %s" % (_name(item),
                                                            end["port"])
            continue
        elif item in workloads(objects):
            if not _matches(spec["selector"], _labels(item)):
                yield _name(item) + " does not select its own pods"
            continue
        else:
            continue
        if not chosen:
            yield _name(item) + " selects no pod"
        for workload in chosen:
            for port in ports - set(_ports(workload)):
                yield "%s: %s has no port %s" % (_name(item), _name(workload),
                                                 port)


def _check_egress(objects, policy):
    for rule in policy["spec"].get("egress", []):
        for peer in rule.get("to", []):
            if "podSelector" not in peer:
                continue
            chosen = _selected(objects, peer["podSelector"])
            for port in rule.get("ports", []):
                for workload in chosen:
                    if port["port"] not in _ports(workload):
                        yield "%s: %s has no port %s" % (
                            _name(policy), _name(workload), port["port"])
            if not chosen:
                yield "%s lets pods out to nobody" % _name(policy)


def _port(address):
    return int(address.rpartition(":")[2])


def check_ports(objects):
    """Programs listen where ports, probes and each other look for them."""
    scheduler = None
    for item in workloads(objects):
        config = config_of(objects, item)
        container = pod_of(item)["containers"][0]
        listen = _port(config["listen"])
        ports = _ports(item)
        api = "api" if component_of(item) == "scheduler" else "agent"
        if ports.get(api) != listen:
            yield "%s listens at %d, and its port is %s" % (
                _name(item), listen, ports.get(api))
        if ports.get("metrics") != _port(config["metrics_listen"]):
            yield "%s has its metrics at %s" % (_name(item),
                                                config["metrics_listen"])
        asked = [variable["value"] for variable in container["env"]
                 if variable["name"] == "ORDO_SERVER"]
        if [_port(address) for address in asked] != [listen]:
            yield "%s: its probes ask at %s" % (_name(item), asked)
        if component_of(item) == "scheduler":
            scheduler = "%s:%d" % (item["metadata"]["name"], listen)
    for item in workloads(objects):
        config = config_of(objects, item)
        if component_of(item) == "worker" and "$(POD_IP)" != flags_of(
                pod_of(item)["containers"][0]).get("host"):
            yield "%s does not say where its pod is reached" % _name(item)
        if component_of(item) == "worker" and config["scheduler"] != scheduler:
            yield "%s looks for the scheduler at %s, which is %s" % (
                _name(item), config["scheduler"], scheduler)


def check_folders(objects):
    """Where programs write, something is mounted; shared where it must be."""
    roots = set()
    for item in workloads(objects):
        config = config_of(objects, item)
        pod = pod_of(item)
        mounts = {mount["mountPath"]: mount
                  for mount in pod["containers"][0]["volumeMounts"]}
        for field in ("store", "state_folder", "storage_root"):
            path = config.get(field)
            if path is None:
                continue
            found = [mount for folder, mount in mounts.items()
                     if path == folder or path.startswith(folder + "/")]
            if not found or found[0].get("readOnly"):
                yield "%s: nothing to write to at %s %s" % (_name(item), field,
                                                            path)
                continue
            claim = volume_of(pod, found[0]["name"]).get(
                "persistentVolumeClaim", {}).get("claimName")
            if field == "storage_root":
                roots.add((path, claim))
            elif field == "store" and claim is None:
                yield "%s: its store goes with its pod" % _name(item)
    if len(roots) != 1:
        yield "scheduler and workers have other storage: %s" % sorted(roots)


def check_tls(objects):
    """Ports are guarded by certificates of secrets, and pages read so."""
    for item in workloads(objects):
        config = config_of(objects, item)
        pod = pod_of(item)
        if config.get("insecure") or "tls" not in config:
            yield "%s speaks no TLS" % _name(item)
        for field, path in config.get("tls", {}).items():
            found = [mount for mount in pod["containers"][0]["volumeMounts"]
                     if mount["mountPath"] in (path, os.path.dirname(path))]
            if not found or "secret" not in volume_of(pod, found[0]["name"]):
                yield "%s: tls.%s %s is of no secret" % (_name(item), field,
                                                         path)
            elif not found[0].get("readOnly"):
                yield "%s may write to %s" % (_name(item), path)
    for item in objects:
        for end in (item.get("spec", {}).get("podMetricsEndpoints", []) +
                    item.get("spec", {}).get("endpoints", [])):
            if end.get("scheme") != "https" or "tlsConfig" not in end:
                yield "%s reads no page with TLS" % _name(item)


def check_trainers(objects):
    """Trainers, which are the worker's user, do not read its key: they read what
    is listed and what the system has (worker/agent/sandbox.cc)."""
    for item in workloads(objects):
        if component_of(item) != "worker":
            continue
        config = config_of(objects, item)
        readable = config.get("sandbox", {}).get("readable", [])
        if not readable:
            yield "%s: trainers read all that it may" % _name(item)
        for path in config.get("tls", {}).values():
            if not path.startswith("/etc/ordo/") or any(
                    path.startswith(folder.rstrip("/") + "/")
                    for folder in readable):
                yield "%s: trainers read %s" % (_name(item), path)


def check_store(objects):
    """SQLite has one writer, on a disk of its own."""
    for item in workloads(objects):
        if component_of(item) != "scheduler":
            continue
        if item["spec"]["replicas"] != 1 or item["spec"].get(
                "strategy", {}).get("type") != "Recreate":
            yield _name(item) + " may run twice on one store"
    claims = {claim["metadata"]["name"]: claim["spec"]["accessModes"]
              for claim in named(objects, "PersistentVolumeClaim")}
    if claims.get("ordo-store") != ["ReadWriteOnce"]:
        yield "the store's disk may be mounted by several nodes"
    nodes = sum(item["spec"].get("replicas", 1) for item in workloads(objects))
    if nodes > 2 and claims.get("ordo-storage") != ["ReadWriteMany"]:
        yield "the shared storage is of one node"


def check_drain(objects):
    """A pod has the time that its attempts have for a checkpoint, and more."""
    for item in workloads(objects):
        if component_of(item) != "worker":
            continue
        grace = pod_of(item).get("terminationGracePeriodSeconds", 30)
        needed = (seconds_of(config_of(objects, item)["stop_grace"]) +
                  DRAIN_MARGIN_S)
        if grace < needed:
            yield "%s is killed after %d s; its drain may take %d s" % (
                _name(item), grace, needed)
        budgets = [budget for budget in named(objects, "PodDisruptionBudget")
                   if _matches(budget["spec"]["selector"], _labels(item))]
        if len(budgets) != 1:
            yield _name(item) + " has no budget of disruptions"


def check_offers(objects):
    """What a worker offers to jobs is there, with room for the worker."""
    for item in workloads(objects):
        if component_of(item) != "worker":
            continue
        config = config_of(objects, item)
        resources = pod_of(item)["containers"][0]["resources"]
        limits = resources["limits"]
        cores = int(limits.get("cpu", resources["requests"]["cpu"]))
        if config["cpus"] > cores:
            yield "%s offers %d cores of %d" % (_name(item), config["cpus"],
                                                cores)
        memory = bytes_of(limits["memory"])
        if config["memory_bytes"] + WORKER_BYTES > memory:
            yield "%s offers %d bytes of %d" % (
                _name(item), config["memory_bytes"], memory)
        slots = [device for device in config.get("devices", [])
                 if device.startswith("cpu:")]
        if len(slots) > cores:
            yield "%s has %d slots on %d cores" % (_name(item), len(slots),
                                                   cores)
        for name, count in limits.items():
            if "/" in name and resources["requests"].get(name) != count:
                yield "%s: %s is not requested as it is limited" % (
                    _name(item), name)


def check_policies(objects):
    """Nothing passes that no policy names."""
    nothing = [policy for policy in named(objects, "NetworkPolicy")
               if not policy["spec"].get("ingress") and
               not policy["spec"].get("egress")]
    if not [policy for policy in nothing if
            set(policy["spec"]["policyTypes"]) == {"Ingress", "Egress"} and
            len(_selected(objects, policy["spec"]["podSelector"])) ==
            len(workloads(objects))]:
        yield "no policy closes all pods"
    for policy in named(objects, "NetworkPolicy"):
        for rule in policy["spec"].get("ingress", []):
            if not rule.get("from"):
                yield _name(policy) + " lets everybody in"


def programs(objects):
    """(program, words) of each command that a container or probe runs."""
    for item in workloads(objects):
        for container in pod_of(item)["containers"]:
            commands = [container["command"]]
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                commands.append(container[probe]["exec"]["command"])
            for command in commands:
                yield os.path.basename(command[0]), command[1:]


CHECKS = (check_pods, check_selectors, check_ports, check_folders, check_tls,
          check_trainers, check_store, check_drain, check_offers,
          check_policies)


def check(objects):
    # The others follow references.
    return list(check_references(objects)) or [
        finding for each in CHECKS for finding in each(objects)]
