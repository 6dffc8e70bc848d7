#!/usr/bin/env bash
# Tests of tools/setup with the programs it calls replaced: no network, no
# root, nothing installed.
set -uo pipefail

readonly SETUP="$PWD/tools/setup"
failures=0

# A folder of programs that stands for the whole PATH. Each case may replace
# some of them by `fake NAME SCRIPT`.
new_machine() {
  bin=$(mktemp -d "$TEST_TMPDIR/bin.XXXX")
  deps=$(mktemp -d "$TEST_TMPDIR/deps.XXXX")
  local program
  for program in awk basename bash comm cut df dirname env flock getent grep \
    id mkdir mktemp mv rm rmdir sed sha256sum sort uname unzip; do
    ln -s "$(command -v "$program")" "$bin/$program"
  done
  fake dpkg-query 'shift 3; for p in "$@"; do echo "installed $p"; done'
  fake uname 'echo x86_64'
}

fake() {
  rm -f "$bin/$1"
  printf '#!/bin/bash\n%s\n' "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}

unpacked() {
  mkdir -p "$deps/torch-2.11.0/lib" "$deps/googleapis-1.76.0" \
    "$deps/cutlass-4.2.0.0" "$deps/kubernetes-1.37.0"
}

run_setup() {
  output=$(env PATH="$bin" HOME="$TEST_TMPDIR" ORDO_DEPS="$deps" \
    CUDA_HOME=/nonexistent "$@" "$SETUP" 2>&1)
  status=$?
}

# expect NAME STATUS PATTERN: what the last run_setup must have given.
expect() {
  if [[ $status != "$2" || ! $output =~ $3 ]]; then
    printf 'FAILED %s: status %s, wanted %s; output, wanted /%s/:\n%s\n' \
      "$1" "$status" "$2" "$3" "$output"
    failures=$((failures + 1))
  else
    printf 'ok %s\n' "$1"
  fi
}

new_machine
unpacked
started=$SECONDS
run_setup
expect NothingToDoPrintsNothing 0 '^$'
[[ $((SECONDS - started)) -lt 3 ]] || {
  echo "FAILED NothingToDoTakesUnderThreeSeconds"
  failures=$((failures + 1))
}

new_machine
fake df 'echo "Filesystem 1024-blocks Used Available"; echo "d 1 1 10240 1"'
run_setup
expect FullDiskNamesFolderAndSizes 1 "$deps has 10 MB free and [0-9]+ MB"

new_machine
unpacked
fake dpkg-query 'exit 1'
fake id 'echo 1000'
run_setup
expect NoRootAndNoSudoSaysWhatToInstall 1 'As root: apt-get install .*libgrpc'

new_machine
unpacked
fake dpkg-query 'exit 1'
fake id 'echo 0'
fake dpkg 'exit 0'
fake apt-get 'exit 0'
fake apt-cache '[[ $3 != gnuplot-nox ]]'
run_setup
expect PackageThatTheArchiveLacksIsNamed 1 'lacks: gnuplot-nox\.'

new_machine
unpacked
fake dpkg-query 'exit 1'
fake id 'echo 0'
fake dpkg 'exit 0'
fake apt-get 'exit 100'
run_setup
expect UnreachableArchiveIsSaid 1 'apt-get update failed'

# A machine that lacks gnuplot-nox, with an apt-get that says how much it is and
# notes the calls of it and of dpkg.
new_machine_without_gnuplot() {
  new_machine
  unpacked
  ln -s "$(command -v tail)" "$bin/tail"
  calls=$bin/calls
  : >"$calls"
  fake dpkg-query 'shift 3
    for p in "$@"; do [[ $p == gnuplot-nox ]] || echo "installed $p"; done'
  fake id 'echo 0'
  fake dpkg 'echo "dpkg $* $DEBIAN_FRONTEND" >>"${0%/*}/calls"
    [[ $1 != --audit ]] || echo "The following packages are half configured"'
  fake sleep 'echo "sleep $*" >>"${0%/*}/calls"'
  fake apt-cache 'exit 0'
  fake apt-get 'echo "apt-get $*" >>"${0%/*}/calls"
    [[ $* != *--assume-no* ]] || {
      echo "Need to get 5 kB of archives."
      echo "After this operation, 19 kB of additional disk space will be used."
      exit 1
    }'
}

new_machine_without_gnuplot
run_setup
expect PackagesAndTheirSizesAreSaid 0 \
  $'install: gnuplot-nox\n  Need to get 5 kB.*\n  After this operation, 19 kB'
output=$(<"$calls")
expect HalfInstalledPackagesComeFirst 0 \
  $'\ndpkg --configure -a noninteractive\napt-get .*update'
expect OnlyWhatIsMissingIsInstalled 0 \
  'install -y --no-install-recommends gnuplot-nox$'

new_machine_without_gnuplot
fake apt-get '[[ $* != *install* ]] || { echo "E: unmet needs" >&2; exit 100; }'
run_setup
expect SizesThatAreUnknownAreSaid 1 'does not say how much: E: unmet needs'

new_machine_without_gnuplot
fake apt-get '[[ $* != *"install -y"* ]] || {
  echo "E: You don'"'"'t have enough free space in /var/cache." >&2; exit 100; }'
run_setup
expect DiskTooSmallForPackagesIsSaid 1 \
  'enough free space in /var/cache.*installing Debian packages failed'

# dpkg_fails TIMES TEXT: dpkg finds a package half-installed, and fails so often
# to configure it.
dpkg_fails() {
  new_machine_without_gnuplot
  fake dpkg '[[ $1 != --audit ]] || { echo "half configured"; exit 1; }
    echo "dpkg $*" >>"${0%/*}/calls"
    [[ $(grep -c ^dpkg "${0%/*}/calls") -gt '"$1"' ]] || {
      echo "dpkg: error: '"$2"'" >&2; exit 2; }'
}
readonly LOCKED='dpkg frontend lock was locked by another process with pid 7'

dpkg_fails 2 "$LOCKED"
run_setup
expect WaitsForAnotherThatHasTheLock 0 'another program has dpkg'
output=$(grep -c '^sleep' "$calls")
expect LooksAgainOnceASecond 0 '^2$'

dpkg_fails 1000 "$LOCKED"
run_setup
expect ALockThatIsNeverFreeIsSaid 1 'dpkg --configure -a failed'

dpkg_fails 1000 'cannot allocate memory'
run_setup
expect PackagesThatCannotBeConfiguredAreSaid 1 \
  'cannot allocate memory.*dpkg --configure -a failed'
output=$(<"$calls") status=$?
expect WhatIsNoLockIsNotTriedAgain 0 '^dpkg --configure -a$'

new_machine_without_gnuplot
fake dpkg 'echo "dpkg $*" >>"${0%/*}/calls"'
run_setup
output=$(<"$calls")
expect NothingHalfInstalledNothingConfigured 0 $'^dpkg --audit\napt-get'

new_machine_without_gnuplot
fake id 'echo 1000'
fake sudo 'exit 1'
run_setup
expect RefusedSudoIsSaid 1 'sudo refused. As root: apt-get install .*gnuplot-nox'

new_machine
fake uname 'echo aarch64'
run_setup
expect OtherMachineIsRefused 1 'needs an x86_64 machine; this one is aarch64'

new_machine
unpacked
fake getent 'exit 2'
run_setup HOME=
expect UserWithoutAHomeIsTold 1 'HOME is not set'

new_machine
fake getent 'echo "x:x:0:0:x:$HOME_OF_ADA:/bin/sh"'
mkdir -p "$TEST_TMPDIR/ada/.cache"
mv "$deps" "$TEST_TMPDIR/ada/.cache/ordo"
deps=$TEST_TMPDIR/ada/.cache/ordo
unpacked
run_setup HOME= ORDO_DEPS= HOME_OF_ADA="$TEST_TMPDIR/ada"
expect HomeIsLookedUpWhereItIsNotSet 0 '^$'

# What an interrupted run left is thrown away, and its download is used.
new_machine
unpacked
rm -r "$deps/googleapis-1.76.0"
mkdir -p "$deps/.googleapis-1.76.0.part/half" "$deps/dl"
touch "$deps/dl/googleapis_common_protos-1.76.0-py3-none-any.whl"
fake sha256sum 'exit 0'
fake unzip 'mkdir -p "${@: -1}/google"'
run_setup
expect GoesOnAfterAnInterruption 0 'Set-up is complete'
expect DownloadAndItsSizesAreSaid 0 \
  "unpack into $deps: googleapis-1.76.0"$'\n  1 MB to download, 1 MB on disk'
output=$(ls -A "$deps/googleapis-1.76.0" "$deps/dl" 2>&1) status=$?
expect InterruptedFolderIsNotUsed 0 $'googleapis-1.76.0:\ngoogle$'

# Bazel runs in the checkout, and must look where set-up did.
new_machine
unpacked
root=$PWD
cd "$TEST_TMPDIR" || exit 1
output=$(ORDO_DEPS=$(basename "$deps") bash -c \
  'source "$1/tools/build/env.sh" && cd / && echo "$ORDO_DEPS"' _ "$root")
status=$?
expect RelativeFolderIsTheCallers 0 "^$deps$"

[[ $failures == 0 ]]
