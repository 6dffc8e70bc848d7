#!/usr/bin/env bash
# `ordo health` tells of a scheduler and of a worker whether they serve. Two
# workers share a configuration: --worker and --host are each one's own.
set -uo pipefail

readonly ROOT=$PWD
export HOME=$TEST_TMPDIR
failures=0
processes=()
cd "$TEST_TMPDIR" || exit 1
trap 'kill "${processes[@]}" 2>/dev/null; wait' EXIT

failed() {
  printf 'FAILED %s\n' "$*"
  failures=$((failures + 1))
}

# start NAME PROGRAM ARGUMENT...: waits until NAME.json says where it serves.
start() {
  local name=$1
  "$ROOT/$2" "${@:3}" >"$name.log" 2>&1 &
  processes+=($!)
  until [[ -s $name.json ]]; do
    kill -0 "${processes[-1]}" 2>/dev/null || {
      failed "$name ended: $(<"$name.log")"
      exit 1
    }
    read -rt 0.02 <> <(:)
  done
}

address() { sed -n 's/.*"api": *"\([^"]*\)".*/\1/p' "$1.json"; }

cat >scheduler.yaml <<END
listen: 127.0.0.1:0
store: $PWD/ordo.db
storage_root: $PWD/storage
endpoints_file: $PWD/scheduler.json
END
start scheduler ordo-scheduler --config scheduler.yaml
server=$(address scheduler)
for name in east west; do
  mkdir -p "$name"
  cat >worker.yaml <<END
scheduler: $server
listen: 127.0.0.1:0
state_folder: $PWD/$name
storage_root: $PWD/storage
endpoints_file: $PWD/$name.json
trainer: $ROOT/tests/fake/fake_trainer
devices: ["cpu:0"]
END
  start "$name" ordo-worker --config worker.yaml --worker "w-$name" \
    --host localhost
done

for name in scheduler east west; do
  "$ROOT/ordo" health --server "$(address "$name")" >/dev/null ||
    failed "$name serves"
done
[[ $(address east) == localhost:* ]] || failed "--host names where it is reached"
for name in east west; do
  # The scheduler has reached it there once its device is offered.
  for ((try = 0; try < 500; ++try)); do
    "$ROOT/ordo" list workers --server "$server" -o json |
      grep -q "workers/w-$name.*$(address "$name")" && break
    read -rt 0.02 <> <(:)
  done
  ((try < 500)) || failed "w-$name is listed at $(address "$name")"
done

kill "${processes[0]}"
wait "${processes[0]}"
"$ROOT/ordo" health --server "$server" 2>health.log
[[ $? == 4 ]] || failed "a scheduler that is gone is not there: $(<health.log)"
"$ROOT/ordo" health --server "$(address east)" >/dev/null ||
  failed "a worker serves without its scheduler"
[[ $failures == 0 ]]
