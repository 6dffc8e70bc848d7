#!/usr/bin/env bash
# Test of the benchmarks of training steps: a short step of each encoding, and
# those of one model.
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

# Under the reference itself the model is as large, and the ratio's lines are
# there; the last encoding of a list counts too.
step=(env OMP_NUM_THREADS=1 tests/bench/step --quick)
"${step[@]}" --encodings rope,learned --json "$TEST_TMPDIR/json" \
  --plots "$TEST_TMPDIR/plots" >"$table" || {
  echo "FAILED: tests/bench/step ended with $?"
  exit 1
}
for encoding in rope learned; do
  for metric in step_seconds token_rate flop_rate peak_bytes step_ratio; do
    grep -qE "^\{\"benchmark\":\"step\",.*\"metric\":\"$metric\",.*\"N\":\"32\",.*\"encoding\":\"$encoding\",\"model\":\"tiny\"," \
      "$TEST_TMPDIR/json" && grep -q "step *$metric .*encoding=$encoding" \
      "$table" && continue
    echo "FAILED: no $metric of $encoding:"
    cat "$TEST_TMPDIR/json" "$table"
    exit 1
  done
done
for form in svg png; do
  [[ -s $TEST_TMPDIR/plots/step_ratio.$form ]] || {
    echo "FAILED: no figure step_ratio.$form"
    exit 1
  }
done
# Plain operations, beside the same encoding's kernel.
"${step[@]}" --plain --encodings t5 --json "$TEST_TMPDIR/plain" >"$table" &&
  grep -qE '"metric":"plain_ratio",.*"encoding":"t5",.*"kernel":"reference",' \
    "$TEST_TMPDIR/plain" || {
  echo "FAILED: no plain_ratio of t5:"
  cat "$TEST_TMPDIR/plain" "$table"
  exit 1
}
# refuse MESSAGE ARGUMENT...: what a mistake is answered with.
refuse() {
  local output
  output=$("${step[@]}" "${@:2}" 2>&1)
  [[ $? == 2 && $output == *"$1"* ]] && return
  echo "FAILED: ${*:2} gave: $output"
  exit 1
}
refuse "'rop' is not an encoding" --encodings rop
refuse "model.preset" --model smal
refuse "--tokens: '0' is not a number in 1..65536" --tokens 0
refuse "unknown flag '--token'" --token 1
refuse "--json: no file can be written there" --json /proc/none/figures
# Help is an answer.
for program in step encodings; do
  "tests/bench/$program" --help | grep -q -- '^  --quick  *[a-z]' || {
    echo "FAILED: $program --help does not name --quick"
    exit 1
  }
done
exit 0
