#!/usr/bin/env bash
# The scripts for Slurm with what Slurm gives replaced: what they make of its
# environment, and, with the real programs, that a job leaves an allocation with
# a checkpoint before it ends and goes on in the next.
set -uo pipefail

readonly ROOT=$PWD
export HOME=$TEST_TMPDIR TMPDIR=$TEST_TMPDIR/node
failures=0
mkdir -p "$TMPDIR"
unset SLURM_JOB_GPUS SLURM_STEP_GPUS CUDA_VISIBLE_DEVICES SLURM_JOB_END_TIME

failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}
script=deploy/slurm/worker-of-allocation
# What it would start.
cat >"$TEST_TMPDIR/worker" <<'END'
#!/bin/sh
cat "$2"
END
chmod +x "$TEST_TMPDIR/worker"
export ORDO_WORKER=$TEST_TMPDIR/worker
printf 'scheduler: login:7420\nstorage_root: /srv\n' >"$TEST_TMPDIR/config.yaml"
# expect NAME PATTERN [VARIABLE=VALUE...]
expect() {
  local said
  said=$(env "${@:3}" "$script" "$TEST_TMPDIR/config.yaml" 2>&1)
  [[ $said =~ $2 ]] || failed "$1; wanted /$2/ in:"$'\n'"$said"
}
job=(SLURM_JOB_ID=17 SLURMD_NODENAME=GPU_7.example SLURM_JOB_END_TIME=1900000000)
expect NameOfJobAndNode $'\nworker: slurm-17-gpu-7-example\n' "${job[@]}"
expect NameOfTheNodeAlone $'\nworker: slurm-gpu-7-example\n' "${job[@]}" \
  ORDO_ID=node
expect NoOtherNames 'ORDO_ID is me, not' "${job[@]}" ORDO_ID=me
echo 'tls: {certificate: /tls/worker-@WORKER@.pem}' >>"$TEST_TMPDIR/config.yaml"
expect ItsOwnCertificate '/tls/worker-slurm-gpu-7-example\.pem' "${job[@]}" \
  ORDO_ID=node
expect EndOfTheAllocation $'\nend_time: 2030-03-17T17:46:40Z\n' "${job[@]}"
expect KeepsWhatIsGiven 'scheduler: login:7420' "${job[@]}"
expect ListensAtItsNode 'listen: "GPU_7.example:0"' "${job[@]}"
expect NoGpusIsTheProcessor 'devices: \[cpu:0\]$' "${job[@]}"
expect ItsOwnGpus 'devices: \[cuda:2, cuda:3\]$' "${job[@]}" SLURM_STEP_GPUS=2,3
expect NotMadeUpGpus 'a GPU that is no number: MIG-1' "${job[@]}" \
  CUDA_VISIBLE_DEVICES=MIG-1
expect OutsideOfSlurm 'SLURM_JOB_ID is not set' -u SLURM_JOB_ID
# Somebody else knew the name, and made it first.
ln -s "$TEST_TMPDIR" "$TMPDIR/ordo-slurm-18-n"
expect NobodyElsesFolder "is not this user's own folder" SLURM_JOB_ID=18 \
  SLURMD_NODENAME=n SLURM_JOB_END_TIME=1900000000
expect WithoutAnEnd 'nobody says when' SLURM_JOB_ID=17 SLURMD_NODENAME=n
# An older Slurm is asked.
mkdir "$TEST_TMPDIR/bin"
cat >"$TEST_TMPDIR/bin/squeue" <<'END'
#!/bin/sh
echo 2030-03-17T17:46:40
END
chmod +x "$TEST_TMPDIR/bin/squeue"
expect AnOlderSlurm $'\nend_time: 2030-03-17T17:46:40Z\n' SLURM_JOB_ID=17 \
  SLURMD_NODENAME=n TZ=UTC "PATH=$TEST_TMPDIR/bin:$PATH"
echo 'worker: mine' >>"$TEST_TMPDIR/config.yaml"
expect WhatIsNotTheirs 'sets worker, which is the allocation' "${job[@]}"

# The batch script starts one on each node.
cat >"$TEST_TMPDIR/bin/srun" <<'END'
#!/bin/sh
echo "srun $*"
END
chmod +x "$TEST_TMPDIR/bin/srun"
said=$(PATH=$TEST_TMPDIR/bin:$PATH ORDO_SLURM=/slurm \
  bash deploy/slurm/ordo-worker.sbatch config.yaml)
