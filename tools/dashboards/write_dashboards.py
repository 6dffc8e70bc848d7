"""Writes deploy/grafana/dashboards out of the tables beside this file.

  python3 tools/dashboards/write_dashboards.py [FOLDER]

FOLDER is where the JSON files go (default: deploy/grafana/dashboards of the
checkout that this file is in).
"""

import importlib
import json
import os
import sys

# Of this file as it lies in the checkout, not of a link to it.
ROOT = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

NAMES = ("cluster", "control_plane", "evaluation", "kernels", "queues", "run")


def dashboards():
    """All of them, in the order of NAMES."""
    return [
        importlib.import_module("tools.dashboards.tables." + name).DASHBOARD
        for name in NAMES
    ]


def text(dashboard):
    """The content of its file."""
    return json.dumps(dashboard.json(), indent=2, ensure_ascii=False) + "\n"


def main(arguments):
    folder = (arguments[1] if len(arguments) > 1 else
              os.path.join(ROOT, "deploy/grafana/dashboards"))
    for dashboard in dashboards():
        path = os.path.join(folder, dashboard.name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text(dashboard))
    print("wrote %d dashboards to %s" % (len(NAMES), folder))


if __name__ == "__main__":
    sys.path.insert(0, ROOT)
    main(sys.argv)
