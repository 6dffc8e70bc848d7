#!/usr/bin/env bash
# Test of tools/simulate with what it calls replaced: help needs no build, and
# all else is the program's to judge.
set -uo pipefail

root=$(mktemp -d "$TEST_TMPDIR/checkout.XXXX")
mkdir -p "$root/tools/build" "$root/bin" "$root/home" \
  "$root/bazel-bin/tests/sim"
cp tools/simulate "$root/tools/"
cp tools/build/env.sh "$root/tools/build/"

# program PATH: the script on standard input.
program() {
  { printf '#!/bin/bash\n' && cat; } >"$1"
  chmod +x "$1"
}
program "$root/tools/setup" <<<''
program "$root/bin/bazel" <<<"touch '$root/built'"
program "$root/bazel-bin/tests/sim/simulate" <<<'echo "ran with $*"; exit 2'

failures=0
# expect NAME STATUS PATTERN ARGUMENT...
expect() {
  local name=$1 wanted=$2 pattern=$3 output status
  shift 3
  output=$(HOME=$root/home ORDO_DEPS=$root/deps PATH="$root/bin:$PATH" \
    "$root/tools/simulate" "$@" 2>&1)
  status=$?
  if [[ $status != "$wanted" || ! $output =~ $pattern ]]; then
    printf 'FAILED %s; status %s, wanted /%s/ in:\n%s\n' "$name" "$status" \
      "$pattern" "$output"
    failures=$((failures + 1))
  fi
}

expect HelpIsItsHead 0 'tools/simulate \[--seeds N\].*tools/simulate --scale' \
  --help
if [[ -e $root/built ]]; then
  echo 'FAILED HelpNeedsNoBuild'
  failures=$((failures + 1))
fi
expect TheRestIsTheProgramsToJudge 2 'ran with --seeds x' --seeds x
[[ $failures == 0 ]]
