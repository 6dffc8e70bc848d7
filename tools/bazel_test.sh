#!/usr/bin/env bash
# Test of tools/bazel with a program in Bazel's place that prints its arguments.
set -uo pipefail

root=$(mktemp -d "$TEST_TMPDIR/checkout.XXXX")
mkdir -p "$root/tools/build" "$root/home"
cp tools/bazel "$root/tools/"
cp tools/build/env.sh "$root/tools/build/"
printf '#!/bin/bash\nprintf "<%%s>" "$@"\n' >"$root/real"
chmod +x "$root/real"

failures=0
# expect NAME OUTPUT ARGUMENT...
expect() {
  local name=$1 wanted=$2 output
  shift 2
  output=$(HOME=$root/home ORDO_DEPS=$root/deps BAZEL_REAL=$root/real \
    "$root/tools/bazel" "$@" 2>&1)
  if [[ $output == "$wanted" ]]; then
    printf 'ok %s\n' "$name"
  else
    printf 'FAILED %s: %s, wanted %s\n' "$name" "$output" "$wanted"
    failures=$((failures + 1))
  fi
}

cache="<--disk_cache=$root/deps/build-cache>"
expect BuildsWithTheSharedCache "<build>$cache<//:all>" build //:all
expect StartupOptionsStayBeforeTheCommand \
  "<--output_base=/x><test>$cache<-k><//a b/...>" \
  --output_base=/x test -k '//a b/...'
expect ACacheThatIsNamedComesLastAndCounts \
  "<run>$cache<--disk_cache=mine><//a><--><build>" \
  run --disk_cache=mine //a -- build
expect OtherCommandsAreAsTheyWere "<query><//...>" query //...

[[ $failures == 0 ]]
