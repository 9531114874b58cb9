#!/usr/bin/env bash
# Every test: unit and simulation tests of all modules, the C programs' tests, then the tests across real daemons.
#   test.sh            all        test.sh --java | --native | --cluster   one part
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
part=${1:-all}
failed=0
passed=0
again=()

run() {
  local name=$1 begun=$SECONDS; shift
  printf '== %s\n' "$name"
  if "$@"; then passed=$((passed+1)); else failed=$((failed+1)); printf '== FAILED: %s\n' "$name"; fi
  printf '== took %s s\n' $((SECONDS - begun))
}

case $part in all|--java) run "java modules" mvn -q -B -f "$here/pom.xml" verify ;; esac
case $part in all|--native) run "native programs" make -s -C "$here/native" test JAVA_HOME="$JAVA_HOME" ;; esac
case $part in all|--cluster)
  "$here/muster" build
  for t in "$here"/packaging/cluster-tests/*.sh; do
    before=$failed; run "$(basename "$t" .sh)" bash "$t" "$here/build/prefix"
    [ "$failed" = "$before" ] || again+=("$t")
  done
  # A machine that stood still for a second is no fault of ours: one or two have a second go, and are named. More are a failure.
  if [ ${#again[@]} -le 2 ]; then
    for t in "${again[@]}"; do
      before=$failed; run "$(basename "$t" .sh), again" bash "$t" "$here/build/prefix"
      [ "$failed" != "$before" ] || { failed=$((failed-1)); printf '== ONLY THE SECOND TIME: %s\n' "$(basename "$t" .sh)"; }
    done
  fi ;;
esac
printf '%s passed, %s failed, %s had to be run again\n' "$passed" "$failed" "${#again[@]}"
[ "$failed" = 0 ]
