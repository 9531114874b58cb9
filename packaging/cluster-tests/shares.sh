#!/usr/bin/env bash
# Reserved ports of steps, and gang scheduling: jobs that share cores in turns.
# shows: MpiParams, SchedulerTimeSlice
. "$(dirname "$0")/lib.bash"
start_cluster 1 2 "MpiParams=ports=12000-12011
PreemptMode=GANG
SchedulerTimeSlice=5"
scontrol create partitionname=share nodes=n1 oversubscribe=force:2
check "a step's ports" "12001-12004" "$(srun -Q -n1 --resv-ports=4 printenv SLURM_STEP_RESV_PORTS)"
check "SLURM_RESV_PORTS" "2" "$(SLURM_RESV_PORTS=2 srun -Q printenv SLURM_STEP_RESV_PORTS | tr ',-' '\n\n' | wc -l)"
check "--resv-ports without a number: one more than tasks of a node" "2" \
  "$(srun -Q --resv-ports printenv SLURM_STEP_RESV_PORTS | tr ",-" "\n\n" | wc -l)"
match "more ports than MpiParams has" \
  "srun: error: Unable to create step for job [0-9]*: Requires more ports than can be reserved" \
  "$(srun -n1 --resv-ports=13 true 2>&1 || true)"
check "--resv-ports with a word" 'srun: error: Invalid numeric value "x" for --resv-port.' \
  "$(srun --resv-ports=x true 2>&1 || true)"
match "sbatch --resv-ports without a step manager" \
  "Slurmstepd step management must be enabled to use --resv-ports for job allocations" \
  "$(sbatch --resv-ports=3 --wrap true 2>&1 || true)"
salloc -Q -n2 bash -c \
  'srun -Q -n1 --overlap --resv-ports=10 sh -c "until [ -e tried ]; do sleep 0.1; done" &
  until scontrol show step $SLURM_JOB_ID.0 2>/dev/null | grep -o "ResvPorts=.*"; do sleep 0.1; done
  srun -n1 --overlap --resv-ports=12 true > second 2>&1 &
  until grep -qs retrying second; do sleep 0.1; done
  touch tried; wait; cat second' </dev/null >"$dir/work/salloc" 2>&1 || true
match "scontrol show step" "ResvPorts=12" "$(cat "$dir/work/salloc")"
match "another step waits for the ports" "step creation temporarily disabled, retrying .Required ports are in use." \
  "$(cat "$dir/work/salloc")"
match "the waiting step gets the ports" "Step created for StepId=" "$(cat "$dir/work/salloc")"

cat > "$dir/work/count" <<'JOB'
#!/bin/bash
for i in $(seq 40); do date +%s; sleep 0.2; done
JOB
one=$(sbatch --parsable -p share -n2 --mem=10 -o "$dir/work/one" "$dir/work/count")
two=$(sbatch --parsable -p share -n2 --mem=10 -o "$dir/work/two" "$dir/work/count")
soon '[ "$(squeue -h -o %T -j '"$two"')" = SUSPENDED ]'
becomes "the second job is suspended" "RUNNING SUSPENDED" '"$(squeue -h -S i -o %T -j "$one,$two" | xargs)"'
check "the second job has hardly begun" yes "$([ "$(cat "$dir/work/two" 2>/dev/null | wc -l)" -le 2 ] && echo yes)"
scancel "$one"; soon '[ "$(squeue -h -o %T -j '"$two"')" = RUNNING ]'; soon '[ -z "$(squeue -h -j '"$one"')" ]'
match "a step of a suspended interactive job waits" \
  "step creation temporarily disabled, retrying .Requested operation is presently disabled" \
  "$(salloc -Q -p share -n2 --mem=10 bash -c 'sleep 2; srun true' </dev/null 2>&1)"
wait_empty
check "the second job ran to its end" "40" "$(wc -l < "$dir/work/two")"
scontrol create partitionname=may nodes=n1 oversubscribe=yes:2
for i in 1 2 3; do sbatch -p may -n2 --mem=10 -o /dev/null --wrap 'sleep 30' >/dev/null; done
becomes "oversubscribe=yes: jobs share without a request" "RUNNING SUSPENDED PENDING" '$(squeue -h -S i -o %T | xargs)'
scancel -u "$(id -un)"
