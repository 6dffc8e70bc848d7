#!/usr/bin/env bash
# The format check of tools/test: every C++ file and proto of this checkout,
# changed and new ones too, but nothing that git ignores.
set -euo pipefail
# shellcheck source=tools/build/env.sh
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

cd "$ORDO_ROOT"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
git ls-files -z --cached --others --exclude-standard -- \
  '*.cc' '*.h' '*.cu' '*.cuh' '*.proto' >"$list" ||
  fail "git cannot say which files are the project's (see above)"
files=()
while IFS= read -r -d '' file; do
  # Deleted ones are listed until the deletion is committed.
  [[ ! -e $file ]] || files+=("$file")
done <"$list"
# A check that looked at nothing has not passed.
[[ ${#files[@]} != 0 ]] ||
  fail "no source files found: is $ORDO_ROOT a git checkout?"
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$(nproc)" -n 20 clang-format-14 --dry-run -Werror ||
  fail "run clang-format-14 -i on the files named above"
