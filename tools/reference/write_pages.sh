#!/usr/bin/env bash
# Writes the reference pages of docs/; run it as `bazel run //tools/reference`.
set -euo pipefail
ordo=$(realpath "$1")
cd "$BUILD_WORKSPACE_DIRECTORY"
PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 exec \
  python3 tools/reference/write_pages.py "$ordo"
