#!/usr/bin/env bash
# tools/quickstart itself, with the real programs and two small jobs: what it
# prints, what it leaves, and that its own words stop it.
set -uo pipefail

readonly ROOT=$PWD
readonly FOLDER=$TEST_TMPDIR/quickstart
export HOME=$TEST_TMPDIR
failures=0

# Ends what a failure left; the real instructions are tried below.
trap '"$ROOT/ordo" down --dir "$FOLDER" >/dev/null 2>&1' EXIT

failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}

# expect NAME PATTERN: what the output must hold.
expect() {
  if [[ $output =~ $2 ]]; then
    printf 'ok %s\n' "$1"
  else
    failed "$1: wanted /$2/ in:"$'\n'"$output"
  fi
}

# The examples themselves, made small.
mkdir "$TEST_TMPDIR/examples"
for job in addition-tape addition-rope; do
  sed -e 's/layers: 4, width: 128, heads: 4/layers: 1, width: 16, heads: 2/' \
    -e 's/steps: 1000, batch_size: 64/steps: 12, batch_size: 8/' \
    -e 's/every_steps: 200/every_steps: 5/' \
    -e 's/addition, params: {max_digits: 3}/addition, params: {max_digits: 2}/' \
    -e 's/max_digits: 6, samples: 20/max_digits: 3, samples: 2/' \
    "examples/$job.yaml" >"$TEST_TMPDIR/examples/$job.yaml"
  [[ $(grep -c 'steps: 12,\|width: 16\|digits: 2}\|samples: 2}' \
    "$TEST_TMPDIR/examples/$job.yaml") == 4 ]] ||
    failed "examples/$job.yaml is not what this test makes small"
done

output=$(tools/quickstart --help 2>&1)
expect OptionsAreRefused 'usage: tools/quickstart \[FOLDER\]'
mkdir "$TEST_TMPDIR/full"
touch "$TEST_TMPDIR/full/file"
output=$(tools/quickstart "$TEST_TMPDIR/full" 2>&1)
expect FolderInUseIsRefused 'full is not empty: name a folder that is new'

output=$(ORDO_BIN=$ROOT ORDO_EXAMPLES=$TEST_TMPDIR/examples \
  tools/quickstart "$FOLDER" 2>&1)
status=$?
[[ $status == 0 ]] || failed "EndsWell: status $status"$'\n'"$output"

expect ShowsWhatHappens \
  $'\naddition-rope QUEUED .*\naddition-tape SUCCEEDED .*\naddition-rope RUNNING '
for job in addition-tape addition-rope; do
  expect "TableHasErrorsOf_$job" \
    $'\n'"$job +12( +[0-9.]+ % \\[[0-9.]+, [0-9.]+\\]){4} "
done
expect SaysWhereTheReportLies \
  $'\n'"The report, with its heat maps: $FOLDER/report.html"
expect SaysHowToLookFurther "export PATH=$ROOT:.*ordo logs addition-tape"

page=$(<"$FOLDER/report.html") || failed ReportIsThere
[[ $(grep -o '<svg' <<<"$page" | wc -l) == 4 ]] || failed PageHasFourFigures
! grep -Eq '(src|href)="?http|<script src' <<<"$page" || failed PageNeedsNothing
for figure in addition-tape addition-rope equal-lengths learning-curves; do
  # The signature of PNG.
  [[ $(head -c 8 "$FOLDER/report-$figure.png" | od -An -tx1) == \
    ' 89 50 4e 47 0d 0a 1a 0a' ]] || failed "PngBesideThePage_$figure"
done

# What it says, done.
export_line=$(grep -o 'export PATH=.*' <<<"$output")
stop_line=$(sed -n 's/^To stop: //p' <<<"$output")
[[ -n $stop_line ]] || failed SaysHowToStop
look=$(eval "$export_line" && ordo show addition-tape 2>&1) ||
  failed "HowToLookFurther: $look"
stop=$(eval "$export_line" && eval "$stop_line" 2>&1) ||
  failed "HowToStop: $stop"
left=$(pgrep -fa -- "$FOLDER")
[[ -z $left ]] || failed "NothingIsLeftRunning: $left"

[[ $failures == 0 ]]
