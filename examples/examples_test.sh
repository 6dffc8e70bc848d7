#!/bin/sh
# Each of the files, by default all examples, passes the checks of `ordo submit --dry-run`, which needs no
# server.
status=0
for file in ${@:-examples/*.yaml}; do
  ./ordo submit --dry-run "$file" >/dev/null || {
    echo "FAILED $file"
    status=1
  }
done
exit $status
