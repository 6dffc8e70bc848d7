#!/usr/bin/env bash
# tools/install, from built programs into a prefix and back: what lies there, a
# deployment that runs from there, the same again, a new build beside the old
# one, and nothing left.
set -uo pipefail

readonly ROOT=$PWD
readonly PREFIX=$TEST_TMPDIR/prefix
readonly FOLDER=$TEST_TMPDIR/deployment
export HOME=$TEST_TMPDIR ORDO_BIN=$ROOT
failures=0
trap '"$PREFIX/bin/ordo" down --dir "$FOLDER" >/dev/null 2>&1' EXIT

failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}

# Every file below a folder: which it is, and when it was changed.
state() { find "$1" ! -type d -printf '%P %i %T@ %l\n' | LC_ALL=C sort; }

tools/install --prefix "$PREFIX" || exit 1
first=$(readlink "$PREFIX/lib/ordo/current")
for file in bin/ordo bin/ordo-scheduler bin/ordo-worker \
  lib/ordo/current/ordo-supervisor lib/ordo/current/ordo-trainer \
  lib/systemd/system/ordo-worker.service share/man/man1/ordo.1 \
  share/bash-completion/completions/ordo share/ordo/config/worker.yaml \
  share/doc/ordo/examples/addition-rope.yaml \
  share/doc/ordo/licences/LibTorch; do
  [[ -s $PREFIX/$file ]] || failed "$file is not there"
done
diff "$PREFIX/lib/ordo/installed.txt" \
  <(find "$PREFIX" ! -type d -printf '%P\n' | LC_ALL=C sort) ||
  failed "installed.txt names what is there, and nothing else"
grep -rl '@PREFIX@' "$PREFIX/lib/systemd" "$PREFIX/lib/tmpfiles.d" \
  "$PREFIX/share/ordo" &&
  failed "a place-holder is left"
if command -v man >/dev/null; then
  MANWIDTH=80 man -l "$PREFIX/share/man/man1/ordo.1" 2>&1 |
    grep -q 'ORDO SUBMIT' || failed "the man page cannot be read"
fi

# The trainer's libraries are those beside it, not those it was built with.
ldd "$PREFIX/lib/ordo/current/ordo-trainer" | grep libtorch_cpu |
  grep -q "$PREFIX" || failed "LibTorch is not that of the prefix"
sed -e 's/layers: 4, width: 128, heads: 4/layers: 1, width: 16, heads: 2/' \
  -e 's/steps: 1000, batch_size: 64/steps: 12, batch_size: 8/' \
  -e 's/max_digits: 6, samples: 20/max_digits: 3, samples: 2/' \
  "$PREFIX/share/doc/ordo/examples/addition-rope.yaml" >"$TEST_TMPDIR/job.yaml"
"$PREFIX/bin/ordo" up --dir "$FOLDER" --listen 127.0.0.1:0 --detach ||
  failed "ordo up from the prefix"
server=$(sed -n 's/.*"api": *"\([^"]*\)".*/\1/p' "$FOLDER/endpoints.json")
"$PREFIX/bin/ordo" submit "$TEST_TMPDIR/job.yaml" --server "$server" --wait ||
  failed "a job of the installed trainer"

# What the doctor says of it; of the machine it may say what it likes.
ORDO_DIR=$FOLDER "$PREFIX/bin/ordo" doctor -o json --server "$server" \
  >"$TEST_TMPDIR/doctor.json"
[[ $? == [02] ]] || failed "ordo doctor"
python3 - "$TEST_TMPDIR/doctor.json" <<'END' || failed "what ordo doctor says"
import json, sys
found = {each["check"]: each for each in
         json.load(open(sys.argv[1]))["findings"]}
for check in ["kernels/cpu", "machine/kernel", "store/rename", "store/locks",
              "state/locks", "storage/rename", "storage/clock", "ports/scheduler.listen",
              "ports/worker.metrics_listen",
              "network/scheduler", "server/reachable", "server/clock"]:
    if found[check]["health"] != "ok":
        sys.exit(str(found[check]))
END

# What is there already stays as it is, to the inode.
before=$(state "$PREFIX")
tools/install --prefix "$PREFIX" || failed "the same again"
diff <(printf '%s\n' "$before") <(state "$PREFIX") ||
  failed "what was there was changed"

