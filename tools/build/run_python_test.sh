#!/bin/sh
# Runs one unittest file of an ordo_py_test, by the Python that has the packages
# of packages.txt.
exec env PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"
