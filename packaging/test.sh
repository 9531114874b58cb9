#!/usr/bin/env bash
# Every test: documents, checks by Error Prone, unit and simulation tests of all modules, C programs, then the tests across real daemons.
#   test.sh            all        test.sh --docs | --checks | --java | --native | --cluster   one part
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
part=${1:-all}
failed=0
passed=0
mistakes=()
said=$(mktemp); trap 'rm -f "$said"' EXIT

run() {
  local name=$1 begun=$SECONDS; shift
  printf '== %s\n' "$name"
  if "$@" > "$said" 2>&1; then passed=$((passed+1)); cat "$said"; else
    failed=$((failed+1)); cat "$said"; printf '== FAILED: %s\n' "$name"
    mistakes+=("$name: $(grep -m 3 -E '^FAIL|ERROR' "$said" | cut -c1-300 | tr '\n' ' ' || true)")
  fi
  printf '== took %s s\n' $((SECONDS - begun))
}

documents() { python3 -B "$here/packaging/docs/docs_test.py" && python3 -B "$here/packaging/docs/docs.py" check; }
case $part in all|--docs) run "documents" documents; run "release command" bash "$here/packaging/release_test.sh" ;; esac
# The format, then Error Prone over main code and tests, into classes of its own: all of them anew, as an unchanged module is not looked at again.
checks() { rm -rf "$here"/*/target/check; mvn -q -B -T2 -f "$here/pom.xml" spotless:check && mvn -q -B -T2 -f "$here/pom.xml" -Pcheck test-compile; }
case $part in all|--checks) run "checks by Error Prone" checks ;; esac
case $part in all|--java) run "java modules" mvn -q -B -f "$here/pom.xml" verify ;; esac
case $part in all|--native)
  run "native programs" make -s -C "$here/native" test JAVA_HOME="$JAVA_HOME"
  run "native programs of steps, with sanitizers" make -s -C "$here/native" test-steps SAN=1 OUT=build/sanitized
  run "native parsers, fuzzed" make -s -j2 -C "$here/native" fuzz SECONDS=20 ;;
esac
case $part in all|--cluster)
  "$here/muster" build
  # These mostly wait for time to be over: beside the others, with an installation (and so a command service) of their own.
  patient="everyday keyring power ranks scrontab stepmgr certmgr daemonkeys hooks jwks memory patience syncs triggers hetpreempt qospreempt signals sensors"
  beside=$(mktemp -d); chmod 755 "$beside"; trap 'rm -rf "$said" "$beside"' EXIT
  (
    "$here/muster" install "$beside/prefix" >/dev/null
    for t in $patient; do
      begun=$SECONDS
      bash "$here/packaging/cluster-tests/$t.sh" "$beside/prefix" > "$beside/$t.out" 2>&1 && echo 0 > "$beside/$t.rc" || echo 1 > "$beside/$t.rc"
      echo $((SECONDS - begun)) > "$beside/$t.s"
    done
  ) </dev/null &
  waited() { wait; cat "$beside/$1.out"; echo "beside the others, $(cat "$beside/$1.s") s"; return "$(cat "$beside/$1.rc")"; }
  for t in "$here"/packaging/cluster-tests/*.sh; do
    [[ " $patient " != *" $(basename "$t" .sh) "* ]] || continue
    run "$(basename "$t" .sh)" bash "$t" "$here/build/prefix"
  done
  for t in $patient; do run "$t" waited "$t"; done ;;
esac
# What failed, and why, once more in one place.
[ ${#mistakes[@]} = 0 ] || printf '== did not pass: %s\n' "${mistakes[@]}"
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
