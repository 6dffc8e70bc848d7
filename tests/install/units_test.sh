#!/usr/bin/env bash
# The units as they are installed: systemd takes them, they name programs,
# flags and fields that there are, their times are long enough, and their very
# command lines run a job through a restart of the worker.
set -uo pipefail

readonly ROOT=$PWD
readonly PREFIX=$TEST_TMPDIR/prefix
readonly UNITS=$PREFIX/lib/systemd/system
readonly CONFIG=$TEST_TMPDIR/etc
export HOME=$TEST_TMPDIR ORDO_BIN=$ROOT
failures=0

failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}

# field UNIT NAME: what a unit says, the last time that it says it.
field() { sed -n "s/^$2=//p" "$UNITS/$1" | tail -n 1; }

tools/install --prefix "$PREFIX" || exit 1

if command -v systemd-analyze >/dev/null; then
  systemd-analyze verify --man=no --recursive-errors=no "$UNITS"/* ||
    failed "systemd does not take the units"
  # How open they are, from 0 to 10 (100 as it counts here).
  for limit in ordo-scheduler:20 ordo-worker:50 ordo-backup:20; do
    systemd-analyze security --offline=true --threshold="${limit#*:}" \
      "$UNITS/${limit%:*}.service" >"$TEST_TMPDIR/open" ||
      failed "${limit%:*}: $(tail -n 1 "$TEST_TMPDIR/open")"
  done
  # With the drop-in too.
  mkdir -p "$TEST_TMPDIR/units/ordo-worker.service.d"
  cp "$UNITS"/* "$TEST_TMPDIR/units"
  cp "$PREFIX/share/ordo/systemd/separate-trainers.conf" \
    "$TEST_TMPDIR/units/ordo-worker.service.d"
  said=$(systemd-analyze verify --man=no --recursive-errors=no \
    "$TEST_TMPDIR/units/ordo-worker.service" 2>&1)
  [[ $? == 0 && -z $said ]] || failed "the drop-in: $said"
else
  echo "SKIPPED: no systemd-analyze on this machine"
fi

# Trainers of another user are nobody that a service is.
trainers=$(sed -n 's/^ *# user: //p' "$PREFIX/share/ordo/config/worker.yaml")
grep -q "^u $trainers " "$PREFIX/lib/sysusers.d/ordo.conf" ||
  failed "there is no user '$trainers' for trainers"
for unit in ordo-scheduler ordo-worker ordo-backup; do
  [[ $(field "$unit.service" User) != "$trainers" ]] ||
    failed "trainers are the user of $unit"
done

# What is called has the flags that it is called with.
for unit in ordo-scheduler ordo-worker; do
  read -r program flags <<<"$(field "$unit.service" ExecStart)"
  help=$("$program" --help) || failed "$unit: no program $program"
  for flag in $(grep -oE -- '--[a-z-]+' <<<"$flags"); do
    grep -q -- "$flag" <<<"$help" || failed "$unit: no flag $flag"
  done
  [[ $(field "$unit.service" Type) == notify ]] || failed "$unit: its type"
done
# What outlives the worker does so.
for wanted in KillMode=process KillSignal=SIGTERM RestartKillSignal=SIGQUIT \
  OOMPolicy=continue Delegate=yes; do
  grep -qx "$wanted" "$UNITS/ordo-worker.service" ||
    failed "ordo-worker: $wanted"
done
# Trainers without end leave room for the worker in its unit.
processes=$(sed -n 's/.*kDefaultProcesses = \([0-9]*\);.*/\1/p' \
  worker/agent/sandbox.cc)
tasks=$(field ordo-worker.service TasksMax)
[[ -n $processes && $tasks =~ ^[0-9]+$ && $tasks -ge $((2 * processes)) ]] ||
  failed "ordo-worker: $tasks tasks where trainers may have $processes"
# What ends with the worker, and what keeps GPUs from trainers.
for unwanted in PrivateTmp PrivateDevices DeviceAllow ProtectClock \
  MemoryDenyWriteExecute; do
  grep -q "^$unwanted=" "$UNITS/ordo-worker.service" &&
    failed "ordo-worker: trainers cannot do with $unwanted"
done
# The grace of checkpoints, the worker's margin (worker/agent/drain.h), and what
# it waits for an answer.
margin=$(sed -n 's/.*kMargin = absl::Seconds(\([0-9]*\)).*/\1/p' \
  worker/agent/drain.h)
answer=$(sed -n 's/.*kAnswerTimeout = absl::Seconds(\([0-9]*\)).*/\1/p' \
  worker/agent/drain.h)
grace=$(sed -n 's/^stop_grace: \([0-9]*\)s$/\1/p' \
  "$PREFIX/share/ordo/config/worker.yaml")
stop=$(($(field ordo-worker.service TimeoutStopSec | tr -d min) * 60))
((stop >= grace + margin + answer)) ||
  failed "ordo-worker: stopped after $stop s of $grace + $margin + $answer"

