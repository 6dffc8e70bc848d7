#!/usr/bin/env bash
# Test of tools/bench with what it calls replaced: a fake Bazel that writes down
# its arguments and leaves a benchmark that does the same.
set -uo pipefail

root=$(mktemp -d "$TEST_TMPDIR/checkout.XXXX")
mkdir -p "$root/tools/build" "$root/bin" "$root/home" "$root/tests/bench"
echo 'submit  a benchmark' >"$root/tests/bench/benchmarks.txt"
echo 'attention  a program' >"$root/tests/bench/programs.txt"
cp tools/bench "$root/tools/"
cp tools/build/env.sh "$root/tools/build/"

# program PATH: the script on standard input.
program() {
  mkdir -p "$(dirname "$1")"
  { printf '#!/bin/bash\n' && cat; } >"$1"
  chmod +x "$1"
}
program "$root/tools/setup" <<<''
program "$root/bin/getent" <<<"echo 'x:x:0:0:x:$root/home:/bin/sh'"
program "$root/bin/bazel" <<END
printf '%s in %s with HOME=%s\n' "\$*" "\$PWD" "\$HOME" >"$root/bazel.txt"
END
program "$root/bazel-bin/tests/bench/bench" <<END
printf '%s in %s\n' "\$*" "\$PWD" >"$root/bench.txt"
ls "\$ORDO_BIN" >>"$root/bench.txt"
END

for name in encodings attention update step cluster images; do
  program "$root/bazel-bin/tests/bench/$name" <<END
printf '%s\n' "$name \$* in \$PWD"
END
done

# As under a service manager, which sets no HOME; from another folder.
mkdir "$root/elsewhere"
cd "$root/elsewhere" || exit 1
env -u HOME -u ORDO_DEPS PATH="$root/bin:$PATH" "$root/tools/bench" submit \
  --json out.json || {
  echo "FAILED: tools/bench ended with $?"
  exit 1
}

failures=0
# expect NAME FILE PATTERN: what the file must hold.
expect() {
  if [[ ! $(<"$2") =~ $3 ]]; then
    printf 'FAILED %s; wanted /%s/ in:\n%s\n' "$1" "$3" "$(<"$2")"
    failures=$((failures + 1))
  else
    printf 'ok %s\n' "$1"
  fi
}
expect BuildsWithTheSharedCache "$root/bazel.txt" \
  "^build --disk_cache=$root/home/.cache/ordo/build-cache .*//tests/bench:bench"
expect BuildsInTheCheckoutWithAHome "$root/bazel.txt" \
  " in $root with HOME=$root/home$"
expect RunsWhereTheCallerIs "$root/bench.txt" \
  "^--dir $root/home/.cache/ordo/bench submit --json out.json in $root/elsewhere"
expect SeesAllPrograms "$root/bench.txt" \
  $'\nfake_trainer\nnoop_trainer\nordo\nordo-scheduler\nordo-supervisor\nordo-trainer\nordo-worker$'

rm "$root/bazel.txt"
PATH="$root/bin:$PATH" "$root/tools/bench" --list >"$root/list.txt"
expect ListsThemAll "$root/list.txt" \
  $'^submit  a benchmark\nattention  a program$'
if [[ -e $root/bazel.txt ]]; then
  echo 'FAILED ListsWithoutABuild'
  failures=$((failures + 1))
fi
# refuse NAME PATTERN ARGUMENT...: what a mistake is answered with, before
# anything is built for it.
refuse() {
  PATH="$root/bin:$PATH" "$root/tools/bench" "${@:3}" 2>"$root/refused.txt" &&
    echo 'no failure' >"$root/refused.txt"
  expect "$1" "$root/refused.txt" "$2"
  if [[ -e $root/bazel.txt ]]; then
    echo "FAILED $1: it built something"
    failures=$((failures + 1))
    rm "$root/bazel.txt"
  fi
}
refuse NamesWhatThereIs \
  "'submitt' is none of: control submit attention --encodings; " submitt
refuse NamesWhatThereIsAfterFlags "'x' is none of: " submit --json y --quick x
refuse RefusesAProgramAmongNames "'attention' stands first" submit attention
refuse WantsAPath "--json needs a path" submit --json
PATH="$root/bin:$PATH" "$root/tools/bench" --help >"$root/help.txt"
expect HelpsWithoutABuild "$root/help.txt" \
  $'^Measures Ordo.*\n  tools/bench --encodings .*beside the builds.$'
if [[ -e $root/bazel.txt ]]; then
  echo 'FAILED HelpsWithoutABuild'
  failures=$((failures + 1))
fi
PATH="$root/bin:$PATH" "$root/tools/bench" --encodings --quick \
  >"$root/table.txt"
expect BuildsOnlyTheBenchmarkOfEncodings "$root/bazel.txt" \
  ' //tests/bench:encodings in '
expect PrintsTheTableOfEncodings "$root/table.txt" \
  "^encodings --quick in $root/elsewhere\$"
PATH="$root/bin:$PATH" "$root/tools/bench" attention --json out.json \
  >"$root/table.txt"
expect BuildsOnlyTheBenchmarkOfAttention "$root/bazel.txt" \
  ' //tests/bench:attention in '
expect PrintsTheTableOfAttention "$root/table.txt" \
  "^attention --json out.json in $root/elsewhere\$"
PATH="$root/bin:$PATH" "$root/tools/bench" step --quick >"$root/table.txt"
expect BuildsOnlyTheBenchmarkOfSteps "$root/bazel.txt" \
  ' //tests/bench:step in '
expect PrintsTheTableOfSteps "$root/table.txt" \
  "^step --quick in $root/elsewhere\$"
for name in cluster images; do
  PATH="$root/bin:$PATH" "$root/tools/bench" "$name" --quick >"$root/table.txt"
  expect "BuildsOnlyTheBenchmarkOf_$name" "$root/bazel.txt" \
    " //tests/bench:$name in "
  expect "PrintsTheTableOf_$name" "$root/table.txt" \
    "^$name --quick in $root/elsewhere\$"
done

[[ $failures == 0 ]]
