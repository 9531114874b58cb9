#!/bin/sh
# Runs a test; with a directory of sanitizers' reports it fails also when there is one. Usage: run.sh DIRECTORY|'' COMMAND...
reports=$1
shift
[ -z "$reports" ] || { rm -rf "$reports" && mkdir -m 1777 "$reports"; } || exit 1
"$@" || exit 1
if [ -n "$reports" ] && grep -qrE 'ERROR:|runtime error:' "$reports"; then
    cat "$reports"/*
    exit 1
fi