[[ $said == *'--ntasks-per-node=1'*' /slurm/worker-of-allocation config.yaml' ]] ||
  failed "the batch script said $said"

# With the real programs: a scheduler, and two allocations one after the other.
mkdir -p "$TEST_TMPDIR/scheduler" "$TEST_TMPDIR/storage"
cat >"$TEST_TMPDIR/scheduler.yaml" <<END
listen: 127.0.0.1:0
store: $TEST_TMPDIR/scheduler/ordo.db
storage_root: $TEST_TMPDIR/storage
endpoints_file: $TEST_TMPDIR/endpoints.json
END
./ordo-scheduler --config "$TEST_TMPDIR/scheduler.yaml" \
  >"$TEST_TMPDIR/scheduler.log" 2>&1 &
scheduler=$!
first='' second=''
trap 'kill -KILL $scheduler 2>/dev/null; kill $first $second 2>/dev/null' EXIT
until [[ -s $TEST_TMPDIR/endpoints.json ]]; do
  kill -0 $scheduler || exit 1
  sleep 0.05
done
ORDO_SERVER=$(sed -n 's/.*"api": "\([^"]*\)".*/\1/p' \
  "$TEST_TMPDIR/endpoints.json")
export ORDO_SERVER
cat >"$TEST_TMPDIR/config.yaml" <<END
scheduler: $ORDO_SERVER
storage_root: $TEST_TMPDIR/storage
trainer: $ROOT/tests/fake/fake_trainer
trainer_environment: {ORDO_FAKE: "*:hold_at=40"}
stop_grace: 5s
END
# allocation JOB SECONDS: it lasts so long.
allocation() {
  ORDO_HOST=127.0.0.1 ORDO_WORKER=$ROOT/ordo-worker SLURM_JOB_ID=$1 \
    SLURMD_NODENAME=node SLURM_JOB_END_TIME=$(($(date +%s) + $2)) \
    "$script" "$TEST_TMPDIR/config.yaml" >"$TEST_TMPDIR/worker-$1.log" 2>&1 &
}
# until_said WHAT COMMAND...: until the output has it.
until_said() {
  local i
  for ((i = 0; i < 600; ++i)); do
    "${@:2}" 2>/dev/null | grep -q -- "$1" && return
    sleep 0.1
  done
  failed "'$1' never came from ${*:2}:"$'\n'"$("${@:2}" 2>&1)"
}
cat >"$TEST_TMPDIR/job.yaml" <<END
kind: train
name: job
model: {preset: tiny, layers: 1, width: 16, heads: 2}
encoding: {name: rope}
data: {task: addition, params: {max_digits: 2}, seed: 1}
training: {steps: 60, batch_size: 4}
checkpoint: {every_steps: 20}
END
# 20 s of it are for the grace and the worker's margin.
ends=$(($(date +%s) + 50))
allocation 1 50
first=$!
until_said 'slurm-1-node' ./ordo list workers
until_said 'ONLINE,LEAVES' ./ordo list workers
./ordo submit "$TEST_TMPDIR/job.yaml" >/dev/null || failed "submit"
until_said 20-1 ./ordo list checkpoints
# The worker leaves by itself, before the allocation ends.
wait "$first" || failed "the worker ended with $?"
first=''
(($(date +%s) < ends)) || failed "the worker outlasted its allocation"
until_said '"QUEUED"' ./ordo show job -o json
# In the next one it goes on, from its checkpoint, and is held at a later step;
# scancel stops it again.
sed -i 's/hold_at=40/hold_at=50/' "$TEST_TMPDIR/config.yaml"
allocation 2 3600
second=$!
until_said '"start_step":"40"' ./ordo show job -o json
until_said '"RUNNING"' ./ordo show job -o json
kill "$second"
wait "$second" || failed "the worker ended with $?"
second=''
until_said '"QUEUED"' ./ordo show job -o json
until_said '"end_step":"50"' ./ordo show job -o json
./ordo show job -o json | grep -q '"failed_attempts":[1-9]' &&
  failed "the end of an allocation was held against the job"
kill "$scheduler"
wait "$scheduler" || failed "the scheduler did not leave well"
[[ $failures == 0 ]]
