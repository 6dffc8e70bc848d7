import unittest

from tools.tidy import watching
from tools.tidy.testing import messages, tree

METRICS = """
    | metric | type | labels | meaning |
    |---|---|---|---|
    | `ordo_worker_a_total` | counter | `cause`: exit, hang | Text. |
    | `ordo_worker_b_seconds` | histogram | `method` | Text. |
    """


def asked(text, **files):
    return messages(watching.check_metrics_asked_for(
        tree(docs__metrics_md=METRICS,
             deploy__prometheus__rules__a_yaml=text, **files)))


class MetricsTest(unittest.TestCase):

    def test_metrics_and_labels_that_there_are_are_fine(self):
        self.assertEqual(asked('''
            rate(ordo_worker_a_total{cause=~"exit|hang", worker="w"}[5m])
            ordo_worker_b_seconds_bucket{method=~".*", le="1"}
            ordo:recorded:sum and other_metric{x="y"}
            '''), [])

    def test_a_metric_that_is_not_declared_is_told(self):
        self.assertEqual(
            asked("ordo_worker_gone_total\n"),
            ["deploy/prometheus/rules/a.yaml:1: metric "
             "ordo_worker_gone_total is not in docs/metrics.md"])
        self.assertEqual(len(asked("ordo_worker_a_total_bucket")), 1)
        self.assertEqual(len(asked("ordo_worker_b_seconds")), 1)

    def test_a_label_or_value_that_there_is_not_is_told(self):
        self.assertEqual(
            asked('ordo_worker_a_total{kind="x"}'),
            ["deploy/prometheus/rules/a.yaml:1: ordo_worker_a_total has no "
             "label kind"])
        self.assertEqual(
            asked('ordo_worker_a_total{cause!~"exit|died"}'),
            ["deploy/prometheus/rules/a.yaml:1: cause of "
             "ordo_worker_a_total is never died"])

    def test_dashboards_are_looked_at_too(self):
        self.assertEqual(
            len(asked("", deploy__grafana__dashboards__a_json=
                      '"expr": "ordo_worker_a_total{cause=\\"no\\"}"')), 1)


ALERT = """
    - alert: OrdoDeviceLost
      labels: {severity: critical}
      annotations:
        runbook_url: '{{ $externalLabels.docs }}/runbooks/device_lost.html'
    """
PAGE = "# Lost\n\nAlert `OrdoDeviceLost`, critical.\n"


class RunbooksTest(unittest.TestCase):

    def test_an_alert_with_its_page_is_fine(self):
        self.assertEqual(
            watching.check_runbooks(
                tree(deploy__prometheus__rules__a_yaml=ALERT,
                     docs__runbooks__device_lost_md=PAGE)), [])

    def test_an_alert_without_a_page_is_told(self):
        found = watching.check_runbooks(
            tree(deploy__prometheus__rules__a_yaml=ALERT))
        self.assertEqual(len(found), 1)
        self.assertIn("write docs/runbooks/device_lost.md", found[0].message)

    def test_a_page_of_no_alert_is_told(self):
        found = watching.check_runbooks(tree(docs__runbooks__other_md=PAGE))
        self.assertEqual([each.path for each in found],
                         ["docs/runbooks/other.md"])

    def test_a_page_that_says_another_severity_is_told(self):
        found = watching.check_runbooks(
            tree(deploy__prometheus__rules__a_yaml=ALERT,
                 docs__runbooks__device_lost_md=PAGE.replace(
                     "critical", "warning")))
        self.assertEqual(len(found), 1)

    def test_a_link_to_another_page_is_told(self):
        found = watching.check_runbooks(
            tree(deploy__prometheus__rules__a_yaml=ALERT.replace(
                "runbooks/device_lost", "runbooks/device"),
                 docs__runbooks__device_lost_md=PAGE))
        self.assertEqual(len(found), 1)

    def test_a_dashboard_links_to_pages_that_there_are(self):
        found = watching.check_runbooks(
            tree(tools__dashboards__tables__a_py='runbook="device_lost"'))
        self.assertEqual(len(found), 1)


class CommandsTest(unittest.TestCase):

    def faults(self, page):
        return messages(watching.check_commands(
            tree(services__cli__commands__list_cc='command.name = "list";',
                 tools__tidy__ordo_flags_txt="list: --limit\n",
                 docs__runbooks__a_md=page)))

    def test_commands_and_flags_that_there_are_are_fine(self):
        self.assertEqual(
            self.faults("Ask `ordo list --limit 3`; ordo sees.\n\n"
                        "\x20   ordo list -o json  # --more\n"
                        "\x20   ordo-scheduler backup\n"), [])

    def test_others_are_told(self):
        self.assertEqual(
            self.faults("`ordo lst`\n"),
            ["docs/runbooks/a.md:1: there is no command 'ordo lst'"])
        self.assertEqual(
            self.faults("Text.\n\n\x20   ordo list --al\n"),
            ["docs/runbooks/a.md:3: 'ordo list' has no --al"])


if __name__ == "__main__":
    unittest.main()
