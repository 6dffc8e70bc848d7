#!/usr/bin/env bash
# Test of tools/fuzz with what it calls replaced: a fake Bazel, and targets one of
# which finds something.
set -uo pipefail

root=$(mktemp -d "$TEST_TMPDIR/checkout.XXXX")
mkdir -p "$root/tools/build" "$root/bin" "$root/home" "$root/elsewhere" \
  "$root"/tests/fuzz/corpus/{good,bad}
cp tools/fuzz "$root/tools/"
cp tools/build/env.sh "$root/tools/build/"

# program PATH: the script on standard input.
program() {
  mkdir -p "$(dirname "$1")"
  { printf '#!/bin/bash\n' && cat; } >"$1"
  chmod +x "$1"
}
program "$root/tools/setup" <<<''
program "$root/bin/bazel" <<END
if [[ \$1 == info ]]; then echo "$root/out"; else echo "\$*" >"$root/bazel.txt"; fi
END
program "$root/out/tests/fuzz/good" <<<'echo "ran with $*"'
program "$root/out/tests/fuzz/bad" <<'END'
for argument in "$@"; do
  [[ $argument == -artifact_prefix=* ]] && touch "${argument#*=}crash-0a"
done
exit 77
END

failures=0
# run ARGUMENT...: its output in $output, its status in $status.
run() {
  output=$(cd "$root/elsewhere" && HOME=$root/home ORDO_DEPS=$root/deps \
    PATH="$root/bin:$PATH" "$root/tools/fuzz" "$@" 2>&1)
  status=$?
}
# expect NAME STATUS PATTERN: of the last run.
expect() {
  if [[ $status != "$2" || ! $output =~ $3 ]]; then
    printf 'FAILED %s; status %s, wanted /%s/ in:\n%s\n' "$1" "$status" "$3" \
      "$output"
    failures=$((failures + 1))
  else
    printf 'ok %s\n' "$1"
  fi
}

run --seconds 5 good
expect BeginsWithTheCorpus 0 \
  "ran with -max_total_time=5 .* $root/tests/fuzz/corpus/good"
[[ $(<"$root/bazel.txt") =~ ^build\ .*--config=fuzz\ //tests/fuzz:good$ ]] || {
  printf 'FAILED BuildsForIt: %s\n' "$(<"$root/bazel.txt")"
  failures=$((failures + 1))
}
run
expect RunsAllAndFailsWithOne 1 "== bad, 60 s.*== good, 60 s"
expect SaysHowToRunAnInputAgain 1 \
  "once more: $root/out/tests/fuzz/bad $root/elsewhere/bad.crash-0a"
[[ $(grep -c '^==' <<<"$output") == 2 && $output =~ "== good, 60 s"$'\n'"ran with" ]] || {
  printf 'FAILED TellsATargetTogether: %s\n' "$output"
  failures=$((failures + 1))
}
run nothing
expect NamesTheTargetsThereAre 1 'unknown target nothing; there are: bad good'
run --seconds soon
expect WantsANumber 1 'seconds needs a number'

mkdir "$root/tests/fuzz/corpus/slow"
mkfifo "$root/started"
program "$root/out/tests/fuzz/slow" <<END
echo \$\$ >"$root/started"
exec sleep 600
END
# The first has ended when the other is interrupted.
(cd "$root/elsewhere" && HOME=$root/home ORDO_DEPS=$root/deps \
  PATH="$root/bin:$PATH" exec "$root/tools/fuzz" good slow >/dev/null 2>&1) &
script=$!
read -r target <"$root/started"
kill "$script"
wait "$script"
status=$?
output=$(timeout 20 tail --pid="$target" -f /dev/null && echo gone)
expect AnInterruptEndsWhatRuns 130 '^gone$'

[[ $failures == 0 ]]
