"""Rules say what policies say."""

import unittest

from tests.kubernetes import policies


def _workload(component, **ports):
    return {
        "kind": "Deployment",
        "metadata": {"name": component},
        "spec": {"template": {
            "metadata": {"labels": {"app.kubernetes.io/component": component}},
            "spec": {"containers": [{"ports": [
                {"name": name, "containerPort": port}
                for name, port in ports.items()]}]},
        }},
    }


def _pods(component):
    return {"podSelector": {"matchLabels": {
        "app.kubernetes.io/component": component}}}


def _policy(**spec):
    return {"kind": "NetworkPolicy", "metadata": {"name": "x"}, "spec": spec}


_ADDRESSES = {"a": "10.0.0.0/30", "b": "10.0.0.4/30"}


class PoliciesTest(unittest.TestCase):

    def setUp(self):
        self.a = _workload("a", api=70)
        self.b = _workload("b", agent=80)

    def _rules(self, workload, *found):
        return policies.Policies(
            [self.a, self.b, *found], _ADDRESSES,
            {("name", "watchers"): "10.0.0.9"}).rules(workload)

    def test_without_a_policy_everything_passes(self):
        rules = self._rules(self.a)
        self.assertEqual(rules.count("policy accept;"), 2)
        self.assertNotIn("drop", rules)

    def test_a_policy_closes_the_directions_that_it_names(self):
        closed = _policy(podSelector={}, policyTypes=["Ingress"])
        rules = self._rules(self.a, closed)
        self.assertIn("hook input priority 0; policy drop;", rules)
        self.assertIn("hook output priority 0; policy accept;", rules)
        self.assertIn("ct state established,related accept", rules)
        of_b = _policy(policyTypes=["Ingress"], **_pods("b"))
        self.assertNotIn("drop", self._rules(self.a, of_b))

    def test_ports_are_those_of_whoever_is_called(self):
        both = _policy(
            podSelector={}, policyTypes=["Ingress", "Egress"],
            ingress=[{"from": [_pods("b")], "ports": [{"port": "api"}]}],
            egress=[{"to": [_pods("b")], "ports": [{"port": "agent"}]}])
        rules = self._rules(self.a, both)
        self.assertIn("ip saddr { 10.0.0.4/30 } tcp dport 70 accept", rules)
        self.assertIn("ip daddr { 10.0.0.4/30 } tcp dport 80 accept", rules)

    def test_without_ports_all_are_meant(self):
        rules = self._rules(self.a, _policy(
            podSelector={}, policyTypes=["Ingress"],
            ingress=[{"from": [{"podSelector": {}}]}]))
        self.assertIn("ip saddr { 10.0.0.0/30 } accept", rules)
        self.assertIn("ip saddr { 10.0.0.4/30 } accept", rules)

    def test_namespaces_are_known_by_a_label(self):
        def named(name):
            return {"namespaceSelector": {"matchLabels": {"name": name}}}

        rules = self._rules(self.a, _policy(
            podSelector={}, policyTypes=["Egress"],
            egress=[{"to": [named("watchers"), named("others")],
                     "ports": [{"port": 53, "protocol": "UDP"}]}]))
        self.assertEqual(rules.count("udp dport 53"), 1)
        self.assertIn("ip daddr { 10.0.0.9 } udp dport 53 accept", rules)


if __name__ == "__main__":
    unittest.main()
