"""The dashboards: as the script writes them, and as people need them."""

import os
import tempfile
import unittest

from tools.dashboards import write_dashboards
from tools.dashboards.grafana import UNITS


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class DashboardsTest(unittest.TestCase):

    def test_those_that_are_committed_are_what_the_script_writes(self):
        folder = "deploy/grafana/dashboards"
        self.assertEqual(sorted(os.listdir(folder)),
                         [name + ".json" for name in write_dashboards.NAMES])
        with tempfile.TemporaryDirectory() as written:
            write_dashboards.main(["", written])
            for name in os.listdir(folder):
                # Not assertEqual, whose difference of long texts takes minutes.
                self.assertTrue(
                    read(os.path.join(written, name)) == read(
                        os.path.join(folder, name)),
                    name + ": run python3 tools/dashboards/write_dashboards.py")

    def test_each_panel_says_what_it_shows_and_in_which_unit(self):
        for dashboard in write_dashboards.dashboards():
            titles = []
            for row in dashboard.rows:
                for panel in row.panels:
                    with self.subTest(dashboard.name + ": " + panel.title):
                        self.assertRegex(panel.description, r"\.$")
                        self.assertIn(panel.unit, UNITS)
                        self.assertTrue(panel.queries)
                        for _, legend in panel.queries:
                            self.assertTrue(legend)
                        titles.append(panel.title)
            self.assertEqual(len(titles), len(set(titles)), titles)

    def test_variables_that_are_asked_for_are_there(self):
        for dashboard in write_dashboards.dashboards():
            names = {variable.name for variable in dashboard.variables}
            for row in dashboard.rows:
                for panel in row.panels:
                    for expression, _ in panel.queries:
                        for name in ("queue", "worker", "device"):
                            if "$" + name in expression:
                                self.assertIn(name, names, panel.title)


if __name__ == "__main__":
    unittest.main()
