"""Tests of queries.py."""

import unittest

from tools.dashboards import queries
from tools.dashboards.grafana import Dashboard, Panel, Row, Variable


class QueriesTest(unittest.TestCase):

    def test_variables_stand_for_everything(self):
        self.assertEqual(
            queries.expand('rate(a{queue=~"$queue"}[$__rate_interval])'),
            'rate(a{queue=~".*"}[20s])')
        self.assertEqual(queries.expand("increase(a[$__range])", "90s"),
                         "increase(a[90s])")

    def test_panels_and_variables_of_a_dashboard(self):
        dashboard = Dashboard("a", "A", "", [
            Row("Row", [
                Panel("One", "count", [("a[$__range]", "x"), ("b", "{{y}}")],
                      ""),
                Panel("Two", "count", [("c", "z")], "", kind="stat"),
            ])
        ], [Variable("device", 'm{worker=~"$worker"}')]).json()
        panels = queries.panels(dashboard)
        self.assertEqual([panel["title"] for panel in panels], ["One", "Two"])
        self.assertEqual(queries.of_panel(panels[0], "5s"),
                         [("a[5s]", "x"), ("b", "{{y}}")])
        self.assertEqual(queries.of_variables(dashboard),
                         [("device", 'm{worker=~".*"}')])

    def test_series_that_a_query_reads(self):
        self.assertEqual(
            queries.selectors(
                'sum by (job) (rate(ordo_a_total{code=~"A|B"}[5m])) / '
                "ordo:b_seconds:p99 or 0 * ordo:b_seconds:p99 "
                'or absent(up{job="ordo-scheduler"}) and backup'),
            ['ordo_a_total{code=~"A|B"}', "ordo:b_seconds:p99",
             'up{job="ordo-scheduler"}'])

    def test_legends_name_labels(self):
        self.assertEqual(
            queries.legend("{{worker}} {{device}} x", {"worker": "w"}), "w x")


if __name__ == "__main__":
    unittest.main()
