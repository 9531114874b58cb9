#!/usr/bin/env bash
# Benchmarks, each beside the reference in the same run where Debian's Slurm is installed (packages slurm-wlm, munge).
#   bench.sh PREFIX commands | bigstep | manynodes [NODES] | throughput | durability | queue [JOBS] | journal
set -euo pipefail
prefix=$(cd "$1" && pwd); what=${2:-commands}
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d /tmp/muster-bench-XXXXXX); chmod 755 "$work"
java="${JAVA_HOME:?}/bin/java"

cp_of() { printf '%s' "$here/$1/target/test-classes"; for m in model config core scheduler journal transport daemon controller accounting; do printf ':%s' "$here/$m/target/classes"; done; for j in "$here"/controller/target/lib/*.jar; do case $j in */muster-*) ;; *) printf ':%s' "$j" ;; esac; done; }

. "$here/packaging/pair.bash"
trap clean EXIT
debian() { [ -x /usr/sbin/slurmctld-wlm ] && command -v munged >/dev/null; }
now() { date +%s%N; }
med() { sort -n | awk '{a[NR]=$1} END{print a[int((NR+1)/2)]}'; }

# one call in microseconds: timed KIND COMMAND...
timed() {
  local k=$1 bin=/usr/bin s e; shift; [ $k = muster ] && bin=$prefix/bin
  s=$(now); SLURM_CONF=$work/$k/slurm.conf "$bin"/$* </dev/null >/dev/null 2>&1 || true; e=$(now); echo $(((e-s)/1000))
}

# a line of the table; the two take turns, so that whatever else the machine does falls on both
compare() {
  local c=$1 k; : > "$work/muster.us"; : > "$work/debian.us"
  for _ in $(seq "${RUNS:-21}"); do for k in muster debian; do [ -d "$work/$k" ] && timed $k "$c" >> "$work/$k.us"; done; done
  awk -v c="$c" -v m="$(med < "$work/muster.us")" -v d="$(med < "$work/debian.us")" 'BEGIN{printf "%-34s %10.1f %10.1f %8.2f\n", c, m/1000, d/1000, d ? m/d : 0}'
}

# the long path, beside a Java program that does nothing
cold() {
  local conf=$prefix/lib/muster/launcher.conf
  cp "$conf" "$work/launcher.conf"; sed -i '/^command_service=/d' "$conf"
  printf 'public class Empty { public static void main(String[] a) {} }\n' > "$work/Empty.java"; "$java"c -d "$work" "$work/Empty.java"
  : > "$work/cold.us"; : > "$work/empty.us"
  for _ in $(seq "${RUNS:-21}"); do
    timed muster squeue >> "$work/cold.us"
    s=$(now); "$java" -cp "$work" Empty >/dev/null 2>&1; e=$(now); echo $(((e-s)/1000)) >> "$work/empty.us"
  done
  cp "$work/launcher.conf" "$conf"
  awk -v m="$(med < "$work/cold.us")" -v d="$(med < "$work/empty.us")" 'BEGIN{printf "%-34s %10.1f %10.1f %8.2f\n", "squeue, long path | empty Java", m/1000, d/1000, m/d}'
}

commands() {
  cluster muster "$prefix/bin" "$prefix/sbin" 2 8 31817
  debian && cluster debian /usr/bin /usr/sbin 2 8 32817
  sleep 2
  printf '%-34s %10s %10s %8s\n' command muster_ms debian_ms ratio
  for k in muster debian; do [ -d "$work/$k" ] && timed $k "sbatch -H -o /dev/null --wrap=true" >/dev/null; done
  for c in "squeue" "sinfo" "sbatch -H -o /dev/null --wrap=true" "scontrol show job 1" "scancel 1" "srun true" "srun -n 8 true"; do compare "$c"; done
  cold
  for k in muster debian; do
    [ -d "$work/$k" ] || continue
    bin=/usr/bin; [ $k = muster ] && bin=$prefix/bin
    s=$(now); for _ in 1 2 3 4 5 6 7 8; do (for _ in $(seq 50); do SLURM_CONF=$work/$k/slurm.conf "$bin/sbatch" -H -o /dev/null --wrap=true >/dev/null; done) & done; wait; e=$(now)
    awk -v k=$k -v t=$(((e-s)/1000000)) 'BEGIN{printf "8 parallel sbatch loops, %s: %.0f jobs/s\n", k, 400000/t}'
  done
}

# One step of 512 tasks over 8 slurmds, in turns; every line must come once.
bigstep() {
  tasks=${TASKS:-512}
  cluster muster "$prefix/bin" "$prefix/sbin" 8 64 29817
  debian && cluster debian /usr/bin /usr/sbin 8 64 30817
  sleep "${SETTLE:-8}"      # the daemons of both have come to rest
  # the first three are not counted; what a step leaves to be tidied up must not fall on the next one
  for run in $(seq -2 "${RUNS:-11}"); do for k in muster debian; do
    [ -d "$work/$k" ] || continue
    bin=/usr/bin; [ $k = muster ] && bin=$prefix/bin
    for how in "" -l; do
      sleep 0.7
      s=$(now); SLURM_CONF=$work/$k/slurm.conf "$bin/srun" -Q -N 8 -n "$tasks" $how sh -c 'echo $SLURM_PROCID' </dev/null >"$work/$k.out" 2>"$work/$k.err" || cat "$work/$k.err"; e=$(now)
      [ "$run" -lt 1 ] || echo $(((e-s)/1000)) >> "$work/$k$how.us"
      [ "$(sed 's/.*: //' "$work/$k.out" | sort -n | uniq | wc -l)/$(wc -l < "$work/$k.out")" = "$tasks/$tasks" ] || echo "$k: lines are missing or doubled"
    done
  done; done
  for how in "" -l; do
    [ -d "$work/debian" ] || : > "$work/debian$how.us"
    awk -v n="$tasks" -v h="$how" -v m="$(med < "$work/muster$how.us")" -v d="$(med < "$work/debian$how.us")" 'BEGIN{printf "srun -N 8 -n %d %s: muster %.0f ms, debian %.0f ms, %.2f times faster\n", n, h, m/1000, d/1000, m ? d/m : 0}'
  done
}

