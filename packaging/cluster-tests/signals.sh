#!/usr/bin/env bash
# --signal, scancel --signal, requeue, suspend, memory limits, a killed slurmd and a killed stepd.
. "$(dirname "$0")/lib.bash"
start_cluster 1 4 "JobAcctGatherFrequency=1"
id=$(sbatch --parsable -t 1 --signal=B:USR1@55 -o sig.txt \
  --wrap 'trap "echo warned; exit 9" USR1; for i in $(seq 40); do sleep 0.5; done')
wait_empty 40
check "the batch shell is warned before the limit" warned "$(cat sig.txt)"
check "the batch shell's exit code is the job's" "FAILED|9:0" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
id=$(sbatch --parsable -o usr2.txt --wrap 'trap "echo two; exit 0" USR2; for i in $(seq 40); do sleep 0.5; done')
running "$id" 1; scancel -b -s USR2 "$id"; wait_empty 40
check "scancel --signal --batch" two "$(cat usr2.txt)"
id=$(sbatch --parsable -o late.txt --wrap 'trap "echo late; exit 0" USR2; for i in $(seq 60); do sleep 0.5; done')
running "$id" 1; kill -9 "$(pid_of slurmctld)"; start_ctld; scancel -b -s USR2 "$id"; wait_empty 40
check "scancel before the node is back after a restart of slurmctld" late "$(cat late.txt)"
id=$(sbatch --parsable -o re-%j.txt --requeue --wrap 'echo life $SLURM_RESTART_COUNT; sleep 3')
running "$id" 1; scontrol requeue "$id"
becomes "a requeued job waits for its begin time" "PD BeginTime" '"$(squeue -h -j "$id" -o '\''%t %r'\'')"'
scontrol update jobid="$id" starttime=now; wait_empty 60
check "a requeued job runs again under its number" "COMPLETED" "$(sacct -X -n -P -o State -j "$id")"
check "the second run truncates the output" "life 1" "$(cat "re-$id.txt")"
id=$(sbatch --parsable -o /dev/null --wrap 'sleep 4; exit 7')
running "$id"
killed slurmd-n1; start_node n1
wait_empty 60
check "exit code over a kill -9 of slurmd" "FAILED|7:0" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
id=$(sbatch --parsable -o /dev/null --wrap 'sleep 4; touch over; exit 5')
running "$id"
killed slurmd-n1; soon '[ -e over ]'; start_node n1
wait_empty 60
check "exit code of a job that ends while slurmd is down" "FAILED|5:0" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
id=$(sbatch --parsable -o /dev/null --wrap 'sleep 311')
running "$id" 1
for p in $(pgrep -f "slurmstepd: \[$id.batch\]"); do
  if [[ "$(ls -l "/proc/$p/fd" "/proc/$p/cwd")" = *"$dir/"* ]]; then kill -9 "$p"; fi
done
wait_empty 60
match "a killed stepd fails its job with a reason" 'FAILED' "$(sacct -X -n -P -o State,Reason -j "$id")"
check "a killed stepd leaves no process" "" "$(pgrep -f 'sleep 311' || true)"
(srun -n 1 bash -c 'for i in $(seq 8); do echo line $i; sleep 0.5; done' > srun.txt 2>srun.err) &
soon 'grep -qs "line 3" srun.txt'
killed slurmd-n1
start_node n1
wait %1
check "srun's output over a kill and restart of slurmd" 8 "$(grep -c line srun.txt)"
# srun's messages about a step that is ended early. Times, nodes and step numbers are replaced by letters.
words() {
  sed -E -e 's/^\[[^]]*\]/[T]/; s/ n[0-9]+: / N: /; s/ON n[0-9]+/ON N/; s/AT [0-9T:-]+/AT T/' \
    -e 's/(StepId=|STEP )[0-9.]+/\1S/'
}
check "srun -K" \
"srun: error: N: task 0: Exited with exit code 3
srun: Terminating StepId=S
[T] error: *** STEP S ON N CANCELLED AT T DUE TO TASK FAILURE ***
srun: error: N: task 1: Terminated
srun: Force Terminated StepId=S
rc=143" \
  "$(bash -c 'srun -N1 -K -n2 bash -c "if [ \$SLURM_PROCID = 0 ]; then sleep 0.5; exit 3; fi; sleep 100"; echo rc=$?' \
    2>&1 | words)"
