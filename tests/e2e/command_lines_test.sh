#!/usr/bin/env bash
# Every process of a deployment names the deployment's absolute folder on its
# command line, under its own flag, so that a person and `ordo down` can tell
# whose it is; also when the folder was given relative.
set -uo pipefail

readonly ROOT=$PWD
export HOME=$TEST_TMPDIR
failures=0
cd "$TEST_TMPDIR" || exit 1
folder=$(pwd -P)/deployment
trap '"$ROOT/ordo" down --dir "$folder" >/dev/null 2>&1' EXIT

failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}

cat >job.yaml <<END
kind: train
name: job
model: {preset: tiny, layers: 1, width: 16, heads: 2}
encoding: {name: rope}
data: {task: addition, params: {max_digits: 2}, seed: 1}
training: {steps: 60, batch_size: 4}
checkpoint: {every_steps: 20}
END

"$ROOT/ordo" up --dir deployment --listen 127.0.0.1:0 --detach \
  --trainer "$ROOT/tests/fake/fake_trainer" \
  --trainer-env 'ORDO_FAKE=*:hold_at=40' || exit 1
server=$(sed -n 's/.*"api": *"\([^"]*\)".*/\1/p' deployment/endpoints.json)
"$ROOT/ordo" submit job.yaml --server "$server" || exit 1
# Then the trainer holds, and all six are there.
deadline=$((SECONDS + 60))
until "$ROOT/ordo" list checkpoints --server "$server" | grep -q 20-1; do
  [[ $SECONDS -lt $deadline ]] || { echo "FAILED: no checkpoint"; exit 1; }
done

processes=$(pgrep -fa -- "$folder")
for wanted in "ordo up --dir" "ordo-scheduler .*--deployment" \
  "ordo-worker .*--deployment" "ordo-supervisor --task-dir .*--deployment" \
  "ordo-supervisor --launcher --deployment" \
  "fake_trainer .*--deployment"; do
  [[ $(grep -cE "^[0-9]+ [^ ]*/$wanted $folder( |\$)" <<<"$processes") == 1 ]] ||
    failed "one process must be $wanted $folder"
done
[[ $(wc -l <<<"$processes") == 6 ]] || failed "there must be six processes"
[[ $failures == 0 ]] || printf '%s\n' "$processes"

"$ROOT/ordo" down --dir deployment || failed "ordo down"
left=$(pgrep -fa -- "$folder")
[[ -z $left ]] || failed "left behind: $left"
[[ $failures == 0 ]]
