# Sourced by the scripts of tools/: where this checkout's dependencies and
# builds lie. Sets ORDO_ROOT (the checkout) and exports ORDO_DEPS, HOME and
# USER, which Bazel wants even where a service manager gives none.
# shellcheck shell=bash

ORDO_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

# Prints one line on standard error and ends the script with status 1.
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

USER=${USER:-$(id -un)}
if [[ -z ${HOME:-} ]]; then
  HOME=$(getent passwd "$(id -u)" | cut -d: -f6) || HOME=
  [[ -n $HOME ]] || fail "HOME is not set, and this user has no home folder"
fi
ORDO_DEPS=${ORDO_DEPS:-$HOME/.cache/ordo}
# The scripts and Bazel run in different folders; all mean the caller's.
[[ $ORDO_DEPS == /* ]] || ORDO_DEPS=$PWD/$ORDO_DEPS
export HOME ORDO_DEPS USER
ORDO_DISK_CACHE=--disk_cache=$ORDO_DEPS/build-cache

# ordo_bazel COMMAND ARGUMENT...: Bazel in this checkout, with the cache that
# checkouts share.
ordo_bazel() {
  local command=$1
  shift
  (cd "$ORDO_ROOT" && exec bazel "$command" "$ORDO_DISK_CACHE" "$@")
}
