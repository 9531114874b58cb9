#!/bin/sh
# Tests the form of the C code: lines of at most 120 characters, functions of at most 60 lines, no tabs. Usage: tidy_test.sh FILE...
found=$(LC_ALL=C.UTF-8 awk '
    FNR == 1 { start = 0 }
    length($0) > 120 { print FILENAME ":" FNR ": " length($0) " characters" }
    /\t/ { print FILENAME ":" FNR ": a tab" }
    /[ \t]$/ { print FILENAME ":" FNR ": blanks at the end" }
    /^\{/ { start = FNR }
    /^\}/ { if (start && FNR - start + 1 > 60) print FILENAME ":" start ": a function of " FNR - start + 1 " lines"; start = 0 }
    ' "$@")
if [ -n "$found" ]; then
    printf 'FAILED form of the code:\n%s\n' "$found"
    exit 1
fi
echo "ok    form of the code: $# files"
