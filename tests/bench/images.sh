#!/bin/sh
# The program of `tools/bench images`; image_figures.py says what it does.
export ORDO_CALLERS_FOLDER="$PWD"
cd "$0.runfiles/ordo" || exit 1
exec env PYTHONPATH=. /usr/bin/python3 -B tests/images/image_figures.py "$@"
