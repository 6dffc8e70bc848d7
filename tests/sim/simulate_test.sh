#!/usr/bin/env bash
# The command line of simulate: what is wrong is named with what to give, and
# ends with status 2.
set -uo pipefail

failures=0
# expect NAME STATUS PATTERN ARGUMENT...: what the program says, on both streams.
expect() {
  local name=$1 wanted=$2 pattern=$3 output status
  shift 3
  output=$(tests/sim/simulate "$@" 2>&1)
  status=$?
  if [[ $status != "$wanted" || ! $output =~ $pattern ]]; then
    printf 'FAILED %s; status %s, wanted /%s/ in:\n%s\n' "$name" "$status" \
      "$pattern" "$output"
    failures=$((failures + 1))
  fi
}

expect HelpIsNoError 0 '^usage: tools/simulate \[--seeds N\]' --help
expect HelpIsGivenAnywhere 0 '^usage: ' --seeds 3 -h
for value in x 0 -1 1.5 '' 99999999999999999999; do
  expect "NumbersAreWhole:$value" 2 \
    "^simulate: --seeds is '$value'; give a whole number from 1 " \
    --seeds "$value"
done
expect AllNumbersAreChecked 2 "^simulate: --first-seed is '0'; " --first-seed 0
expect AValueIsNeeded 2 '^simulate: --seeds needs a value' --verbose --seeds
expect AnUnknownFlagIsNamed 2 \
  "^simulate: unknown argument '--sedes'; did you mean '--seeds'\?" --sedes 3
expect AScenarioThatIsNotThereIsNamed 2 'simulate: .*none.textproto' \
  --scenario none.textproto
expect GoodOnesRun 0 '^1 seeds, [0-9]+ events, 0 failed$' \
  --seeds 1 --first-seed 2
[[ $failures == 0 ]]
