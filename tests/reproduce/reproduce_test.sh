#!/usr/bin/env bash
# tools/reproduce itself, with the real programs and one recipe made small: what
# it refuses, what it writes, and that it leaves nothing running.
set -uo pipefail

readonly ROOT=$PWD
readonly FOLDER=$TEST_TMPDIR/reproduce
export HOME=$TEST_TMPDIR
failures=0

# Ends what a failure left; the script does it itself.
trap '"$ROOT/ordo" down --dir "$FOLDER" >/dev/null 2>&1' EXIT

failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}

# expect NAME PATTERN TEXT: what the text must hold.
expect() {
  if [[ $3 =~ $2 ]]; then
    printf 'ok %s\n' "$1"
  else
    failed "$1: wanted /$2/ in:"$'\n'"$3"
  fi
}

# The recipe itself, made small: two arms, one seed, five steps.
readonly RECIPE=model/recipes/small/flip-flop.yaml
mkdir "$TEST_TMPDIR/recipes" "$TEST_TMPDIR/none" "$TEST_TMPDIR/full"
sed -e 's/layers: 2, width: 64, heads: 2/layers: 1, width: 16, heads: 2/' \
  -e 's/pairs: 32/pairs: 8/' \
  -e 's/steps: 2000, batch_size: 16/steps: 5, batch_size: 4/' \
  -e 's/samples: 500/samples: 4/' \
  -e '/^    - {name: \(none\|absolute\|cope\|tape\)[,}]/d' \
  -e 's/seeds: \[1, 2, 3\]/seeds: [1]/' \
  "$RECIPE" >"$TEST_TMPDIR/recipes/flip-flop.yaml"
[[ $(grep -c -e 'width: 16\|steps: 5,\|samples: 4}' \
  -e 'name: rope\|name: alibi\|\[1\]' \
  "$TEST_TMPDIR/recipes/flip-flop.yaml") == 8 &&
  $(grep -c '^    - {name:' "$TEST_TMPDIR/recipes/flip-flop.yaml") == 2 ]] ||
  failed "$RECIPE is not what this test makes small"

# reproduce RECIPES ARGUMENT...: what the script says, with these recipes.
reproduce() {
  local recipes=$1
  shift
  ORDO_BIN=$ROOT ORDO_RECIPES=$recipes tools/reproduce "$@" 2>&1
}

output=$(reproduce "$TEST_TMPDIR/recipes" large)
expect OtherSizesAreRefused 'usage: tools/reproduce small \[FOLDER\]' "$output"
touch "$TEST_TMPDIR/full/file"
output=$(reproduce "$TEST_TMPDIR/recipes" small "$TEST_TMPDIR/full")
expect FolderInUseIsRefused 'full is not empty: name a folder that is new' \
  "$output"
output=$(reproduce "$TEST_TMPDIR/none" small "$FOLDER")
expect NoRecipesAreNamed 'there is no recipe in .*none' "$output"

output=$(reproduce "$TEST_TMPDIR/recipes" small "$FOLDER")
status=$?
[[ $status == 0 ]] || failed "EndsWell: status $status"$'\n'"$output"
expect SaysWhereTheReportLies \
  "The report: $FOLDER/reproduced/report\.md, with a folder" "$output"

report=$(<"$FOLDER/reproduced/report.md") || failed ReportIsThere
expect ReportHasATitle '^# Small versions of published comparisons' "$report"
expect ReportSaysHowItWasMade 'on [0-9]+ cores by .tools/reproduce small' \
  "$report"
expect ReportHasTheComparison $'\n''## comparison small-flip-flop'$'\n' \
  "$report"
expect ItIsControlled 'Controlled: for each seed' "$report"
for evaluation in in-distribution sparse dense; do
  expect "TableHas_$evaluation" "$evaluation" "$report"
done
page=$(<"$FOLDER/reproduced/small-flip-flop/report.html") || failed PageIsThere
[[ $page == *'<svg'* ]] || failed PageHasFigures
figure=$(sed -n 's/^!\[.*](\(.*\))\\$/\1/p' "$FOLDER/reproduced/report.md" |
  head -1)
[[ $figure == small-flip-flop/* && -s $FOLDER/reproduced/$figure ]] ||
  failed "FiguresOfTheReportAreThere: $figure"

left=$(pgrep -fa -- "$FOLDER")
[[ -z $left ]] || failed "NothingIsLeftRunning: $left"

[[ $failures == 0 ]]
