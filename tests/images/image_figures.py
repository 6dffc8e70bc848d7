"""Measures the images that tools/images makes.

  tools/bench images [--json FILE] [--quick]

Bytes of their files, and of what a registry sends. With --quick of the control
plane's alone.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

# Where --json is seen from.
_CALLER = "ORDO_CALLERS_FOLDER"


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", metavar="FILE",
                        help="writes each figure as a line of JSON")
    parser.add_argument("--quick", action="store_true",
                        help="of the control plane alone")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run(
            ["tools/images", "--out", os.path.join(folder, "images"),
             *(["control-plane"] if options.quick else [])],
            check=True, stdout=subprocess.PIPE, text=True,
            env=dict({"SOURCE_DATE_EPOCH": "0"}, **dict(
                os.environ, ORDO_BIN="."))).stdout
    print(said, end="")
    lines = []
    for name, files, packed in re.findall(
            r"^(\S+) \S+ ([0-9]+) bytes, ([0-9]+) packed$", said, re.MULTILINE):
        for metric, value in (("image_files", files), ("image_packed", packed)):
            params = {"image": name}
            if options.quick:
                params["quick"] = "true"
            lines.append({"benchmark": "images", "metric": metric,
                          "value": int(value), "unit": "B", "params": params,
                          "min": int(value), "max": int(value)})
    if not lines:
        print("images: tools/images said nothing of sizes", file=sys.stderr)
        return 1
    if options.json:
        path = os.path.join(os.environ.get(_CALLER, "."), options.json)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
