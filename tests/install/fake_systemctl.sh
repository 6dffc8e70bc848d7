# systemctl as far as the pages use it: runs what the units below $T/usr/local
# say, without what they forbid; pids lie in $T/units. $ROOT is where
# tests/install lies.
# shellcheck shell=bash

# field UNIT NAME
field() { sed -n "s/^$2=//p" "$T/usr/local/lib/systemd/system/$1" | tail -n 1; }
here() { sed -E "s#/(etc/ordo|var/(lib|backups)/ordo)#$T/\1#g"; }
pid_of() { cat "$T/units/$1.pid" 2>/dev/null; }
runs() { [[ -n $(pid_of "$1") ]] && kill -0 "$(pid_of "$1")" 2>/dev/null; }

start() {
  local line
  line=$(field "$1" ExecStart | here)
  if [[ $(field "$1" Type) == oneshot ]]; then
    # shellcheck disable=SC2046
    export $(field "$1" Environment | here)
    line=${line//'$$'/'$'}
    bash -c "${line//%%/%}"
    return
  fi
  [[ -n $line ]] || return 0
  runs "$1" && return
  rm -f "$T/units/$1.ready"
  # shellcheck disable=SC2086
  setsid python3 "$ROOT/tests/install/notified.py" "$T/units/$1.ready" $line \
    >>"$T/units/$1.log" 2>&1 </dev/null &
  echo $! >"$T/units/$1.pid"
  until [[ -s $T/units/$1.ready ]]; do
    runs "$1" || {
      tail -n 5 "$T/units/$1.log"
      return 1
    }
    sleep 0.05
  done
}

# end UNIT SIGNAL: until it has left.
end() {
  runs "$1" || return 0
  kill -s "$2" "$(pid_of "$1")"
  while runs "$1"; do sleep 0.05; done
}
stop() { end "$1" "$(field "$1" KillSignal | grep . || echo SIGTERM)"; }
restart() {
  local signal
  signal=$(field "$1" RestartKillSignal)
  end "$1" "${signal:-SIGTERM}" && start "$1"
}

verb=$1
shift
[[ ${1:-} != --now ]] || shift
case $verb in
  daemon-reload) ;;
  enable) for unit in "$@"; do start "$unit" || exit 1; done ;;
  disable) for unit in "$@"; do stop "$unit" || exit 1; done ;;
  start | stop | restart) for unit in "$@"; do "$verb" "$unit" || exit 1; done ;;
  *)
    echo "fake systemctl: no $verb" >&2
    exit 1
    ;;
esac
