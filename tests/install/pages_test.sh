#!/usr/bin/env bash
# The commands of docs/how_to/{install,backup,upgrade}.md, as they stand there,
# one block after the other: each must do, and a run that is under way goes on
# with its trainer through each restart of its worker. Folders are moved below
# the test's own, and systemd is played by tests/install/fake_systemctl.sh.
set -uo pipefail

readonly ROOT=$PWD T=$TEST_TMPDIR
export HOME=$T ORDO_BIN=$ROOT
failures=0
failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}

# moved: standard input with this machine's folders below the test's own.
moved() {
  sed -E "s#(^|[ \"'(:=])/(usr/local|etc/ordo|etc/systemd|var/(lib|backups)/ordo|srv/ordo)#\1$T/\2#g"
}
# program NAME: the script on standard input.
program() {
  { printf '#!/bin/bash\n' && cat; } >"$T/bin/$1"
  chmod +x "$T/bin/$1"
}
mkdir -p "$T/bin" "$T/units" "$T/blocks"
export PATH=$T/usr/local/bin:$T/bin:$PATH
program bazel <<<''
program systemd-sysusers <<<''
program sudo <<'END'
[[ $1 != -u ]] || shift 2
exec "$@"
END
program systemctl <<END
export T=$T ROOT=$ROOT
. "$ROOT/tests/install/fake_systemctl.sh"
END
ports=($(python3 -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
print(*(each.getsockname()[1] for each in sockets))'))
# As worker/supervisor/landlock.cc asks: a worker does not start without it.
landlock=true
python3 -c 'import ctypes, sys
sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 2)' || landlock=false
# What is made where there is nothing yet, with ports that are free and the fake
# trainer.
program systemd-tmpfiles <<END
while read -r kind path _ _ _ _ source; do
  case \$kind in
    d) mkdir -p "$T\$path" ;;
    C)
      [[ ! -e $T\$path ]] || continue
      sed -e "s# /var/lib# $T/var/lib#; s# /srv# $T/srv#" \\
        -e 's/:7420/:${ports[0]}/; s/:7421/:${ports[1]}/' \\
        -e 's/:7430/:${ports[2]}/; s/:7431/:${ports[3]}/' \\
        "\$source" >"$T\$path"
      $landlock || sed -i '/^sandbox:/,/^  readable:/d' "$T\$path"
      [[ \$path != *worker* ]] || cat >>"$T\$path" <<MORE
trainer: $ROOT/tests/fake/fake_trainer
trainer_environment: {ORDO_FAKE: "*:hold_at=40"}
MORE
      ;;
  esac
done <"$T/usr/local/lib/tmpfiles.d/ordo.conf"
END
trap 'for part in worker scheduler; do systemctl stop ordo-$part.service; done 2>/dev/null' EXIT

# Blocks of commands, by page; what removes is a page of its own.
python3 - "$T/blocks" docs/how_to/{install,backup,upgrade}.md <<'END' || exit 1
import os, re, sys
for path in sys.argv[2:]:
    page = os.path.basename(path)[:-3]
    text = open(path).read()
    if re.search(r"^    (ordo|sudo) ", text, re.MULTILINE):
        sys.exit(path + ": commands belong into ```sh blocks")
    name, count = page, 0
    for part in re.split(r"(?m)^(?=## )", text):
        if part.startswith("## Remove"):
            name = "remove"
        for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", part):
            with open("%s/%s-%02d" % (sys.argv[1], name, count), "w") as file:
                file.write(block)
            count += 1
END

trainer() { pgrep -f "fake_trainer .*$T/srv"; }
until_said() {
  local i
  for ((i = 0; i < 600; ++i)); do
    "${@:2}" 2>/dev/null | grep -q -- "$1" && return
    sleep 0.1
  done
  failed "'$1' never came from ${*:2}:"$'\n'"$("${@:2}" 2>&1)"
}
# page NAME: runs its blocks.
page() {
  local block before count=0
  for block in "$T/blocks/$1"-*; do
    before=$(trainer)
    if ! (moved <"$block") >"$T/command" ||
      ! bash -euo pipefail "$T/command" >"$T/said" 2>&1; then
      failed "${block##*/}:"$'\n'"$(<"$T/command")"$'\n'"$(<"$T/said")"
    fi
    if [[ -n $before && $(<"$block") == *"restart"* && $(trainer) != "$before" ]]
    then
      failed "${block##*/}: what ran did not go on"
    fi
    # Its trainer is held once: what goes on from that step ends.
    case $(<"$block") in
      *' drain '*) until_said '"QUEUED"' ordo show job -o json ;;
      *' uncordon '*) until_said '"SUCCEEDED"' ordo show job -o json ;;
    esac
    count=$((count + 1))
  done
  ((count > 0)) || failed "page $1 has no commands"
}

export ORDO_SERVER=127.0.0.1:${ports[0]}
page install
until_said 'worker-1 .*ONLINE' ordo list workers
cat >"$T/job.yaml" <<END
kind: train
name: job
model: {preset: tiny, layers: 1, width: 16, heads: 2}
encoding: {name: rope}
data: {task: addition, params: {max_digits: 2}, seed: 1}
training: {steps: 60, batch_size: 4}
checkpoint: {every_steps: 20}
END
ordo submit "$T/job.yaml" >/dev/null || failed "submit"
until_said 20-1 ordo list checkpoints
runs=$(trainer)

page backup
[[ $(trainer) == "$runs" ]] || failed "the run did not outlive a restore"
until_said '"RUNNING"' ordo show job -o json

# The next release: the same with a byte behind the worker's end.
mkdir -p "$T/next"
cp -rs "$ROOT"/{ordo,ordo-scheduler,ordo-supervisor,ordo-trainer,kernels,model} \
  "$T/next"
cp -L "$ROOT/ordo-worker" "$T/next/ordo-worker"
chmod u+w "$T/next/ordo-worker"
printf 'x' >>"$T/next/ordo-worker"
first=$(readlink "$T/usr/local/lib/ordo/current")
ORDO_BIN=$T/next page upgrade
[[ $(readlink "$T/usr/local/lib/ordo/current") == "$first" ]] ||
  failed "the way back leads elsewhere"
[[ $(find "$T/usr/local/lib/ordo/builds" -mindepth 1 -maxdepth 1 | wc -l) == 2 ]] ||
  failed "there must be two builds"
until_said '"RUNNING"' ordo show job -o json

page remove
[[ -z $(trainer) ]] || failed "the trainer is left"
[[ ! -e $T/usr/local/bin/ordo && -e $T/srv/ordo/jobs/job ]] ||
  failed "what is removed and what stays"
[[ $failures == 0 ]]