# One step over many nodes, which one slurmd process stands for: real registrations, stepds and tasks, all on this machine.
manynodes() {
  local n=$1 port=20999 out=$work/many.out err=$work/many.err run s e
  ONE=1 EXTRA="TreeWidth=${WIDTH:-16}" cluster muster "$prefix/bin" "$prefix/sbin" "$n" 4 $port
  export SLURM_CONF=$work/muster/slurm.conf
  sleep "${SETTLE:-8}"
  for run in $(seq "${RUNS:-5}"); do
    s=$(now); timeout 300 "$prefix/bin/srun" -Q -l -N "$n" sh -c 'echo $SLURMD_NODENAME' </dev/null > "$out" 2> "$err" || true; e=$(now)
    echo "srun -N $n -l: $(((e-s)/1000000)) ms, $(wc -l < "$out") lines, $(sort -u "$out" | wc -l) different ones, $(wc -l < "$err") errors"
    while [ -n "$("$prefix/bin/squeue" -h)" ]; do sleep 0.3; done
  done
  command -v ss >/dev/null || return 0
  "$prefix/bin/srun" -Q -N "$n" sleep "${HOLD:-15}" </dev/null &
  run=$!; sleep $((${HOLD:-15} - 3))
  echo "connections to nodes that srun holds: $(ss -tnpH state established "( dport > :$port and dport <= :$((port + n)) )" | grep -vc '"slurmd"')"
  wait $run
}

throughput() {
  jobs=${JOBS:-2000}
  for k in muster debian; do
    [ $k = muster ] || debian || continue
    bin=/usr/bin sbin=/usr/sbin; [ $k = muster ] && bin=$prefix/bin sbin=$prefix/sbin
    cluster $k "$bin" "$sbin" 8 8 $([ $k = muster ] && echo 33817 || echo 34817)
    export SLURM_CONF=$work/$k/slurm.conf
    for how in array separate; do
      s=$(now)
      if [ $how = array ]; then "$bin/sbatch" -o /dev/null --array=1-"$jobs" --wrap=true >/dev/null
      else for _ in 1 2 3 4; do (for _ in $(seq $((jobs/4))); do "$bin/sbatch" -o /dev/null --wrap=true >/dev/null; done) & done; wait $(jobs -p); fi
      while [ -n "$("$bin/squeue" -h -o %i 2>/dev/null | head -1)" ]; do sleep 0.2; done
      e=$(now)
      awk -v k=$k -v h=$how -v n="$jobs" -v t=$(((e-s)/1000000)) 'BEGIN{printf "%-8s %-9s %d jobs in %.1f s: %.1f jobs/s\n", k, h, n, t/1000, n*1000/t}'
    done
    for f in "$work/$k"/run/*.pid; do [ -s "$f" ] && kill "$(cat "$f")" 2>/dev/null || true; done; sleep 2
  done
}

# The same kills, the same ledger, on both: ROUNDS=50 for the full length.
durability() {
  . "$here/packaging/ledger.bash"
  for k in muster debian; do
    [ $k = muster ] || debian || continue
    bin=/usr/bin sbin=/usr/sbin; [ $k = muster ] && bin=$prefix/bin sbin=$prefix/sbin
    MINJOBAGE=600 cluster $k "$bin" "$sbin" 2 8 $([ $k = muster ] && echo 35817 || echo 36917)
    [ $k = muster ] || sbin=$work/debian/sbin
    export SLURM_CONF=$work/$k/slurm.conf
    start_ctld() { "$sbin/slurmctld" -f "$SLURM_CONF" </dev/null >/dev/null 2>&1; }
    kill_rounds "$bin" "$work/$k" "${ROUNDS:-10}"
    echo "$k: $acked acknowledged over $rounds_done kills, $missing lost, $twice ran twice, $reused numbers given twice, $disturbed of 4 long jobs disturbed"
    for f in "$work/$k"/run/*.pid; do [ -s "$f" ] && kill "$(cat "$f")" 2>/dev/null || true; done; sleep 1
  done
}

case $what in
  commands) commands ;;
  bigstep) bigstep ;;
  manynodes) manynodes "${3:-1000}" ;;
  throughput) throughput ;;
  durability) durability ;;
  queue) "$java" -Xmx6g -XX:+UseSerialGC -cp "$(cp_of controller)" dev.muster.controller.QueueBenchmark "${3:-100000}" ;;
  journal) "$java" -cp "$(cp_of journal)" dev.muster.journal.JournalBenchmark ;;
  *) echo "bench.sh PREFIX commands|bigstep|manynodes [NODES]|throughput|durability|queue [JOBS]|journal"; exit 2 ;;
esac