srun -N1 -n1 sh -c 'touch step.up; exec sleep 100' 2>step.err &
soon '[ -e step.up ]'
scancel "$(squeue -h -s -o %i | grep '\.0$' | tail -1)"
wait || true
# (sorted: the order of the first two lines depends on the network, in Slurm too)
check "scancel of the step" \
"[T] error: *** STEP S ON N CANCELLED AT T DUE to SIGNAL Killed ***
srun: Job step aborted: Waiting up to 7 seconds for job step to finish.
srun: error: N: task 0: Killed" \
  "$(words < step.err | sort)"
# A cancelled job's script does not go on after its srun.
for i in 1 2 3 4; do
  rm -f step.up
  id=$(sbatch --parsable -n1 -o off.txt --wrap 'srun sh -c "touch step.up; exec sleep 100"; touch went.on; sleep 5')
  soon '[ -e step.up ]'
  scancel "$id"
  wait_empty 20
done
check "no script goes on after a cancelled srun" "" "$(ls went.on 2>/dev/null || true)"
match "srun names a signal that it got" "got SIGCONT|forcing job termination" "$(xargs < off.txt)"
# scancel with a filter cancels the matching tasks of an array only.
started() {
  id=$(sbatch --parsable -n1 --mem=10 -a 1-6%2 -J arr -o /dev/null --wrap 'sleep 60')
  soon '[ "$(squeue -h -t R -j "$id" | wc -l)" = 2 ]'
}
left() { squeue -h -r -t PD,R -j "$id" -o '%K%t' | sort | xargs; }
filtered() {
  started
  "${@:2}" >/dev/null 2>&1
  becomes "${*:2}" "$1" '$(left)'
  scancel "$id"
  wait_empty 20
}
filtered "1R 2R" scancel --me -t PENDING
filtered "1R 2R" scancel -t PENDING -n arr
# the tasks behind the cancelled ones wait until these have left their CPUs, and then run
started
scancel --ctld -t RUNNING -p main
becomes "scancel --ctld -t RUNNING -p main" "3 4 5 6" '$(left | tr -d A-Z)'
scancel "$id"
wait_empty 20
started
check "scancel -v names the tasks" "scancel: Terminating job ${id}_[3-6%2]" "$(scancel -v -t PENDING "$id" 2>&1)"
scancel "$id"
wait_empty 20
started
scontrol update jobid="${id}_4" jobname=keep
scancel -n arr
becomes "scancel -n leaves a renamed task" "4R" '$(left)'
scancel "$id"
wait_empty 20
started
scancel -t PENDING "${id}_2" "${id}_5"
becomes "scancel -t of named tasks" "1R 2R 3PD 4PD 6PD" '$(left)'
scancel "$id"
wait_empty 20
# Tasks that handle SIGTERM have KillWait to end, whichever command ends the job, although srun gets the signal too and
# asks for its step's end.
cat > handles.sh <<'C'
#!/bin/bash
trap 'echo TERM >> "$1"; for i in 1 2; do sleep 1; echo alive $i >> "$1"; done; exit 0' TERM
echo ready >> "$1"
while :; do sleep 60 & wait; done
C
chmod +x handles.sh
ended() { # what, the command that submits with $out for the tasks' words, the command that ends $id
  out=$PWD/words.$((n_ended+=1))
  eval "$2"
  soon '[ -s "$out" ]'
  eval "$3"
  wait_empty 20
  check "KillWait: $1" "ready TERM alive 1 alive 2" "$(xargs < "$out")"
}
requeuehold() {
  scontrol requeuehold "$id"
  soon '[ "$(squeue -h -j "$id" -o %T)" = PENDING ]'
  scancel "$id"
}
n_ended=0
ended "scancel" 'id=$(sbatch --parsable -o /dev/null --wrap "srun ./handles.sh $out")' 'scancel "$id"'
ended "scancel, exec srun" 'id=$(sbatch --parsable -o /dev/null --wrap "exec srun ./handles.sh $out")' 'scancel "$id"'
ended "scancel, srun & wait" 'id=$(sbatch --parsable -o /dev/null --wrap "srun ./handles.sh $out & wait")' \
  'scancel "$id"'
