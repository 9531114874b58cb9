#!/usr/bin/env bash
# Nodes without processes: 50 of them, 200 jobs as an array, twice, and 200 separate ones, jobs and steps of all
# nodes, and all ending at once. The
# benchmark says itself when not every job was completed, each once.
. "$(dirname "$0")/lib.bash"
here=$(cd "$(dirname "$0")/../.." && pwd)
[ -d "$here/node/target/test-classes" ] || { echo "skipped: the tests are not compiled"; exit 0; }
out=$dir/out
PORT=$(free_port) JAVA_HOME=${JAVA_HOME:-$(sed -n 's/^java_home=//p' "$prefix/lib/muster/launcher.conf")} \
  timeout 120 bash "$here/packaging/bench.sh" "$prefix" emulated 50 200 > "$out" 2>&1 && rc=0 || rc=$?
check "every part of it comes to its end" 0 "$rc"
check "all jobs of an array, cold and warm, and all separate ones" 3 "$(grep -c ': 200 jobs submitted and over' "$out")"
check "steps of all nodes" 5 "$(grep -c 'step of all nodes .: all have ended' "$out")"
check "and jobs of all nodes" 5 "$(grep -c 'job of all nodes .: all are free again' "$out")"
check "all ending at once" 5 "$(grep -c '^storm .: 50 jobs end, the next run' "$out")"
[ "$rc" = 0 ] || cat "$out"