# Another build: a program is the same with a byte after its end.
mkdir -p "$TEST_TMPDIR/next"
cp -rs "$ROOT"/{ordo,ordo-scheduler,ordo-supervisor,ordo-trainer,kernels,model} \
  "$TEST_TMPDIR/next"
cp -L "$ROOT/ordo-worker" "$TEST_TMPDIR/next/ordo-worker"
chmod u+w "$TEST_TMPDIR/next/ordo-worker"
printf 'x' >>"$TEST_TMPDIR/next/ordo-worker"
ORDO_BIN=$TEST_TMPDIR/next tools/install --prefix "$PREFIX" ||
  failed "a second build"
second=$(readlink "$PREFIX/lib/ordo/current")
[[ $first != "$second" ]] || failed "two builds have one name"
[[ -e $PREFIX/lib/ordo/$first/ordo-trainer ]] || failed "the first build is gone"
[[ $PREFIX/lib/ordo/$first/torch/libc10.so -ef \
  $PREFIX/lib/ordo/$second/torch/libc10.so ]] || failed "LibTorch is there twice"
# What ran goes on with its own files, and the way back is a link.
"$PREFIX/bin/ordo" list --server "$server" | grep -q SUCCEEDED ||
  failed "the deployment did not go on"
ln -sfn "$first" "$PREFIX/lib/ordo/current"
[[ $("$PREFIX/bin/ordo-worker" --version) == \
  *" $(sha256sum <"$ROOT/ordo-worker" | cut -d' ' -f1)" ]] ||
  failed "the way back"
"$PREFIX/bin/ordo" down --dir "$FOLDER" || failed "ordo down"
ln -sfn "$second" "$PREFIX/lib/ordo/current"
tools/install --prefix "$PREFIX" --prune || failed "prune"
[[ -e $PREFIX/lib/ordo/$first ]] || failed "the build before must stay"

touch "$PREFIX/bin/other"
tools/install --prefix "$PREFIX" --uninstall || failed "uninstall"
left=$(find "$PREFIX" -mindepth 1 | LC_ALL=C sort)
[[ $left == "$PREFIX/bin"$'\n'"$PREFIX/bin/other" ]] ||
  failed "left behind: $left"
tools/install --prefix "$PREFIX" --uninstall 2>"$TEST_TMPDIR/said" &&
  failed "there was nothing to uninstall"
grep -q 'nothing is installed' "$TEST_TMPDIR/said" || failed "what was wrong"

# Into the folder of an image: paths are those that the image will have.
tools/install --prefix /usr/local --destdir "$TEST_TMPDIR/image" \
  --parts client,scheduler || failed "destdir"
image=$TEST_TMPDIR/image/usr/local
grep -q '^ExecStart=/usr/local/lib/ordo/current/ordo-scheduler ' \
  "$image/lib/systemd/system/ordo-scheduler.service" || failed "paths of units"
[[ ! -e $image/lib/systemd/system/ordo-worker.service &&
  ! -e $image/lib/ordo/current/ordo-trainer ]] || failed "parts not asked for"
"$image/bin/ordo" version >/dev/null || failed "links must be relative"
# Root has other users; that of a user namespace may have none.
touch "$TEST_TMPDIR/owned"
if command -v systemd-tmpfiles >/dev/null &&
  chown 64123:64123 "$TEST_TMPDIR/owned" 2>/dev/null; then
  mkdir -p "$TEST_TMPDIR/image/etc"
  systemd-sysusers --root="$TEST_TMPDIR/image" ||
    failed "users"
  for user in ordo ordo-trainer; do
    grep -q "^$user:" "$TEST_TMPDIR/image/etc/passwd" || failed "no user $user"
  done
  grep -qE '^ordo-trainer:[^:]*:[^:]*:ordo$' "$TEST_TMPDIR/image/etc/group" ||
    failed "the scheduler is not of the trainers' group"
  systemd-tmpfiles --create --root="$TEST_TMPDIR/image" \
    "$image/lib/tmpfiles.d/ordo.conf" || failed "folders"
  for file in etc/ordo/scheduler.yaml srv/ordo/jobs var/backups/ordo; do
    [[ -e $TEST_TMPDIR/image/$file ]] || failed "$file was not made"
  done
  [[ ! -e $TEST_TMPDIR/image/etc/ordo/worker.yaml ]] ||
    failed "a part not asked for is configured"
fi
[[ $failures == 0 ]]
