#!/usr/bin/env bash
# How long things are waited for, and what is done then: a controller that does not answer, a step that cannot be killed.
# shows: MessageTimeout, UnkillableStepProgram, UnkillableStepTimeout
. "$(dirname "$0")/lib.bash"
printf '#!/bin/sh\necho "$SLURM_JOB_ID $SLURM_STEP_ID" > %s/unkillable\n' "$dir" > "$dir/program"; chmod 755 "$dir/program"
start_cluster 1 2 "MessageTimeout=2
UnkillableStepProgram=$dir/program
UnkillableStepTimeout=3"
soon() { local n=0; until eval "$1"; do n=$((n+1)); [ $n -lt 200 ] || return 0; sleep 0.1; done; }

ctld=$(pid_of slurmctld)
kill -STOP "$ctld"; sleep 0.3; s=$(date +%s%N)
rc=0; squeue >/dev/null 2>"$dir/work/err" || rc=$?; took=$((($(date +%s%N) - s) / 1000000)); kill -CONT "$ctld"
check "a controller that does not answer" "1 yes" "$rc $([ $took -ge 1800 ] && [ $took -lt 9000 ] && echo yes || echo $took ms)"

sed 's/^MessageTimeout=.*/MessageTimeout=60/' "$SLURM_CONF" > "$dir/patient.conf"
kill -9 "$ctld"; soon '! kill -0 "$ctld" 2>/dev/null'; (sleep 1; start_ctld) & again=$!
check "commands ask again while there is none" 0 "$(rc=0; SLURM_CONF=$dir/patient.conf squeue >/dev/null 2>&1 || rc=$?; echo $rc)"
wait $again; soon '[ "$(sinfo -h -o %t 2>/dev/null)" = idle ]'

id=$(sbatch --parsable -o /dev/null --wrap 'sleep 100'); soon '[ "$(squeue -h -o %T -j '"$id"')" = RUNNING ]'; sleep 0.5
batch=$(scontrol listpids "$id" 2>/dev/null | awk -v j="$id" '$2 == j {print $1; exit}')
stepd=$(ps -o ppid= -p "$batch" | tr -d ' ')
kill -STOP "$stepd"; scancel "$id"
soon '[ -e "$dir/unkillable" ]'
check "UnkillableStepProgram knows the step" "$id batch" "$(cat "$dir/unkillable" 2>/dev/null)"
soon '[ -n "$(sinfo -h -t drain -o %n)" ]'
match "and its node takes no more" "Kill task failed .JobId=$id StepId=[0-9]+." "$(sinfo -h -R -o %E)"
soon '[ "$(ps -o stat= -p '"$batch"' | cut -c1)" = Z ]'
check "what its step daemon does not kill slurmd does" Z "$(ps -o stat= -p "$batch" | cut -c1)"
kill -CONT "$stepd" 2>/dev/null || true; wait_empty

# Where nothing happens, a restart knows nevertheless for how long a job has run.
scontrol update nodename=n1 state=resume; id=$(sbatch --parsable -t 5 -o /dev/null --wrap 'sleep 100'); running "$id" 13
kill -9 "$(pid_of slurmctld)"; sleep 0.5; start_ctld
match "a restart forgets no more than ten seconds of a job's time" '^0:(0[1-9]|1[0-9])$' "$(squeue -h -j "$id" -o %M)"
scancel "$id"; wait_empty
