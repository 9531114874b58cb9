#!/usr/bin/env bash
# Large steps, and tasks that disturb other tasks: floods of output, unread input, stopped processes.
. "$(dirname "$0")/lib.bash"
start_cluster 8 64 DefMemPerCPU=1
run() { timeout 60 srun "$@"; }

run -Q -l -N8 -n512 sh -c 'echo "line of $SLURM_PROCID"' </dev/null > "$dir/big"
check "512 tasks on 8 nodes: each line once, behind its label" \
  "$(for i in $(seq 0 511); do printf '%3d: line of %d\n' "$i" "$i"; done | md5sum)" "$(sort -n "$dir/big" | md5sum)"
check "each node runs 64 tasks" "64 x8" "$(run -Q -N8 -n512 sh -c 'echo $SLURMD_NODENAME' </dev/null \
    | sort | uniq -c | awk '{print $1}' | uniq -c | awk '{print $2" x"$1}')"
check "SLURM_GTIDS names the tasks of the node" "$(seq -s, 64 127)" \
  "$(run -Q -N8 -n512 sh -c '[ $SLURM_PROCID = 64 ] && echo $SLURM_GTIDS; true' </dev/null)"
check "srun ends with the highest exit code of 512 tasks" 3 "$(rc=0; \
    run -Q -N8 -n512 sh -c 'exit $((SLURM_PROCID == 300 ? 3 : 0))' </dev/null >/dev/null 2>&1 || rc=$?; echo $rc)"

# One task floods its output while two tasks write a few lines.
cat > flood.sh <<'S'
if [ $SLURM_PROCID = 0 ]; then exec timeout 3 cat /dev/zero; fi
for i in 1 2 3 4; do echo "small $i" >&2; sleep 0.2; done
S
(run -Q -n3 -N1 sh flood.sh </dev/null 2> "$dir/small" | wc -c > "$dir/flood") || true
check "beside a flood every line of the other tasks arrives" 8 "$(grep -c small "$dir/small")"
check "the flood has more than 20 MB" yes "$([ "$(cat "$dir/flood")" -gt 20000000 ] && echo yes || cat "$dir/flood")"
(timeout 20 srun -Q -n1 cat /dev/zero </dev/null >/dev/null 2>&1 & echo $! > "$dir/flooder"; wait) &
s=$(date +%s%N); run -Q -w n1 -n1 true </dev/null; ms=$((($(date +%s%N) - s) / 1000000))
check "beside a flood another step starts on the same node" yes "$([ $ms -lt 5000 ] && echo yes || echo $ms ms)"
kill -TERM "$(cat "$dir/flooder")" 2>/dev/null || true
wait_empty

# Input that one of two tasks does not read.
check "a task gets all input while the other task does not read" 2000000 \
  "$(head -c 2000000 /dev/zero | run -Q -n2 sh -c 'if [ $SLURM_PROCID = 0 ]; then sleep 1; else wc -c; fi')"

# A stopped task.
(run -Q -n2 sh \
  -c 'if [ $SLURM_PROCID = 0 ]; then echo $$ > '"$dir"'/stopped; kill -STOP $$; echo went on; else echo goes on; fi' \
  </dev/null > "$dir/out" 2>&1; echo $? > "$dir/rc") &
soon "grep -q 'goes on' $dir/out"
becomes "beside a stopped task another task of the step goes on" "goes on" '"$(cat "$dir/out")"'
check "beside a stopped task another step runs on the node" fine "$(run -Q -w n1 echo fine </dev/null)"
kill -CONT "$(cat "$dir/stopped")"; soon "[ -s $dir/rc ]"
check "a continued task ends" "goes on went on 0" "$(cat "$dir/out" "$dir/rc" | tr '\n' ' ' | sed 's/ $//')"

# A stopped srun: only its own step waits for it.
srun -Q -n1 \
  sh -c 'i=0; while [ $i -lt 400000 ]; do echo "line $i of a long text that fills what may be kept"; i=$((i+1)); done' \
  </dev/null > "$dir/long" 2>&1 &
pid=$!
soon '[ -s "$dir/long" ]'
kill -STOP $pid
check "beside a stopped srun another step runs" "8" "$(run -Q -N8 -n8 echo here </dev/null | wc -l)"
check "beside a stopped srun squeue answers" yes "$(timeout 10 squeue -h >/dev/null && echo yes)"
kill -CONT $pid; wait $pid
check "a continued srun writes every line" 400000 "$(wc -l < "$dir/long")"

# shows: EpilogMsgTime
# Each node delays the report of its end by EpilogMsgTime microseconds per node before it.
echo EpilogMsgTime=400000 >> "$SLURM_CONF"; reread
run -Q -N8 -n8 true </dev/null
check "the ends of a job's nodes are spread" 1 "$(squeue -h -t CG | wc -l)"
soon '[ -z "$(squeue -h -t CG)" ]'
becomes "all nodes report their end" "" '"$(squeue -h)"'
