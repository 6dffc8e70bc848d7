#!/usr/bin/env bash
# Writes docs/encodings.md; run it as `bazel run //tools/encodings_page`.
set -euo pipefail
"$1" >"$BUILD_WORKSPACE_DIRECTORY/docs/encodings.md"
