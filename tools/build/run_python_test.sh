#!/bin/sh
# Runs one unittest file of an ordo_py_test.
exec env PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 python3 "$@"
