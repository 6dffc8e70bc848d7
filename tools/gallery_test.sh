#!/usr/bin/env bash
# Test of tools/gallery with `ordo` replaced.
set -uo pipefail

root=$(mktemp -d "$TEST_TMPDIR/checkout.XXXX")
mkdir -p "$root/tools/build" "$root/bin" "$root/home"
cp tools/gallery "$root/tools/"
cp tools/build/env.sh "$root/tools/build/"

# Two comparisons and a job with a report of its own.
{ printf '#!/bin/bash\n' && cat; } >"$root/bin/ordo" <<'END'
case "$1 $2" in
  "get jobs/c1/reports/comparison" | "get jobs/c2/reports/comparison")
    for figure in difference-1 cost-1 cost-1-flops; do
      echo "$2 $figure" >"$4/$figure.svg"
      echo "png" >"$4/$figure.png"
    done ;;
  "report one")
    for figure in one one-inside-map-1 one-position-similarity-map-1 \
      learning-curves else; do
      echo "one $figure" >"${4%.html}-$figure.svg"
      echo "png" >"${4%.html}-$figure.png"
    done
    echo page >"$4" ;;
  *)
    echo "no such thing"
    exit 1 ;;
esac
END
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

output=$(gallery) && failed "without a job it ends well"
[[ $output == *"usage: tools/gallery JOB..."* ]] || failed "usage: $output"
output=$(gallery gone) && failed "an unknown job ends well"
[[ $output == *"ordo report gone: no such thing"* ]] || failed "gone: $output"

output=$(gallery c1 one c2) || failed "status $?: $output"
[[ $output == *"wrote 6 figures"* ]] || failed "number: $output"
have=$(cd "$root/docs/gallery" && echo *.svg)
[[ $have == "addition-heat-map.svg attention-map.svg comparison-forest.svg cost-against-quality.svg learning-curves.svg position-similarity-map.svg" ]] ||
  failed "figures: $have"
[[ $(<"$root/docs/gallery/comparison-forest.svg") == "jobs/c1/reports/comparison difference-1" ]] ||
  failed "the first job gives a figure"
[[ -e $root/docs/gallery/attention-map.png ]] || failed "PNG"
readme=$(<"$root/docs/gallery/README.md")
[[ $readme == *$'## attention map\n\n![attention map](attention-map.svg)\n\n    ordo report one'* ]] ||
  failed "README.md: $readme"

[[ $failures == 0 ]]
