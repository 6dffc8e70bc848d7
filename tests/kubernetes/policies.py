"""Network policies as rules of nftables in a pod's own network, which is what a
cluster's network makes of them."""

from tests.kubernetes.overlay import component_of, named, pod_of, workloads


def _matches(selector, labels):
    return all(labels.get(key) == value
               for key, value in selector.get("matchLabels", {}).items())


def _labels(workload):
    return workload["spec"]["template"]["metadata"]["labels"]


def _port(workload, port):
    """The number of a port, which may be named."""
    numbers = {each["name"]: each["containerPort"]
               for container in pod_of(workload)["containers"]
               for each in container["ports"]}
    return numbers.get(port, port)


class Policies:
    """Those of an overlay. `pods` has the addresses of each component's pods,
    `namespaces` those of everything in the namespaces with a label, both as
    nftables writes them: {"scheduler": "10.0.0.0/27"}, {("name", "x"): ...}."""

    def __init__(self, objects, pods, namespaces):
        self._policies = named(objects, "NetworkPolicy")
        self._workloads = workloads(objects)
        self._pods = pods
        self._namespaces = namespaces

    def rules(self, workload):
        """The rules of the workload's pods, for `nft -f`."""
        return "table inet ordo {\n%s%s}\n" % (
            self._chain(workload, "Ingress", "from", "input", "ip saddr"),
            self._chain(workload, "Egress", "to", "output", "ip daddr"))

    def _chain(self, workload, kind, peers, hook, side):
        chosen = [policy["spec"] for policy in self._policies
                  if kind in policy["spec"]["policyTypes"] and _matches(
                      policy["spec"]["podSelector"], _labels(workload))]
        lines = ["type filter hook %s priority 0; policy %s;" % (
            hook, "drop" if chosen else "accept"),
                 "ct state established,related accept",
                 "%s \"lo\" accept" % {"input": "iifname",
                                       "output": "oifname"}[hook]]
        for spec in chosen:
            for rule in spec.get(kind.lower(), []):
                for peer in rule[peers]:
                    for addresses, other in self._peers(peer):
                        # Ports are those of whoever is called.
                        called = workload if hook == "input" else other
                        for ports in self._ports(rule, called):
                            lines.append("%s { %s } %saccept" % (
                                side, addresses, ports))
        return "  chain %s {\n    %s\n  }\n" % (hook, "\n    ".join(lines))

    def _peers(self, peer):
        """(addresses, workload or None) of each that a peer stands for."""
        if "podSelector" in peer:
            for workload in self._workloads:
                if _matches(peer["podSelector"], _labels(workload)):
                    yield self._pods[component_of(workload)], workload
            return
        for label in peer["namespaceSelector"]["matchLabels"].items():
            if label in self._namespaces:
                yield self._namespaces[label], None

    @staticmethod
    def _ports(rule, called):
        if "ports" not in rule:
            yield ""
        for port in rule.get("ports", []):
            number = _port(called, port["port"]) if called else port["port"]
            yield "%s dport %d " % (port.get("protocol", "TCP").lower(), number)
