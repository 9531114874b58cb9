#!/usr/bin/env bash
# Every test: unit and simulation tests of all modules, the C programs' tests, then the tests across real daemons.
#   test.sh            all        test.sh --java | --native | --cluster   one part
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
part=${1:-all}
failed=0
passed=0

run() {
  local name=$1; shift
  printf '== %s\n' "$name"
  if "$@"; then passed=$((passed+1)); else failed=$((failed+1)); printf '== FAILED: %s\n' "$name"; fi
}

case $part in all|--java) run "java modules" mvn -q -B -f "$here/pom.xml" verify ;; esac
case $part in all|--native) run "native programs" make -s -C "$here/native" test JAVA_HOME="$JAVA_HOME" ;; esac
case $part in all|--cluster)
  "$here/muster" build
  for t in "$here"/packaging/cluster-tests/*.sh; do run "$(basename "$t" .sh)" bash "$t" "$here/build/prefix"; done ;;
esac
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
