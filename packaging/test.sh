#!/usr/bin/env bash
# Every test: documents, checks by Error Prone, unit and simulation tests of all modules, C programs, then the tests
# across real daemons.
#   test.sh                                                                       all but the fuzzer
#   test.sh --docs | --checks | --java | --fuzz | --native | --cluster            one part
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
case $part in all|--docs) run "documents" documents; run "release command" bash "$here/packaging/release_test.sh" ;; \
  esac
format() { mvn -q -B -T2 -f "$here/pom.xml" spotless:check; }
# Error Prone over main code and tests and NullAway over main code, into classes of its own: all of them anew, as an
# unchanged module is not looked at again.
checks() {
  rm -rf "$here"/*/target/check
  mvn -q -B -T2 -f "$here/pom.xml" -Pcheck test-compile
}
# On a fresh clone the classes that Error Prone looked at are those that the tests run: everything is compiled once.
is_fresh() { ! compgen -G "$here/*/target/classes" >/dev/null; }
checked_tests() { mvn -q -B -T2 -f "$here/pom.xml" -Pcheck -Dcheck.directory=target verify; }
case $part in all|--checks) format > "$said.format" 2>&1 & formatter=$! ;; esac
case $part in
  --checks) run "checks by Error Prone" checks ;;
  --java) run "java modules" mvn -q -B -T2 -f "$here/pom.xml" verify ;;
  all)
    if is_fresh; then
      run "java modules, checked by Error Prone" checked_tests
    else
      run "checks by Error Prone" checks
      run "java modules" mvn -q -B -T2 -f "$here/pom.xml" verify
    fi ;;
esac
formatted() { local rc=0; wait "$formatter" || rc=$?; cat "$said.format"; rm -f "$said.format"; return "$rc"; }
case $part in all|--checks) run "format" formatted ;; esac
case $part in --fuzz) run "decoders of Java, fuzzed" env SEED=1 "$here/packaging/fuzz.sh" 2 ;; esac
case $part in all|--native)
  run "native programs" make -s -C "$here/native" test JAVA_HOME="$JAVA_HOME"
  run "native programs of steps, with sanitizers" make -s -C "$here/native" test-steps SAN=1 OUT=build/sanitized
  run "native parsers, fuzzed" make -s -j2 -C "$here/native" fuzz SECONDS=20 ;;
esac
# Tests across real daemons run in lanes: each lane has a copy of the installation, and so a command service, of its
# own, and takes the next test of its list. Patient tests mostly wait for time to be over and have a lane to themselves.
# Tests of "alone" load the machine or concern the whole host: they run last, one at a time.
patient="everyday keyring power ranks scrontab stepmgr certmgr daemonkeys hooks jwks memory patience syncs triggers \
hetpreempt qospreempt signals sensors"
alone="load host page demo durability follow controllers shared"
lanes=${MUSTER_TEST_LANES:-$(nproc)} limit=${MUSTER_TEST_LIMIT:-900}
next_test() { exec 9>>"$1.lock"; flock 9; sed -n 1p "$1"; sed -i 1d "$1"; }
# A test that hangs is ended, and so named, while there is time left to say so.
bounded() { # TEST PREFIX
  local rc=0
  timeout -k 10 "$limit" bash "$here/packaging/cluster-tests/$1.sh" "$2" </dev/null || rc=$?
  [ "$rc" != 124 ] && [ "$rc" != 137 ] || echo "FAIL $1 did not end within $limit s"
  return "$rc"
}
lane() { # PREFIX LIST
  local t begun rc
  while t=$(next_test "$2") && [ -n "$t" ]; do
    begun=$SECONDS rc=0
    bounded "$t" "$1" > "$beside/$t.out" 2>&1 || rc=1
    echo "$rc $((SECONDS - begun))" > "$beside/$t.new"; mv "$beside/$t.new" "$beside/$t.ended"
  done
}
# A copy of build/prefix for a lane: its start-up caches go by the sizes and times of the jars, wherever these lie.
copy_prefix() { # NAME
  local from=$here/build/prefix to=$beside/$1.d
  cp -a "$from" "$to"; rm -rf "$to"/var/run/*
  sed -i "s|$from|$to|g" "$to/lib/muster/launcher.conf" "$to"/lib/systemd/system/*.service
}
in_lane() { # waits for a test, and says what it said
  local rc seconds
  until [ -e "$beside/$1.ended" ]; do
    [ -n "$(jobs -rp)" ] || [ -e "$beside/$1.ended" ] || { echo "FAIL its lane has ended without it"; return 1; }
    sleep 0.5
  done
  read -r rc seconds < "$beside/$1.ended"
  cat "$beside/$1.out"; echo "in its lane: $seconds s"
  return "$rc"
}
# The installation has all start-up caches: without one a daemon starts, but slowly.
caches() { # PREFIX
  local c missing=0
  for c in cli cli-tls service slurmctld slurmd slurmrestd; do
    [ -s "$1/lib/muster/$c.aot" ] || { echo "FAIL no $c.aot in $1"; missing=1; }
  done
  return "$missing"
}
clusters() {
  local t n listed=" $patient $alone "
  "$here/muster" build --caches
  beside=$(mktemp -d); chmod 755 "$beside"; trap 'rm -rf "$said" "$beside"' EXIT
  for t in "$here"/packaging/cluster-tests/*.sh; do
    t=$(basename "$t" .sh)
    [[ "$listed" = *" $t "* ]] || echo "$t"
  done > "$beside/list"
  printf '%s\n' $patient > "$beside/patient"
  printf '%s\n' $(cat "$beside/list") > "$beside/others"
  for n in patient $(seq 2 "$lanes"); do copy_prefix "$n"; done
  lane "$here/build/prefix" "$beside/list" </dev/null &
  lane "$beside/patient.d" "$beside/patient" </dev/null &
  for n in $(seq 2 "$lanes"); do lane "$beside/$n.d" "$beside/list" </dev/null & done
  run licenses bash "$here/packaging/licenses_test.sh" "$here/build/prefix"
  for t in $(cat "$beside/others") $patient; do run "$t" in_lane "$t"; done
  run "start-up caches" caches "$here/build/prefix"
  for t in $alone; do run "$t" bounded "$t" "$here/build/prefix"; done
}
case $part in all|--cluster) clusters ;; esac
# What failed, and why, once more in one place.
[ ${#mistakes[@]} = 0 ] || printf '== did not pass: %s\n' "${mistakes[@]}"
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
