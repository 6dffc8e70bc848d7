#!/bin/sh
# ordo-supervisor is static: no interpreter, no shared library. It must go on
# whatever an upgrade of the machine does to these.
headers=$(readelf --wide --program-headers --dynamic ordo-supervisor) || exit 1
if echo "$headers" | grep -E 'INTERP|NEEDED'; then
  echo "FAILED: ordo-supervisor loads what is named above"
  exit 1
fi
echo "$headers" | grep -q LOAD
