#!/usr/bin/env bash
# A long attack by callers without a credential: attack.sh PREFIX [SECONDS [IDLE [SLOW [GARBAGE_MIB]]]]
# On every port: IDLE / 4 idle connections (20000), SLOW / 4 slow bodies (200), bodies of 62 MiB, and GARBAGE_MIB of
# garbage (1000), all without a credential. The attackers yield the processors, as other hosts would. Prints squeue's
# 50th and 99th percentile before and during, the memory of each daemon, and the states of nodes and jobs.
export MUSTER_TEST_LIMIT_S=$(( ${2:-180} + 300 ))
set -- "${1:?PREFIX}" "${2:-180}" "${3:-20000}" "${4:-200}" "${5:-1000}"
. "$(dirname "$0")/cluster-tests/lib.bash"
here=$(cd "$(dirname "$0")" && pwd)
seconds=$2 idle=$3 slow=$4 garbage=$5
prepare_dbd; start_dbd
start_cluster 2 4 "$accounting
SlurmdTimeout=60"
id=$(sbatch --parsable --wrap "sleep $((seconds + 60))")
running "$id" 0
latency() { # seconds
  local end=$((SECONDS + $1)) began rc
  while [ $SECONDS -lt $end ]; do
    began=$(date +%s%N); rc=0; timeout 30 squeue >/dev/null 2>&1 || rc=$?
    echo "$((($(date +%s%N) - began) / 1000)) $rc"; sleep 0.05
  done
}
told() {
  sort -n "$2" | awk -v what="$1" '{t[NR] = $1; bad += $2 != 0}
    END {n = int(NR * 0.99) + 1; if (n > NR) n = NR
      printf "%-8s squeue %d times, %d failed, p50 %.1f ms, p99 %.1f ms, longest %.1f ms\n",
        what, NR, bad, t[int(NR * 0.5) + 1] / 1000, t[n] / 1000, t[NR] / 1000}'
}
memory() {
  for f in slurmctld slurmdbd slurmd-n1 slurmd-n2; do
    printf '%s %d MiB, %d descriptors; ' $f $(($(awk '/VmRSS/{print $2}' "/proc/$(pid_of $f)/status") / 1024)) \
      "$(ls "/proc/$(pid_of $f)/fd" | wc -l)"
  done
  echo
}
latency 10 > "$dir/before"
echo "before   $(memory)"
attackers=()
for p in "$port" $((port + 1)) $((port + 2)) "$dbd_port"; do
  nice -n 19 python3 "$here/attack.py" idle "$p" $((idle / 4)) "$seconds" >> "$dir/attack.out" 2>&1 & attackers+=($!)
  nice -n 19 python3 "$here/attack.py" slow "$p" $((slow / 4)) "$seconds" >> "$dir/attack.out" 2>&1 & attackers+=($!)
  nice -n 19 python3 "$here/attack.py" big "$p" 2 "$seconds" >> "$dir/attack.out" 2>&1 & attackers+=($!)
  nice -n 19 python3 "$here/attack.py" garbage "$p" "$garbage" "$seconds" >> "$dir/attack.out" 2>&1 & attackers+=($!)
done
latency "$((seconds - 5))" > "$dir/during"
echo "during   $(memory)"
for a in "${attackers[@]}"; do wait "$a" || true; done
sleep 3
echo "after    $(memory)"
told before "$dir/before"; told during "$dir/during"
cat "$dir/attack.out"
sinfo -N -o '%N %T'
squeue -o '%i %T'; scontrol show job "$id" | grep -o 'Restarts=[0-9]*'
check "no squeue failed" 0 "$(awk '$2' "$dir/during" | wc -l)"
check "no node went down" 0 "$(sinfo -h -N -o %T | grep -c down || true)"
check "the job runs on" RUNNING "$(squeue -h -j "$id" -o %T)"
scancel "$id"
