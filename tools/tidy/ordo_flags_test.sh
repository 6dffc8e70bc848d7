#!/bin/sh
# The flags of `ordo` only change on purpose: scripts depend on them.
# To print them: ORDO=bazel-bin/ordo tools/tidy/ordo_flags_test.sh --print
ordo=${ORDO:-./ordo}

flags() {
  for command in $("$ordo" help | awk '/^  [a-z]+  / {print $1}'); do
    "$ordo" help "$command" | grep -oE -- '^ +(-[a-z], |    )--[a-z-]+' |
      sed "s/.*--/$command: --/"
  done | grep -vE ': --(ca|certificate|help|key|output|server|token-file)$' | LC_ALL=C sort
}

if [ "${1:-}" = --print ]; then
  flags
  exit
fi
flags >"$TEST_TMPDIR/flags" && diff tools/tidy/ordo_flags.txt \
  "$TEST_TMPDIR/flags" || {
  echo "The flags of ordo changed (> is new). If that is meant, change"
  echo "tools/tidy/ordo_flags.txt."
  exit 1
}
