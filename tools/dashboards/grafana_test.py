"""Tests of grafana.py: what Grafana is given of a table."""

import unittest

from tools.dashboards.grafana import Dashboard, Panel, Row, Variable


def panel(**more):
    return Panel("Title", "seconds", [("a", "{{queue}}"), ("b", "")],
                 "What it is.", **more)


class PanelTest(unittest.TestCase):

    def test_has_title_unit_legends_and_description(self):
        json = panel().json(7, 8, 9)
        self.assertEqual(json["id"], 7)
        self.assertEqual(json["type"], "timeseries")
        self.assertEqual(json["description"], "What it is.")
        self.assertEqual(json["gridPos"], {"x": 8, "y": 9, "w": 8, "h": 8})
        defaults = json["fieldConfig"]["defaults"]
        self.assertEqual(defaults["unit"], "s")
        self.assertEqual(defaults["min"], 0)
        self.assertEqual([(target["refId"], target["expr"],
                           target["legendFormat"])
                          for target in json["targets"]],
                         [("A", "a", "{{queue}}"), ("B", "b", "")])
        self.assertEqual(json["links"], [])

    def test_a_limit_is_a_line_from_which_it_is_red(self):
        defaults = panel(limit=3).json(1, 0, 0)["fieldConfig"]["defaults"]
        self.assertEqual(defaults["thresholds"]["steps"],
                         [{"color": "green", "value": None},
                          {"color": "red", "value": 3}])
        self.assertEqual(defaults["custom"]["thresholdsStyle"],
                         {"mode": "line"})
        below = panel(limit=3, below=True).json(1, 0, 0)
        self.assertEqual(
            below["fieldConfig"]["defaults"]["thresholds"]["steps"],
            [{"color": "red", "value": None}, {"color": "green", "value": 3}])

    def test_links_to_its_runbook(self):
        links = panel(runbook="store_slow").json(1, 0, 0)["links"]
        self.assertEqual(links[0]["url"], "${docs}/runbooks/store_slow.html")

    def test_a_logarithmic_axis_has_no_zero(self):
        defaults = panel(log=True).json(1, 0, 0)["fieldConfig"]["defaults"]
        self.assertNotIn("min", defaults)
        self.assertEqual(defaults["custom"]["scaleDistribution"],
                         {"type": "log", "log": 10})

    def test_a_number_has_no_axes(self):
        json = panel(kind="stat").json(1, 0, 0)
        self.assertNotIn("custom", json["fieldConfig"]["defaults"])
        self.assertEqual(json["options"]["reduceOptions"]["calcs"],
                         ["lastNotNull"])
        self.assertEqual(json["gridPos"]["h"], 4)


class DashboardTest(unittest.TestCase):

    def test_panels_lie_in_rows_of_24_columns(self):
        json = Dashboard("a_b", "Title", "What it is.", [
            Row("One", [panel()] * 4),
            Row("Two", [panel(kind="stat")]),
        ]).json()
        self.assertEqual(json["uid"], "ordo-a-b")
        self.assertEqual(
            [(each["type"], each["gridPos"]["x"], each["gridPos"]["y"])
             for each in json["panels"]],
            [("row", 0, 0), ("timeseries", 0, 1), ("timeseries", 8, 1),
             ("timeseries", 16, 1), ("timeseries", 0, 9), ("row", 0, 17),
             ("stat", 0, 18)])
        numbers = [each["id"] for each in json["panels"]]
        self.assertEqual(numbers, list(range(1, 8)))

    def test_variables_choose_among_values_of_a_label(self):
        json = Dashboard("a", "Title", "", [], [Variable("queue", "m")]).json()
        variable = json["templating"]["list"][-1]
        self.assertEqual(variable["query"]["query"], "label_values(m, queue)")
        self.assertEqual(variable["allValue"], ".*")
        self.assertEqual([each["name"] for each in json["templating"]["list"]],
                         ["datasource", "docs", "queue"])


if __name__ == "__main__":
    unittest.main()
