#!/bin/sh
# Runs one unittest file of an ordo_py_test, by the Python that has the packages
# of packages.txt. It says why it skips what it skips; count_tests.py reads that.
exec env PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@" -v
