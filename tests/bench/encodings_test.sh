#!/usr/bin/env bash
# Test of the benchmark of encodings: a short step of each.
set -uo pipefail

table="$TEST_TMPDIR/table"
OMP_NUM_THREADS=1 tests/bench/encodings --quick >"$table" || {
  echo "FAILED: it ended with $?"
  exit 1
}
# One row for each section of the page of encodings, all of it figures.
number=' [0-9]+\.[0-9][0-9] \|'
rows=$(sed -nE "s/^\| ([a-z0-9_]+) \|($number){4}$/\1/p" "$table")
[[ $rows == "$(sed -n 's/^## //p' docs/encodings.md)" ]] || {
  echo "FAILED: not a row of figures for each encoding:"
  cat "$table"
  exit 1
}
# Memory is counted: the reference takes what it takes, and tables take more.
grep -qE '^\| rope \|.*\| 1\.00 \| 1\.00 \|$' "$table" || {
  echo "FAILED: rope does not take the memory of rope:"
  cat "$table"
  exit 1
}
grep -qE '^\| (learned|tape) \|.*\| 1\.00 \|$' "$table" && {
  echo "FAILED: a table or a state takes no memory:"
  cat "$table"
  exit 1
}
exit 0
