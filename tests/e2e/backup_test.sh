#!/usr/bin/env bash
# A deployment's store is copied while its scheduler runs, and put back after
# what came later is gone.
set -uo pipefail

readonly ROOT=$PWD
export HOME=$TEST_TMPDIR
failures=0
cd "$TEST_TMPDIR" || exit 1
folder=$(pwd -P)/deployment
config=$folder/config/scheduler.textproto
trap '"$ROOT/ordo" down --dir "$folder" >/dev/null 2>&1' EXIT

failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}

up() {
  "$ROOT/ordo" up --dir deployment --listen 127.0.0.1:0 --detach \
    --trainer "$ROOT/tests/fake/fake_trainer" || exit 1
  server=$(sed -n 's/.*"api": *"\([^"]*\)".*/\1/p' deployment/endpoints.json)
}

submit() {
  cat >job.yaml <<END
kind: train
name: $1
model: {preset: tiny, layers: 1, width: 16, heads: 2}
encoding: {name: rope}
data: {task: addition, params: {max_digits: 2}, seed: 1}
training: {steps: 20, batch_size: 4}
retry: {max_attempts: 1, max_interruptions: 1}
END
  "$ROOT/ordo" submit job.yaml --server "$server" --watch >/dev/null ||
    failed "submit $1"
}

has() { "$ROOT/ordo" list jobs --server "$server" | grep -q "$1"; }

up
submit before
"$ROOT/ordo-scheduler" backup copy.db --config "$config" ||
  failed "backup of a store in use"
"$ROOT/ordo-scheduler" backup copy.db --config "$config" &&
  failed "a backup over another must be refused"
submit after
"$ROOT/ordo-scheduler" restore copy.db --config "$config" &&
  failed "restore into a store in use must be refused"
has after || failed "the refused restore changed the store"

"$ROOT/ordo" down --dir deployment || failed "ordo down"
"$ROOT/ordo-scheduler" restore copy.db --config "$config" || failed "restore"
up
has before || failed "what was copied must be there"
has after && failed "what came after the copy must not be there"
# And business goes on, under a name that is free again. What the attempt
# before left in its folder costs this job neither its only attempt nor its only
# interruption.
submit after
has after || failed "no job after the restore"
"$ROOT/ordo" show after --server "$server" -o json | grep -q FOLDER_TAKEN ||
  failed "the folder of the attempt before was not seen"

# A row that is damaged (here the spec of a job that has ended) comes back only
# when asked for, and ends no backups: it is named, with an exit code of its own.
"$ROOT/ordo" down --dir deployment || failed "ordo down"
kept=deployment/scheduler/ordo.db.before-restore
rm -f "$kept" "$kept-wal"
LC_ALL=C sed -i 's/max_digits/max_digitz/g' copy.db
"$ROOT/ordo-scheduler" restore copy.db --config "$config"
[[ $? == 9 ]] || failed "restore of a damaged row must end with code 9"
[[ -e $kept ]] && failed "a copy with a damaged row was put in place"
"$ROOT/ordo-scheduler" restore copy.db --config "$config" --damaged
[[ $? == 9 ]] || failed "restore --damaged must end with code 9"
[[ -e $kept ]] || failed "restore --damaged put nothing in place"
"$ROOT/ordo-scheduler" backup damaged.db --config "$config" 2>damage
[[ $? == 9 ]] || failed "backup of a damaged row must end with code 9"
grep -q "table specs, id" damage || failed "the damaged row is not named"
[[ -e damaged.db ]] || failed "there is no copy of the store"
up

# A store that is damaged has an exit code of its own, and is left as it is.
"$ROOT/ordo" down --dir deployment || failed "ordo down"
rm -f deployment/scheduler/ordo.db-wal deployment/scheduler/ordo.db-shm
head -c 8192 /dev/zero | tr '\0' x >deployment/scheduler/ordo.db
"$ROOT/ordo" up --dir deployment --detach
[[ $? == 9 ]] || failed "up on a damaged store must end with code 9"
[[ $failures == 0 ]]
