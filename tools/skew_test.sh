#!/usr/bin/env bash
# Test of tools/skew with what it calls replaced: a small repository of its own,
# and a fake Bazel that writes down its arguments and leaves a bazel-bin.
set -uo pipefail

root=$(mktemp -d "$TEST_TMPDIR/checkout.XXXX")
export HOME=$root/home ORDO_DEPS=$root/deps
mkdir -p "$root/tools/build" "$root/bin" "$HOME"
cp tools/skew "$root/tools/"
cp tools/build/env.sh "$root/tools/build/"
cat >"$root/bin/bazel" <<END
#!/bin/bash
printf '%s in %s\n' "\$*" "\$PWD" >>"$root/bazel.txt"
mkdir -p bazel-bin
[[ ! -e $root/broken ]]
END
chmod +x "$root/bin/bazel"
export PATH=$root/bin:$PATH

failures=0
failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}
# expect NAME PATTERN: what the fake Bazel was told.
expect() {
  [[ $(<"$root/bazel.txt") =~ $2 ]] ||
    failed "$1; wanted /$2/ in:"$'\n'"$(<"$root/bazel.txt")"
}
# refused NAME PATTERN ARGUMENT...
refused() {
  local said
  said=$("$root/tools/skew" "${@:3}" 2>&1)
  status=$?
  [[ $status != 0 ]] || failed "$1: it ended well"
  [[ $said =~ $2 ]] || failed "$1; wanted /$2/ in: $said"
}

refused WithoutAHistory 'no git history'
[[ $status == 77 ]] || failed "without a history it ends with $status"
commit() {
  git -C "$root" add -f WORKSPACE tests &&
    git -C "$root" -c user.name=a -c user.email=a@b commit -qm "$1" &&
    git -C "$root" rev-parse HEAD
}
git -C "$root" init -q
touch "$root/WORKSPACE"
mkdir -p "$root/tests/releases/v9"
touch "$root/tests/releases/v9/store.txt"
commit nine >/dev/null
mkdir "$root/tests/releases/v10"
touch "$root/tests/releases/v10/store.txt"
ten=$(commit ten)
echo later >"$root/tests/releases/v10/store.txt"
later=$(commit later)

"$root/tools/skew" >/dev/null 2>&1 || failed "it ended with $?"
expect BuildsWhereTheNewestWasRecorded \
  "^build .*//:ordo-scheduler.*//tests/fake:fake_trainer in $ORDO_DEPS/skew/$ten"
expect TestsThisCheckoutWithIt \
  $'\n'"test .*--test_env=ORDO_BEFORE=$ORDO_DEPS/skew/$ten/bazel-bin //tests/e2e:upgrade_test in $root"
[[ $(git -C "$ORDO_DEPS/skew/$ten" rev-parse HEAD) == "$ten" ]] ||
  failed "the worktree is of another commit"

rm "$root/bazel.txt"
"$root/tools/skew" "$later" >/dev/null 2>&1 || failed "a commit that is named"
expect BuildsWhatIsNamed " in $ORDO_DEPS/skew/$later"
rm "$root/bazel.txt"
"$root/tools/skew" "$later" >/dev/null 2>&1 || failed "the same again"

refused AnotherCommit 'nonesuch is no commit' nonesuch
refused Options 'usage: tools/skew' --help
touch "$root/broken"
refused ABuildThatFails "the build of $ten failed"
[[ $failures == 0 ]]
