"""Draws each dashboard's panels from what a Prometheus has, by gnuplot.

  python3 tools/dashboards/pictures.py URL FOLDER [SECONDS]

URL is that of the server, such as http://127.0.0.1:9090. FOLDER gets
dashboard-<name>.svg and .png of each, over the last SECONDS (default 3600), and
.txt, its part of the gallery's page.
Those in docs/gallery are of the deployment of //tests/watch:watch_test.
"""

import json
import math
import os
import subprocess
import sys
import time

# Of this file as it lies in the checkout, not of a link to it.
ROOT = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
if __name__ == "__main__":
    sys.path.insert(0, ROOT)

# pylint: disable=wrong-import-position
from tools.dashboards import queries
from tools.dashboards.grafana import COLUMNS, UNITS
from tools.dashboards.prometheus import Prometheus

# Pixels of a row and of a column of Grafana's grid, and above it.
GRID_HEIGHT, GRID_WIDTH, TITLE_HEIGHT = 30, 60, 40
POINTS = 60
# More lines than these make a picture unreadable.
MAX_LINES = 8
# How far a plain axis goes: no line lies on the edge of its picture.
_ROOM = 1.05
GNUPLOT_TIMEOUT_S = 60
COMMAND = "bazel test //tests/watch:watch_test   # see docs/how_to/watch.md"


def quoted(text):
    """A string of gnuplot's that is drawn as it is."""
    for character in "\\{}_^@&~":
        text = text.replace(character, "\\" + character)
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def numbers(value, unit):
    """A value as people read it, with its unit."""
    if math.isnan(value):
        return "-"
    if unit == "share":
        return "%.3g %%" % (100 * value)
    if unit.startswith("bytes"):
        power = 0
        while abs(value) >= 1024 and power < 4:
            value, power = value / 1024, power + 1
        return "%.3g %s%s" % (value, ("B", "KiB", "MiB", "GiB", "TiB")[power],
                              unit[len("bytes"):])
    return "%.4g%s" % (value, " s" if unit == "seconds" else "")


def lines_of(prometheus, panel, end, seconds):
    """(legend, [(seconds before the end, value)]) of a panel's series."""
    found = []
    for expression, legend in queries.of_panel(panel, "%ds" % seconds):
        for labels, values in prometheus.query_range(
                expression, end - seconds, end, max(seconds / POINTS, 1)):
            values = [(when - end, value) for when, value in values
                      if math.isfinite(value)]
            if values:
                found.append((queries.legend(legend, labels), values))
    # The largest are what people look for.
    return sorted(found, key=lambda line: -_largest([line]))[:MAX_LINES]


def _largest(lines):
    return max((value for _, values in lines for _, value in values),
               default=0)


def _label(text, size):
    """Nothing but a text in the middle."""
    return [
        "unset border; unset tics; unset key; unset ylabel",
        "set label 1 %s at graph 0.5, 0.5 center font ',%d'" %
        (quoted(text), size),
        "plot [0:1] [0:1] NaN notitle",
        "unset label 1; set border; set tics",
    ]


def _heading(title):
    return ["unset title"] + _label(title, 13)


def _stat(lines, unit):
    value = lines[0][1][-1][1] if lines else math.nan
    return _label(numbers(value, unit), 24)


def _series(panel, lines, unit):
    defaults = panel["fieldConfig"]["defaults"]
    largest = _largest(lines)
    logarithmic = (largest > 0 and
                   defaults["custom"]["scaleDistribution"]["type"] == "log")
    # The end of the axis where all values are 0.
    nothing = 1000 if unit.startswith("bytes") else 1
    commands = [
        "set ylabel %s" % quoted(unit),
        "set format y '%s'" % ("%.0s %cB" if unit.startswith("bytes") else
                               "10^{%T}" if logarithmic else "%g"),
        "set key below maxrows 3 samplen 1.5 font ',8' enhanced",
        "set logscale y 10" if logarithmic else "unset logscale y",
        "set yrange [%s]" % ("*:*" if logarithmic else
                             "0:%.6g" % (_ROOM * max(largest, 0) or nothing)),
    ]
    if not lines:
        return [
            "unset key; unset logscale y",
            "set label 1 'no data' at graph 0.5, 0.5 center",
            "plot [-1:0] [0:1] NaN notitle",
            "unset label 1",
        ]
    for index, (_, values) in enumerate(lines):
        commands.append("$line%d << END" % index)
        commands += ["%.3f %r" % (when, value) for when, value in values
                     if value > 0 or not logarithmic] or ["0 NaN"]
        commands.append("END")
    limit = defaults["thresholds"]["steps"][-1]["value"]
    if limit is not None and largest >= 0.5 * limit:
        if limit > largest:
            commands.append("set yrange [%s:%.6g]" % (
                "*" if logarithmic else "0", _ROOM * limit))
        commands.append("set arrow 1 from graph 0, first %r to graph 1, "
                        "first %r nohead linecolor 'red' dashtype 2" %
                        (limit, limit))
    commands.append("plot " + ", ".join(
        "$line%d using 1:2 with lines linewidth 1.5 title %s" %
        (index, quoted(legend or "value"))
        for index, (legend, _) in enumerate(lines)))
    return commands + ["unset arrow 1; unset logscale y; set yrange [*:*]"]


