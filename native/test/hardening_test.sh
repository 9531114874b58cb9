#!/bin/sh
# Tests how the programs are linked. Usage: hardening_test.sh PROGRAM...
set -u
failed=0
for program in "$@"; do
    found=$(readelf -hdlW "$program" | awk '
        /Type: *DYN/ { pie = " position-independent" }
        /GNU_RELRO/ { relro = " read-only-relocations" }
        /BIND_NOW|FLAGS_1.* NOW/ { now = " bound-at-start" }
        /GNU_STACK/ && !/RWE/ { stack = " no-executable-stack" }
        END { print pie relro now stack }')
    if [ "$found" = ' position-independent read-only-relocations bound-at-start no-executable-stack' ]; then
        echo "ok    $(basename "$program") is hardened"
    else
        failed=1
        echo "FAILED $program is only$found"
    fi
done
exit $failed
