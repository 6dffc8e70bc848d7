#!/usr/bin/env bash
# The programs beside ordo say how to call them and which build they are, and
# end with 0 then; a flag that they do not know is named, and ends with 2.
set -uo pipefail

failures=0
# expect STATUS PATTERN PROGRAM ARGUMENT...: on stdout with status 0, else on
# stderr, and nothing on the other.
expect() {
  local wanted=$1 pattern=$2 status output other
  shift 2
  "./$1" "${@:2}" >"$TEST_TMPDIR/out" 2>"$TEST_TMPDIR/err"
  status=$?
  output=$(<"$TEST_TMPDIR/out") other=$(<"$TEST_TMPDIR/err")
  [[ $wanted == 0 ]] || { local swap=$output; output=$other; other=$swap; }
  if [[ $status != "$wanted" || ! $output =~ $pattern || -n $other ]]; then
    printf 'FAILED %s; status %s, wanted /%s/ in:\n%s\nbeside:\n%s\n' "$*" \
      "$status" "$pattern" "$output" "$other"
    failures=$((failures + 1))
  fi
}

for program in ordo-scheduler ordo-worker ordo-supervisor ordo-trainer; do
  expect 0 "$program " "$program" --help
  expect 0 "^$program, build" "$program" --version
  expect 2 "^$program: .*--bogus" "$program" --bogus
  expect 2 "^$program: .*--bogus" "$program" --bogus=1
done
for program in ordo-scheduler ordo-worker ordo-trainer; do
  digest=$(sha256sum "$program")
  expect 0 "^$program, build ${digest%% *}\$" "$program" --version
  expect 2 'see:? ' "$program" --bogus
done
for program in ordo-scheduler ordo-worker; do
  expect 2 '--config needs a value' "$program" --config
  expect 2 'unexpected argument word' "$program" word
done
[[ $failures == 0 ]]
