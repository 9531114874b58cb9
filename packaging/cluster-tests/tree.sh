#!/usr/bin/env bash
# shows: TreeWidth
# A step over 64 nodes with four relays on three levels. One slurmd process serves all nodes but the relay n17, which
# relays for n18 to n32.
. "$(dirname "$0")/lib.bash"
start_node() {
  mkdir -p "$dir/spool/$1"
  case $1 in
    n1) slurmd -f "$SLURM_CONF" -N "n[1-16,18-$nodes]" -d "$prefix/sbin/slurmstepd" ;;
    n17) slurmd -f "$SLURM_CONF" -N n17 -d "$prefix/sbin/slurmstepd" ;;
  esac </dev/null >>"$dir/log/start.out" 2>&1
}
start_cluster 64 4 "DefMemPerCPU=1
TreeWidth=4
SlurmdDebug=debug"
run() { timeout 60 srun -Q "$@"; }
lines() { for i in $(seq 0 "$1"); do printf '%3d: %s\n' "$i" "$2"; done | md5sum; }

check "128 tasks on 64 nodes: each line once, after its label" "$(lines 127 line)" \
  "$(run -l -N64 -n128 echo line </dev/null | sort -n | md5sum)"
check "SLURMD_NODENAME differs on each node" 64 "$(run -N64 sh -c 'echo $SLURMD_NODENAME' </dev/null | sort -u | wc -l)"
check "n17 relays launches for 15 nodes" "yes 15" \
  "$(awk '/launch for .* passed on to/ {n++; s+=$5} END {print (n % 4 ? "no" : "yes"), s/(n/4)}' \
  "$dir/log/slurmd-n17.log")"
check "--treewidth=off: each line once" "$(lines 127 line)" \
  "$(run --treewidth=off -l -N64 -n128 echo line </dev/null | sort -n | md5sum)"
check "--treewidth=1" "$(printf '%d: line\n' 0 1 2 3 4 5 6 7)" \
  "$(run --treewidth=1 -l -N8 echo line </dev/null | sort -n)"
check "the highest exit code of the tasks" 7 \
  "$(rc=0; run -N64 sh -c 'exit $((SLURM_PROCID == 31 ? 7 : 0))' </dev/null >/dev/null 2>&1 || rc=$?; echo $rc)"
check "input reaches all tasks" "64 x 300000" \
  "$(head -c 300000 /dev/zero | run -N64 wc -c | sort | uniq -c | awk '{print $1" x "$2}')"
if command -v ss >/dev/null; then
  : > "$dir/started"
  run -N64 sh -c 'echo started; sleep 2' </dev/null > "$dir/started" &
  soon '[ "$(wc -l < "$dir/started")" = 64 ]'
  check "srun holds four connections to nodes" 4 \
    "$(ss -tnpH state established "( dport > :$port and dport <= :$((port + 64)) )" | grep -vc '"slurmd"')"
  wait $!
fi

# One task writes as fast as it can through the relay of its branch.
cat > flood.sh <<'S'
if [ $SLURM_PROCID = 20 ]; then exec timeout 3 cat /dev/zero; fi
for i in 1 2 3; do echo small >&2; sleep 0.3; done
S
(run -N64 sh flood.sh </dev/null 2> "$dir/small" | wc -c > "$dir/flood") || true
check "a flood of one task: every line of the others arrives" 189 "$(grep -c small "$dir/small")"
check "the flood has more than 20 MB" yes "$([ "$(cat "$dir/flood")" -gt 20000000 ] && echo yes || cat "$dir/flood")"

check "input reaches 63 tasks when one does not read" "63 x 1000000" "$(head -c 1000000 /dev/zero \
  | run -N64 sh -c 'if [ $SLURM_PROCID = 20 ]; then sleep 1; else wc -c; fi' | sort | uniq -c \
  | awk '{print $1" x "$2}')"

(run -N64 sh -c 'if [ $SLURM_PROCID = 17 ]; then echo $$ > '"$dir"'/stopped; kill -STOP $$; fi; echo goes on' \
    </dev/null > "$dir/out" 2>&1; echo $? > "$dir/rc") &
