"""Tests of pictures.py, with gnuplot."""

import math
import os
import tempfile
import unittest

from tools.dashboards import pictures
from tools.dashboards.grafana import Dashboard, Panel, Row

DASHBOARD = Dashboard("a_b", "A {b}_c", "What it is.", [
    Row("Numbers", [
        Panel("A number", "share", [("a", "x")], "", kind="stat"),
    ]),
    Row("Lines", [
        Panel("Lines", "seconds", [("b", "{{worker}}")], "", limit=3),
        Panel("Orders", "bytes", [("c", "x")], "", log=True),
        Panel("Nothing", "count", [("d", "x")], ""),
        Panel("None", "seconds", [("e", "x")], "", log=True),
    ]),
]).json()


class FakePrometheus:
    """Answers with what it is made with, by query."""

    def __init__(self, answers):
        self.answers = answers

    def query_range(self, expression, start, end, step):
        assert end - start == 60 and step == 1, (start, end, step)
        return [(labels, [(end + when, value) for when, value in values])
                for labels, values in self.answers.get(expression, [])]


ANSWERS = {
    "a": [({}, [(-1, 0.25)])],
    "b": [({"worker": "small"}, [(-2, 1), (-1, math.nan)]),
          ({"worker": "w_1"}, [(-2, 1), (-1, 5)])],
    "c": [({}, [(-2, 0), (-1, 2e9)]), ({}, [(-2, 0), (-1, 0)])],
    "e": [({}, [(-2, 0), (-1, math.inf)])],
}


class PicturesTest(unittest.TestCase):

    def test_lines_have_legends_and_the_largest_comes_first(self):
        panel = DASHBOARD["panels"][3]
        lines = pictures.lines_of(FakePrometheus(ANSWERS), panel, 1000, 60)
        self.assertEqual([legend for legend, _ in lines], ["w_1", "small"])
        self.assertEqual(lines[0][1], [(-2, 1), (-1, 5)])
        many = {"b": [({"worker": str(value)}, [(-1, value)])
                      for value in range(20)]}
        lines = pictures.lines_of(FakePrometheus(many), panel, 1000, 60)
        self.assertEqual([legend for legend, _ in lines],
                         ["19", "18", "17", "16", "15", "14", "13", "12"])

    def test_numbers_have_units(self):
        self.assertEqual(pictures.numbers(0.258, "share"), "25.8 %")
        self.assertEqual(pictures.numbers(2.5 * 2**30, "bytes"), "2.5 GiB")
        self.assertEqual(pictures.numbers(2048, "bytes/s"), "2 KiB/s")
        self.assertEqual(pictures.numbers(0.5, "seconds"), "0.5 s")
        self.assertEqual(pictures.numbers(3, "count"), "3")
        self.assertEqual(pictures.numbers(math.nan, "count"), "-")

    def test_text_is_drawn_as_it_is(self):
        self.assertEqual(pictures.quoted('a_b "{c}"'),
                         '"a\\\\_b \\"\\\\{c\\\\}\\""')

    def test_gnuplot_draws_every_panel(self):
        with tempfile.TemporaryDirectory(prefix="it's_") as folder:
            pictures.draw_all(FakePrometheus(ANSWERS), {"a_b": DASHBOARD},
                              folder, 60)
            path = os.path.join(folder, "dashboard-a-b")
            with open(path + ".svg", encoding="utf-8") as file:
                svg = file.read()
            for text in ("A number", "25 %", "Orders", "no data", "w_1"):
                self.assertIn(text, svg)
            with open(path + ".png", "rb") as file:
                self.assertEqual(file.read(4), b"\x89PNG")
            with open(path + ".txt", encoding="utf-8") as file:
                self.assertEqual(
                    file.read(), "%s\n\n    %s\n" %
                    (DASHBOARD["description"], pictures.COMMAND))

    def test_values_and_limits_are_within_the_axis(self):
        def shown(largest):
            drawn = [[], [("x", [(-1, largest)])], [], [], []]
            text = pictures.script(DASHBOARD, drawn)
            panel = text[text.index('set title "Lines"'):]
            panel = panel[:panel.index("\nplot ")]
            axis = panel.split("set yrange [")[-1]
            return axis[:axis.index("]")], "set arrow" in panel

        self.assertEqual(shown(5), ("0:5.25", True))
        self.assertEqual(shown(2), ("0:3.15", True))
        # Far below its limit.
        self.assertEqual(shown(1), ("0:1.05", False))
        self.assertEqual(shown(0), ("0:1", False))

    def test_what_gnuplot_does_not_draw_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "gnuplot"):
            pictures.draw(DASHBOARD, [[]] * 5, "/nowhere/x")


if __name__ == "__main__":
    unittest.main()