ended "scancel of the job and its step" 'id=$(sbatch --parsable -o /dev/null --wrap "srun ./handles.sh $out")' \
  'scancel "$id"; scancel "$id.0" 2>/dev/null || true'
ended "requeuehold" 'id=$(sbatch --parsable --requeue -o /dev/null --wrap "srun ./handles.sh $out")' \
  requeuehold
# The job's output has the tasks' output within KillWait: srun outlives its script.
cat > says.sh <<'C'
#!/bin/bash
trap 'echo TERM; sleep 1; echo done; exit 3' TERM
echo ready
while :; do sleep 60 & wait; done
C
chmod +x says.sh
said() { # what, expected, script, the command that ends $id
  rm -f said.txt
  id=$(sbatch --parsable --requeue -n1 -o said.txt --wrap "$3")
  soon 'grep -qs ready said.txt'
  eval "$4"
  wait_empty 20
  check "output within KillWait: $1" "$2" \
    "$(grep -oE '^(ready|TERM|done)|task 0: (Exited with exit code 3|Killed)' said.txt | xargs)"
}
all="ready TERM done task 0: Exited with exit code 3"
said "scancel" "$all" 'srun ./says.sh; true' 'scancel "$id"'
said "scancel, srun & wait" "$all" 'srun ./says.sh & wait' 'scancel "$id"'
said "scancel, exec srun" "$all" 'exec srun ./says.sh' 'scancel "$id"'
said "scancel -b -s TERM" "$all" 'srun ./says.sh; true' 'scancel -b -s TERM "$id"'
check "scancel -b -s TERM fails the job" "FAILED|0:15" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
said "the script ends before its step" "$all" \
  'srun ./says.sh & until grep -qs ready said.txt; do sleep 0.1; done' 'true'
check "the script's end is the job's end" "COMPLETED|0:0" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
said "requeuehold" "$all" 'srun ./says.sh; true' requeuehold
said "a task without srun" "ready TERM done" './says.sh; true' 'scancel "$id"'
said "tasks beyond KillWait" "ready task 0: Killed" \
  'srun bash -c "trap \"sleep 60\" TERM; echo ready; while :; do sleep 60 & wait; done"; true' 'scancel "$id"'
id=$(sbatch --parsable -n1 -o /dev/null --wrap 'bash -c "trap \"\" TERM; exec sleep 60" & sleep 1; exit 0')
running "$id" 0
s=$(date +%s)
wait_empty 20
check "background processes of a script end within 4 s" yes "$([ $(($(date +%s) - s)) -lt 4 ] && echo yes)"
ended "the time limit" 'id=$(sbatch --parsable -t 1 -o /dev/null --wrap "srun ./handles.sh $out")' \
  'soon "[ -z \"\$(squeue -h -t R -j $id)\" ]" 150'
ended "scancel of srun's own job" 'srun -J own ./handles.sh "$out" 2>/dev/null &' 'scancel -n own'
ended "SIGTERM to salloc" 'salloc -Q srun ./handles.sh "$out" 2>/dev/null & salloc=$!' 'kill -TERM $salloc'
# ProctrackType=proctrack/pgid: a process that leaves its task's process group is neither waited for nor killed.
# shows: ProctrackType
sed -i 's|^ProctrackType=.*|ProctrackType=proctrack/pgid|' "$SLURM_CONF"
before=$(registered)
stopped slurmd-n1
start_node n1
soon '[ "$(registered)" -gt "$before" ]'
left=$((90000 + $$ % 9000)).3
id=$(sbatch --parsable -o /dev/null --wrap "setsid sleep $left & sleep ${left}1 & sleep 60")
soon 'pgrep -f "^sleep ${left}1" >/dev/null'
scancel "$id"; wait_empty 20
check "pgid: processes of the group are killed" 0 "$(pgrep -fc "^sleep ${left}1")"
check "pgid: a process that left the group is not" 1 "$(pgrep -fc "^sleep $left\$")"
for p in $(pgrep -f "^sleep $left"); do kill "$p"; done
