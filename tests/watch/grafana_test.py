"""deploy/grafana as Grafana takes it: its model, and what provisions it."""

import glob
import json
import re
import unittest

HERE = "deploy/grafana"
# Of https://grafana.com/docs: what dashboards here are made of.
PANEL_TYPES = {"row", "stat", "timeseries"}
UNITS = {"Bps", "bytes", "celsius", "ops", "percentunit", "s", "short", "watt"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def dashboards():
    return {path: json.loads(read(path))
            for path in sorted(glob.glob(HERE + "/dashboards/*.json"))}


def cells(panel):
    grid = panel["gridPos"]
    return {(x, y) for x in range(grid["x"], grid["x"] + grid["w"])
            for y in range(grid["y"], grid["y"] + grid["h"])}


class ModelTest(unittest.TestCase):

    def test_there_are_six_each_with_a_name_of_its_own(self):
        found = dashboards().values()
        self.assertEqual(len(found), 6)
        for field in ("uid", "title"):
            self.assertEqual(len({each[field] for each in found}), 6)
        for each in found:
            self.assertRegex(each["uid"], r"^[a-z-]{1,40}$")
            self.assertNotIn("id", each, "Grafana numbers them itself")
            self.assertEqual(each["schemaVersion"], 38)

    def test_panels_do_not_overlap_and_have_numbers_of_their_own(self):
        for path, each in dashboards().items():
            taken = set()
            numbers = set()
            for panel in each["panels"]:
                self.assertFalse(taken & cells(panel), path)
                taken |= cells(panel)
                numbers.add(panel["id"])
                self.assertIn(panel["type"], PANEL_TYPES)
            self.assertLess(max(x for x, _ in taken), 24)
            self.assertEqual(len(numbers), len(each["panels"]))

    def test_panels_have_what_people_need(self):
        for each in dashboards().values():
            for panel in each["panels"]:
                if panel["type"] == "row":
                    continue
                with self.subTest(each["title"] + ": " + panel["title"]):
                    self.assertTrue(panel["description"])
                    defaults = panel["fieldConfig"]["defaults"]
                    self.assertIn(defaults["unit"], UNITS)
                    steps = defaults["thresholds"]["steps"]
                    self.assertIsNone(steps[0]["value"])
                    references = [target["refId"]
                                  for target in panel["targets"]]
                    self.assertEqual(len(references), len(set(references)))

    def test_variables_are_defined_before_they_are_used(self):
        for each in dashboards().values():
            names = []
            for variable in each["templating"]["list"]:
                used = re.findall(r"\$(\w+)", json.dumps(variable["query"]))
                self.assertLessEqual(set(used), set(names))
                names.append(variable["name"])
            self.assertEqual(names[:2], ["datasource", "docs"])
            used = set(re.findall(r"\$\{?(\w+)", json.dumps(each["panels"])))
            self.assertLessEqual(
                used, set(names) | {"__rate_interval", "__range"})
            for name in names:
                self.assertIn(name, used, each["title"])


class ProvisioningTest(unittest.TestCase):

    def setting(self, path, key):
        found = re.findall(r"^ *(?:- )?%s: (.+)$" % key, read(path),
                           re.MULTILINE)
        self.assertEqual(len(found), 1, key)
        return found[0]

    def test_the_source_is_the_prometheus_of_deploy_prometheus(self):
        path = HERE + "/provisioning/datasources/ordo.yaml"
        self.assertEqual(self.setting(path, "apiVersion"), "1")
        self.assertEqual(self.setting(path, "type"), "prometheus")
        self.assertEqual(
            self.setting(path, "timeInterval"),
            self.setting("deploy/prometheus/files.yaml", "scrape_interval"))

    def test_dashboards_are_looked_for_where_people_put_them(self):
        path = HERE + "/provisioning/dashboards/ordo.yaml"
        self.assertEqual(self.setting(path, "apiVersion"), "1")
        self.assertEqual(self.setting(path, "type"), "file")
        folder, name = self.setting(path, "path").rsplit("/", 1)
        self.assertRegex(
            read("docs/how_to/watch.md"),
            r"cp -r .*%s/%s .* %s\n" % (HERE, name, folder))


if __name__ == "__main__":
    unittest.main()
