#!/bin/sh
# ordo-scheduler allocates with jemalloc, which stands before libc in the order
# in which symbols are looked up.
libraries=$(readelf --wide --dynamic ordo-scheduler | grep NEEDED) || exit 1
first=$(echo "$libraries" | grep -E 'jemalloc|libc\.so' | head -n 1)
case $first in
  *jemalloc*) ;;
  *)
    echo "FAILED: ordo-scheduler allocates with libc; it needs"
    echo "$libraries"
    exit 1
    ;;
esac
