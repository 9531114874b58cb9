#!/usr/bin/env bash
# How long things are waited for, and what is done then: a controller that does not answer, a step that cannot be killed.
# shows: MessageTimeout, UnkillableStepProgram, UnkillableStepTimeout
. "$(dirname "$0")/lib.bash"
printf '#!/bin/sh\necho "$SLURM_JOB_ID $SLURM_STEP_ID" > %s/unkillable\n' "$dir" > "$dir/program"
chmod 755 "$dir/program"
start_cluster 1 2 "MessageTimeout=2
UnkillableStepProgram=$dir/program
UnkillableStepTimeout=3"

ctld=$(pid_of slurmctld)
kill -STOP "$ctld"; sleep 0.3; s=$(date +%s%N)
rc=0; squeue >/dev/null 2>"$dir/work/err" || rc=$?; took=$((($(date +%s%N) - s) / 1000000)); kill -CONT "$ctld"
check "a controller that does not answer" "1 yes" \
  "$rc $([ $took -ge 1800 ] && [ $took -lt 9000 ] && echo yes || echo $took ms)"

sed 's/^MessageTimeout=.*/MessageTimeout=60/' "$SLURM_CONF" > "$dir/patient.conf"
kill -9 "$ctld"; soon '! kill -0 "$ctld" 2>/dev/null'; (sleep 1; start_ctld) & again=$!
check "commands ask again while there is none" 0 "$(rc=0; SLURM_CONF=$dir/patient.conf squeue >/dev/null 2>&1 || rc=$?
    echo $rc)"
wait $again; soon '[ "$(sinfo -h -o %t 2>/dev/null)" = idle ]'

# a command that is killed while it waits; without the command service, which would cancel for it
service=$(cat "$prefix/var/run/commands.$(stat -L -c %i /proc/self/ns/net)$([ "$(id -u)" != 0 ] || echo .root).lock" \
  2>/dev/null || true)
[ -z "$service" ] || kill -STOP "$service"
full=$(sbatch --parsable -n2 -o /dev/null --wrap 'sleep 100'); soon '[ "$(squeue -h -o %T -j '"$full"')" = RUNNING ]'
srun -J gone -n2 true 2>/dev/null & gone=$!; srun -J stays -n1 -c2 -o stays.out echo here 2>/dev/null & stays=$!
soon '[ "$(squeue -h -t PD -o %i | wc -l)" = 2 ]'
id=$(squeue -h -n gone -o %i); kill -9 $gone; wait $gone 2>/dev/null || true; scontrol top "$id" 2>/dev/null || true
scancel "$full"; soon '[ "$(scontrol show job '"$id"' | grep -o JobState=.*[GD]\ )" = "JobState=FAILED " ]'
[ -z "$service" ] || kill -CONT "$service"
match "a killed command's allocation ends" "JobState=FAILED Reason=NonZeroExitCode.*ExitCode=1:0" \
  "$(scontrol show job "$id" | xargs)"
match "and the log says why" "Killing interactive JobId=$id: Communication connection failure" \
  "$(cat "$dir/log/slurmctld.log")"
wait $stays
check "another's goes on" here "$(cat stays.out)"

id=$(sbatch --parsable -o /dev/null --wrap 'sleep 100'); soon '[ "$(squeue -h -o %T -j '"$id"')" = RUNNING ]'; sleep 0.5
batch=$(scontrol listpids "$id" 2>/dev/null | awk -v j="$id" '$2 == j {print $1; exit}')
stepd=$(ps -o ppid= -p "$batch" | tr -d ' ')
kill -STOP "$stepd"; scancel "$id"
soon '[ -e "$dir/unkillable" ]'
becomes "UnkillableStepProgram knows the step" "$id batch" '"$(cat "$dir/unkillable" 2>/dev/null)"'
soon '[ -n "$(sinfo -h -t drain -o %n)" ]'
comes "and its node takes no more" "Kill task failed .JobId=$id StepId=[0-9]+." '"$(sinfo -h -R -o %E)"'
soon '[ "$(ps -o stat= -p '"$batch"' | cut -c1)" = Z ]'
becomes "what its step daemon does not kill slurmd does" Z '"$(ps -o stat= -p "$batch" | cut -c1)"'
kill -CONT "$stepd" 2>/dev/null || true; wait_empty

# Where nothing happens, a restart knows nevertheless for how long a job has run.
scontrol update nodename=n1 state=resume; id=$(sbatch --parsable -t 5 -o /dev/null --wrap 'sleep 100'); running "$id" 13
killed slurmctld; start_ctld
match "a restart forgets no more than ten seconds of a job's time" '^0:(0[1-9]|1[0-9])$' "$(squeue -h -j "$id" -o %M)"
scancel "$id"; wait_empty
