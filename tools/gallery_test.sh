#!/usr/bin/env bash
# Test of tools/gallery with `ordo` replaced.
set -uo pipefail

root=$(mktemp -d "$TEST_TMPDIR/checkout.XXXX") || exit 1
mkdir -p "$root/tools/build" "$root/bin" "$root/home" "$root/examples" \
  "$root/model/recipes/small"
cp tools/gallery "$root/tools/"
cp tools/build/env.sh "$root/tools/build/"
printf 'kind: pipeline\nname: whole\nstages:\n- name: one\n' \
  >"$root/model/recipes/small/whole.yaml"
printf 'kind: compare\nname: c1\n' >"$root/examples/first.yaml"

# Two comparisons, a part of a pipeline, a gate, and a job that runs.
{ printf '#!/bin/bash\n' && cat; } >"$root/bin/ordo" <<'END2'
page=${4:-}
# figure NAME CAPTION: as the page of a job has it.
figure() {
  echo "$job $1" >"${page%.html}-$1.svg"
  echo "png" >"${page%.html}-$1.png"
  [[ -z $2 ]] || printf '![%s](page-%s.svg)\\\n%s\n\n' "${2//]/\\]}" "$1" "$2" \
    >>"${page%.html}.md"
}
job=$2
case "$1 $2" in
  "report c1" | "report c2")
    printf '# comparison\n\n| a | b |\n\n' >"${page%.html}.md"
    figure difference-1 "Each arm less [rope]."
    figure cost-1 "Against cost."
    figure lengths-1 "copies: error against length, means. Trained on up to 3."
    figure lengths-2 "grid: error against digits. Trained on 3: the dashed line."
    figure cost-1-flops "Against work." ;;
  "report one")
    figure one "Sums."
    figure one-tape-map-1 "Of tape."
    figure one-tape-position-similarity-map-1 "Cosine."
    figure one-ablation-map-1 "Of the ablation."
    figure learning-curves "Loss."
    figure else "Nothing." ;;
  "report gated")
    figure difference ""
    echo "# gate" >"${page%.html}.md"
    echo "<svg/><figcaption>Each &lt;comparison&gt;.</figcaption>" >"$page" ;;
  "report empty") echo "# nothing" | tee "${page%.html}.md" >"$page" ;;
  "show one") echo '{"name":"jobs/one","parent":"jobs/whole"}' ;;
  "show "*) echo "{\"name\":\"jobs/$2\"}" ;;
  "list jobs")
    [[ "$*" != *"--parent whole "* ]] ||
      printf '%s\n' '["my-text@0123456789abcdef"]' '["my-text@0123456789abcdef"]' ;;
  "watch runs")
    [[ -t 1 ]] || exit 1
    printf '\r%s\e[K\n' "runs  [#...]" "  loss"
    printf '\e[2A\r%s\e[K\n' "runs  [##..]"
    printf '\r%s\e[K\n' "  loss $(stty size)" ;;
  *)
    echo "no such thing"
    exit 1 ;;
esac
END2
chmod +x "$root/bin/ordo"

failures=0
failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}
gallery() {
  HOME=$root/home ORDO_DEPS=$root/deps ORDO_BIN=$root/bin \
    "$root/tools/gallery" "$@" 2>&1
}
there() {
  (cd "$root/docs/gallery" && echo *.svg)
}
# section NAME: its part of README.md.
section() {
  sed -n "/^## $1\$/,/^## /p" "$root/docs/gallery/README.md" | sed '1d;/^## /d'
}

output=$(gallery) && failed "without a job it ends well"
[[ $output == *"usage: tools/gallery [--watch] JOB..."* ]] ||
  failed "usage: $output"
output=$(gallery gone) && failed "an unknown job ends well"
[[ $output == *"ordo report gone: no such thing"* ]] || failed "gone: $output"
output=$(gallery empty) && failed "a job without figures ends well"
[[ $output == *"none of these jobs has a figure"* ]] || failed "empty: $output"

output=$(gallery c1 one c2 gated) || failed "status $?: $output"
[[ $output == *"wrote 9 figures"* ]] || failed "number: $output"
have=$(there)
[[ $have == "addition-heat-map.svg attention-map.svg comparison-forest.svg cost-against-quality.svg error-against-length.svg error-by-number.svg gate.svg learning-curves.svg position-similarity-map.svg" ]] ||
  failed "figures: $have"
[[ $(<"$root/docs/gallery/comparison-forest.svg") == "c1 difference-1" ]] ||
  failed "the first job gives a figure"
[[ $(<"$root/docs/gallery/attention-map.svg") == "one one-tape-map-1" ]] ||
  failed "the first of the page is taken"
[[ -e $root/docs/gallery/attention-map.png ]] || failed "PNG"

# Only one has a trained length that is marked.
[[ $(<"$root/docs/gallery/error-against-length.svg") == "c1 lengths-2" ]] ||
  failed "error against length: $(<"$root/docs/gallery/error-against-length.svg")"
[[ $(<"$root/docs/gallery/error-by-number.svg") == "c1 lengths-1" ]] ||
  failed "error by number: $(<"$root/docs/gallery/error-by-number.svg")"

text=$(section "comparison forest")
[[ $text == $'\n![comparison forest](comparison-forest.svg)\n\nEach arm less [rope].\n\n    ordo submit examples/first.yaml\n    ordo report c1    # report-difference-1.svg' ]] ||
  failed "of a comparison: $text"
text=$(section "attention map")
[[ $text == *$'\n\nOf tape.\n\n    ordo submit model/recipes/small/whole.yaml\n    ordo report one    # report-one-tape-map-1.svg\n\nData: `my-text@0123456789abcdef`' ]] ||
  failed "of a part of a pipeline: $text"
text=$(section gate)
[[ $text == *$'\n\nEach &lt;comparison&gt;.\n\n    ordo report gated    # report-difference.svg' ]] ||
  failed "of a gate: $text"

output=$(gallery --watch gone) && failed "watching an unknown job ends well"
[[ $output == *"ordo watch gone: no such thing"* ]] || failed "watch: $output"
output=$(gallery --watch runs) || failed "watch: status $?: $output"
text=$(section "ordo watch")
[[ $text == $'\n```\n$ ordo watch runs\nruns  [##..]\n  loss 24 100\n```' ]] ||
  failed "watch: $text"
[[ $(there) == "$have" ]] || failed "watching leaves the figures"
[[ $(section "attention map") == *"Of tape."* ]] || failed "their parts stay"

[[ $failures == 0 ]]
