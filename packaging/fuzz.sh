#!/usr/bin/env bash
# Fuzzes the decoders of Java with Jazzer: fuzz.sh SECONDS [CLASS...]. Each class *FuzzTest has seeds and an entry
# point; SECONDS are for each. SEED=N repeats a run as far as the machine is as fast; without it each run has a seed of
# its own. New inputs are kept in build/fuzz/CLASS; an input that breaks a decoder is written there as crash-*, and
# becomes a seed of its class.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

one() { # SECONDS FILE
  local seconds=$1 module=${2%%/*} class name corpus path log
  class=${2#*/src/test/java/}; class=${class%.java}; class=${class//\//.}; name=${class##*.}
  corpus=$here/build/fuzz/$name; log=$corpus.log; mkdir -p "$corpus"
  path=$here/$module/target/test-classes:$here/$module/target/classes:$(cat "$here/$module/target/fuzz.classpath")
  "$JAVA_HOME/bin/java" -cp "$path" "$here/packaging/FuzzSeeds.java" "$class" "$corpus"
  if (cd "$corpus" && timeout $((seconds + 120)) "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED \
    -XX:+UseSerialGC -Xmx1g -cp "$path" \
      com.code_intelligence.jazzer.Jazzer "--target_class=$class" '--instrumentation_includes=dev.muster.**' \
      -max_total_time="$seconds" -seed="${SEED:-0}" -max_len=8192 -timeout=10 . > "$log" 2>&1); then
    printf 'ok   %s: %s\n' "$name" "$(grep -oE '^Done [0-9]+ runs' "$log" || true)"
  else
    printf 'FAIL %s\n' "$name"; sed -n '/Java Exception/,/DEDUP/p' "$log" | head -20; tail -5 "$log"; return 1
  fi
}
if [ "${1:?SECONDS}" = --one ]; then shift; one "$@"; exit; fi
seconds=$1; shift
mvn -q -B -f "$here/pom.xml" -Pfuzz test-compile dependency:build-classpath -Dmdep.outputFile=target/fuzz.classpath \
  -Dmdep.includeScope=test
cd "$here"
find . -name '?*FuzzTest.java' -path '*/src/test/java/*' | sed 's|^\./||' | sort | while read -r file; do
  name=${file##*/}; name=${name%.java}
  [ $# = 0 ] || [[ " $* " = *" $name "* ]] || continue
  echo "$file"
done | xargs -r -P "$(nproc)" -n 1 "$here/packaging/fuzz.sh" --one "$seconds"