def _grid_height(dashboard):
    last = dashboard["panels"][-1]["gridPos"]
    return last["y"] + last["h"]


def _place(panel, height):
    """Where a panel is in a picture so high, as Grafana's grid has it."""
    grid = panel["gridPos"]
    top = TITLE_HEIGHT + grid["y"] * GRID_HEIGHT
    tall = grid["h"] * GRID_HEIGHT
    return "set origin %.4f, %.4f; set size %.4f, %.4f" % (
        grid["x"] / COLUMNS, 1 - (top + tall) / height, grid["w"] / COLUMNS,
        tall / height)


def script(dashboard, drawn):
    """What gnuplot draws, but for its terminal: `drawn` has lines by panel."""
    height = TITLE_HEIGHT + _grid_height(dashboard) * GRID_HEIGHT
    names = {unit: name for name, unit in UNITS.items()}
    commands = [
        "set datafile missing 'NaN'",
        "set encoding utf8",
        "set grid ytics linecolor rgb '#dddddd'",
        "set multiplot title %s font ',16'" % quoted(
            dashboard["title"] + " (seconds until now)"),
    ]
    lines_of_panels = iter(drawn)
    for panel in dashboard["panels"]:
        commands.append(_place(panel, height))
        if panel["type"] == "row":
            commands += _heading(panel["title"])
            continue
        defaults = panel["fieldConfig"]["defaults"]
        lines = next(lines_of_panels)
        commands.append("set title %s font ',11'" % quoted(panel["title"]))
        if panel["type"] == "stat":
            commands += _stat(lines, names[defaults["unit"]])
        else:
            commands += _series(panel, lines, defaults["custom"]["axisLabel"])
    return "\n".join(commands + ["unset multiplot", ""])


def draw(dashboard, drawn, path):
    """Writes <path>.svg and <path>.png."""
    size = "%d, %d" % (COLUMNS * GRID_WIDTH,
                       TITLE_HEIGHT + _grid_height(dashboard) * GRID_HEIGHT)
    text = script(dashboard, drawn)
    for suffix, terminal in (("svg", "svg background 'white'"),
                             ("png", "pngcairo")):
        done = subprocess.run(
            ["gnuplot", "-"], text=True, check=False,
            timeout=GNUPLOT_TIMEOUT_S, capture_output=True,
            input="set terminal %s size %s font 'sans,9'\n"
            "set output '%s.%s'\n%s" %
            (terminal, size, path.replace("'", "''"), suffix, text))
        if done.returncode != 0:
            raise RuntimeError("gnuplot: " + done.stderr)


def draw_all(prometheus, dashboards, folder, seconds):
    """Pictures of dashboards, by name, over the last seconds."""
    end = time.time()
    for name, dashboard in sorted(dashboards.items()):
        drawn = [lines_of(prometheus, panel, end, seconds)
                 for panel in queries.panels(dashboard)]
        path = os.path.join(folder, "dashboard-" + name.replace("_", "-"))
        draw(dashboard, drawn, path)
        with open(path + ".txt", "w", encoding="utf-8") as file:
            file.write("%s\n\n    %s\n" % (dashboard["description"], COMMAND))


def read_dashboards(folder):
    """The JSON models that lie in a folder, by name."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            found[name[:-len(".json")]] = json.load(file)
    return found


def main(arguments):
    if not 3 <= len(arguments) <= 4:
        sys.exit("usage: pictures.py URL FOLDER [SECONDS]")
    dashboards = read_dashboards(
        os.path.join(ROOT, "deploy/grafana/dashboards"))
    draw_all(Prometheus(arguments[1]), dashboards, arguments[2],
             int(arguments[3]) if len(arguments) > 3 else 3600)
    print("drew %d dashboards into %s" % (len(dashboards), arguments[2]))


if __name__ == "__main__":
    main(sys.argv)
