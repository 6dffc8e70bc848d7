#!/usr/bin/env bash
# Writes docs/metrics.md; run it as `bazel run //tools/metrics_page`.
set -euo pipefail
"$1" >"$BUILD_WORKSPACE_DIRECTORY/docs/metrics.md"