# The configurations, with other folders and free ports; then the command lines
# of the units with the folder of these.
mkdir -p "$CONFIG" "$TEST_TMPDIR/state/scheduler" "$TEST_TMPDIR/state/worker"
for part in scheduler worker; do
  sed -e "s|/var/lib/ordo|$TEST_TMPDIR/state|" \
    -e "s|/srv/ordo|$TEST_TMPDIR/storage|" \
    -e 's|\(listen: 127.0.0.1\):.*|\1:0|' \
    "$PREFIX/share/ordo/config/$part.yaml" >"$CONFIG/$part.yaml"
done
# As worker/supervisor/landlock.cc asks: a worker does not start without it.
landlock=true
python3 -c 'import ctypes, sys
sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 2)' || landlock=false
$landlock || sed -i '/^sandbox:/,/^  readable:/d' "$CONFIG/worker.yaml"
cat >>"$CONFIG/worker.yaml" <<END
trainer: $ROOT/tests/fake/fake_trainer
trainer_environment: {ORDO_FAKE: "*:hold_at=40"}
END
# start PART: what systemd does, until the program says that it serves. Its
# process is in $started.
start() {
  local line
  line=$(field "ordo-$1.service" ExecStart)
  rm -f "$TEST_TMPDIR/ready"
  python3 tests/install/notified.py "$TEST_TMPDIR/ready" \
    ${line//\/etc\/ordo/$CONFIG} >>"$TEST_TMPDIR/$1.log" 2>&1 &
  started=$!
  until [[ -s $TEST_TMPDIR/ready ]]; do
    kill -0 $started 2>/dev/null || { cat "$TEST_TMPDIR/$1.log"; return 1; }
    sleep 0.05
  done
}
api() { sed -n 's/.*"api": "\([^"]*\)".*/\1/p' "$TEST_TMPDIR/state/$1/endpoints.json"; }
trainer() { pgrep -f "fake_trainer .*$TEST_TMPDIR/s"; }

start scheduler || failed "the scheduler did not say that it serves"
scheduler=$started
sed -i "s|^scheduler: .*|scheduler: $(api scheduler)|" "$CONFIG/worker.yaml"
start worker || failed "the worker did not say that it serves"
worker=$started
runs=
trap 'kill -KILL $scheduler $worker $runs 2>/dev/null' EXIT
cat >"$TEST_TMPDIR/job.yaml" <<END
kind: train
name: job
model: {preset: tiny, layers: 1, width: 16, heads: 2}
encoding: {name: rope}
data: {task: addition, params: {max_digits: 2}, seed: 1}
training: {steps: 60, batch_size: 4}
checkpoint: {every_steps: 20}
END
export ORDO_SERVER
ORDO_SERVER=$(api scheduler)
"$PREFIX/bin/ordo" submit "$TEST_TMPDIR/job.yaml" || failed "submit"
for ((i = 0; i < 600; ++i)); do
  "$PREFIX/bin/ordo" list checkpoints | grep -q 20-1 && break
  sleep 0.1
done
runs=$(trainer) || failed "no trainer"
# It reads programs, and no configuration, key or store.
said=$(pgrep -af "ordo-supervisor --task-dir $TEST_TMPDIR/s")
! $landlock || [[ $said == *" --readable $PREFIX/lib/ordo "* &&
  $said != *" --readable $CONFIG"* &&
  $said != *" --readable $TEST_TMPDIR/state"* ]] ||
  failed "what trainers may read: $said"

# As systemctl restart: the trainer is the same one afterwards.
kill -s "$(field ordo-worker.service RestartKillSignal)" "$worker"
wait "$worker" || failed "the worker did not leave well"
[[ $(trainer) == "$runs" ]] || failed "the trainer did not outlive its worker"
start worker || failed "the next worker does not serve"
worker=$started
[[ $(trainer) == "$runs" ]] || failed "the next worker did not take it over"
"$PREFIX/bin/ordo" show job -o json | grep -q '"RUNNING"' ||
  failed "the job does not go on"

# As systemctl stop: a checkpoint, and back into the queue.
kill -s "$(field ordo-worker.service KillSignal)" "$worker"
wait "$worker" || failed "the worker did not leave well"
[[ -z $(trainer) ]] || failed "the trainer is left"
"$PREFIX/bin/ordo" show job -o json | grep -q '"QUEUED"' ||
  failed "the job is not in the queue"

# The copy of the store, as its unit makes it.
mkdir "$TEST_TMPDIR/backups"
BACKUPS=$TEST_TMPDIR/backups
line=$(field ordo-backup.service ExecStart)
line=${line//'$$'/'$'} line=${line//%%/%} line=${line//\/etc\/ordo/$CONFIG}
touch -d '9 days ago' "$BACKUPS/ordo-old.db"
BACKUPS=$BACKUPS bash -c "$line" || failed "the command of ordo-backup.service"
line=$(field ordo-backup.service ExecStartPost)
line=${line//'${BACKUPS}'/$BACKUPS} line=${line//'${KEEP_DAYS}'/7}
# As systemd does: words, and no patterns of a shell.
(set -f && $line) || failed "what ordo-backup.service does afterwards"
[[ $(ls "$BACKUPS") =~ ^ordo-20[0-9]{6}T[0-9]{6}Z\.db$ ]] ||
  failed "copies: $(ls "$BACKUPS")"
kill "$scheduler"
wait "$scheduler" || failed "the scheduler did not leave well"
[[ $failures == 0 ]]
