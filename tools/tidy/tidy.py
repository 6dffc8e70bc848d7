"""Checks the rules of the house that no compiler knows.

  python3 tools/tidy/tidy.py [FOLDER]

FOLDER is the checkout (default: the one this file is in). Prints one line per
finding, `path:line: what is wrong and what to do`, and ends with 1 if there is
one. The rules are in the modules beside this file.
"""

import os
import sys

# Of this file as it lies in the checkout, not of a link to it.
ROOT = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, ROOT)

# pylint: disable=wrong-import-position
from tools.tidy import (banned, builds, layers, namespaces, pins, shape,
                        source, watching)

RULES = (layers.RULES + banned.RULES + shape.RULES + namespaces.RULES +
         builds.RULES + pins.RULES + watching.RULES)


def check(tree):
    return sorted({finding for rule in RULES for finding in rule(tree)})


def main(arguments):
    root = arguments[1] if len(arguments) > 1 else ROOT
    findings = check(source.read_tree(root))
    for finding in findings:
        print(finding)
    if findings:
        print("%d findings" % len(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