soon '[ "$(wc -l < $dir/out)" -ge 63 ]'
becomes "a stopped task: the others of its branch go on" 63 '"$(wc -l < "$dir/out")"'
check "another step over the same relays runs" 64 "$(run -N64 echo fine </dev/null | wc -l)"
kill -CONT "$(cat "$dir/stopped")"; soon '[ -s $dir/rc ]'
becomes "the continued task ends" "64 0" '"$(wc -l < "$dir/out") $(cat "$dir/rc")"'

rm -f "$dir/rc"
# A relay is killed during a step: its nodes go on, and it comes back.
(run -l -N64 sh -c 'for i in $(seq 8); do echo line $i; sleep 0.3; done' </dev/null > "$dir/out" 2>"$dir/err"
    echo $? > "$dir/rc") &
soon '[ "$(wc -l < $dir/out)" -ge 100 ]'
kill -9 "$(cat "$dir/run/slurmd-n17.pid")"
soon '[ "$(grep -c "line 8" $dir/out)" -ge 63 ]'
becomes "a killed relay: the other tasks end" 63 '"$(grep -c "line 8" "$dir/out")"'
check "srun waits for the killed relay's task" no "$([ -s "$dir/rc" ] && echo yes || echo no)"
start_node n17; soon '[ -s $dir/rc ]'
becomes "the relay is back: every line once" "512 512 0" \
  '"$(wc -l < "$dir/out") $(sort -u "$dir/out" | wc -l) $(cat "$dir/rc")"'
check "srun prints no error about the relay" "" "$(cat "$dir/err")"

rm -f "$dir/rc"
# A relay is stopped during a step: the streams of its nodes go around it.
(run -l -N64 sh -c 'for i in $(seq 8); do echo line $i; sleep 0.3; done' </dev/null > "$dir/out" 2>"$dir/err"
    echo $? > "$dir/rc") &
soon '[ "$(wc -l < $dir/out)" -ge 100 ]'
kill -STOP "$(cat "$dir/run/slurmd-n17.pid")"
for _ in 1 2; do soon '[ "$(grep -c "line 8" $dir/out)" -ge 63 ]'; done
becomes "a stopped relay: the other tasks end" 63 '"$(grep -c "line 8" "$dir/out")"'
kill -CONT "$(cat "$dir/run/slurmd-n17.pid")"; soon '[ -s $dir/rc ]'
becomes "the continued relay: every line once" "512 512 0" \
  '"$(wc -l < "$dir/out") $(sort -u "$dir/out" | wc -l) $(cat "$dir/rc")"'

rm -f "$dir/rc"
# A relay is stopped before a launch: its nodes are launched without it, and its own task when it continues.
kill -STOP "$(cat "$dir/run/slurmd-n17.pid")"
(run --treewidth=off -l -N64 sh -c 'echo up; echo 1 >> '"$dir"'/up' </dev/null > "$dir/out" 2>"$dir/err"
    echo $? > "$dir/rc") &
for _ in 1 2; do soon '[ -s $dir/up ] && [ "$(wc -l < $dir/up)" -ge 63 ]'; done
becomes "a stopped relay: the other tasks are launched" 63 '"$(wc -l < "$dir/up")"'
kill -CONT "$(cat "$dir/run/slurmd-n17.pid")"; soon '[ -s $dir/rc ]'
becomes "the continued relay launches its own task once" "64 64 0" \
  '"$(wc -l < "$dir/up") $(sort -u "$dir/out" | wc -l) $(cat "$dir/rc")"'
check "no node launches a task twice" "" "$(grep -h 'launched before' "$dir"/log/*.log || true)"

rm -f "$dir/rc"
# The daemon of 63 nodes is killed during a step and comes back.
(run -l -N64 sh -c 'for i in 1 2 3 4; do echo line $i; sleep 0.4; done' </dev/null > "$dir/out" 2>&1
    echo $? > "$dir/rc") &
soon '[ "$(wc -l < $dir/out)" -ge 70 ]'
killed slurmd-n1
start_node n1
soon '[ -s $dir/rc ]'
becomes "63 nodes restarted during a step: every line once" "256 256 0" \
  '"$(wc -l < "$dir/out") $(sort -u "$dir/out" | wc -l) $(cat "$dir/rc")"'
reread; soon '[ "$(sinfo -h -N -o %T | grep -c idle)" = 64 ]'
check "a step after a reconfiguration" 64 "$(run -N64 echo fine </dev/null | wc -l)"
