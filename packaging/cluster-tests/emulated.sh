#!/usr/bin/env bash
# 50 emulated nodes, which have no processes: an array of 200 jobs, twice, 200 separate jobs, jobs and steps of all
# nodes, and 50 jobs that end at once. The benchmark itself checks that every job is completed once.
. "$(dirname "$0")/lib.bash"
here=$(cd "$(dirname "$0")/../.." && pwd)
[ -d "$here/node/target/test-classes" ] || { echo "skipped: the tests are not compiled"; exit 0; }
out=$dir/out
PORT=$(free_port) JAVA_HOME=${JAVA_HOME:-$(sed -n 's/^java_home=//p' "$prefix/lib/muster/launcher.conf")} \
  timeout 120 bash "$here/packaging/bench.sh" "$prefix" emulated 50 200 > "$out" 2>&1 && rc=0 || rc=$?
check "the benchmark ends with 0" 0 "$rc"
check "an array, cold and warm, and separate jobs: all 200 are over" 3 \
  "$(grep -c ': 200 jobs submitted and over' "$out")"
check "steps of all nodes end" 5 "$(grep -c 'step of all nodes .: all have ended' "$out")"
check "jobs of all nodes end" 5 "$(grep -c 'job of all nodes .: all are free again' "$out")"
check "50 jobs end at once and the next 50 jobs run" 5 "$(grep -c '^storm .: 50 jobs end, the next run' "$out")"
[ "$rc" = 0 ] || cat "$out"
