#!/usr/bin/env bash
# Tests of check_format.sh on a small checkout of its own.
set -uo pipefail

readonly SCRIPTS="$PWD/tools/build"
export HOME=$TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
failures=0

# A checkout with one well-formatted file, in the current folder.
new_checkout() {
  cd "$(mktemp -d "$TEST_TMPDIR/checkout.XXXX")" || exit 1
  mkdir -p tools/build
  cp "$SCRIPTS/check_format.sh" "$SCRIPTS/env.sh" tools/build/
  printf 'BasedOnStyle: Google\n' >.clang-format
  printf '*.out.cc\n' >.gitignore
  printf 'int a;\n' >a.cc
  git init -q . && git add a.cc .gitignore
}

# expect NAME STATUS PATTERN: what check_format.sh must give.
expect() {
  local output status
  output=$(tools/build/check_format.sh 2>&1)
  status=$?
  if [[ $status != "$2" || ! $output =~ $3 ]]; then
    printf 'FAILED %s: status %s, wanted %s; output, wanted /%s/:\n%s\n' \
      "$1" "$status" "$2" "$3" "$output"
    failures=$((failures + 1))
  else
    printf 'ok %s\n' "$1"
  fi
}

new_checkout
expect WellFormattedFilesPassInSilence 0 '^$'

new_checkout
printf 'int   b;\n' >b.cc
expect NewFileCounts 1 'b\.cc:1:4: error: .*run clang-format-14 -i'

new_checkout
printf 'int   b;\n' >b.out.cc
expect IgnoredFileDoesNotCount 0 '^$'

new_checkout
printf 'int b;\n' >b.cc
git add b.cc
rm b.cc
expect DeletedFileDoesNotCount 0 '^$'

new_checkout
rm -rf .git
# Not a folder further up either.
export GIT_CEILING_DIRECTORIES=$TEST_TMPDIR
expect OutsideACheckoutItFails 1 'git cannot say which files'

# As in a container that runs as another user than the checkout's owner.
new_checkout
export GIT_TEST_ASSUME_DIFFERENT_OWNER=1
expect CheckoutOfAnotherUserFails 1 'dubious ownership.*git cannot say'
unset GIT_TEST_ASSUME_DIFFERENT_OWNER

new_checkout
git rm -qf --cached a.cc && rm a.cc
expect NoSourceFilesFail 1 'no source files found'

[[ $failures == 0 ]]
