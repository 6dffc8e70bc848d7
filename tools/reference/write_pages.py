"""Writes the pages of tools/reference/pages.py: bazel run //tools/reference

  write_pages.py ORDO

ORDO is the program `ordo`, which knows its commands and the catalogue. Works in
the repository's root.
"""

import glob
import json
import subprocess
import sys

from tools.reference import pages
from tools.reference import protos

SECONDS = 60


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def output(*arguments):
    """What a program prints."""
    return subprocess.run(arguments, check=True, timeout=SECONDS, text=True,
                          stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE).stdout


def texts(ordo):
    """The pages as they ought to be, by path."""
    def known(paths):
        return protos.Protos({path: read(path) for path in paths})

    overview = output(ordo, "help")
    return {
        "docs/job_file.md": pages.job_file(
            known(pages.JOB_PROTOS),
            {path: read(path) for _, path in pages.EXAMPLES}),
        "docs/configuration.md": pages.configuration(
            known(sorted(glob.glob(pages.CONFIGURATION_PROTOS)))),
        "docs/cli.md": pages.cli(overview, {
            name: output(ordo, "help", name)
            for name, _ in pages.commands(overview)}),
        "docs/tasks.md": pages.tasks(
            json.loads(output(ordo, "list", "tasks", "-o", "json"))),
    }


def stale(wanted):
    """Paths whose files do not hold the text that is wanted."""
    found = []
    for path, text in wanted.items():
        try:
            current = read(path)
        except FileNotFoundError:
            current = None
        if current != text:
            found.append(path)
    return found


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    wanted = texts(arguments[0])
    for path in stale(wanted):
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted[path])
        print("wrote " + path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
