#!/usr/bin/env bash
# Timeouts: a controller that does not answer, a command killed while it waits, a step that cannot be killed.
# shows: MessageTimeout, UnkillableStepProgram, UnkillableStepTimeout
. "$(dirname "$0")/lib.bash"
printf '#!/bin/sh\necho "$SLURM_JOB_ID $SLURM_STEP_ID" > %s/unkillable\n' "$dir" > "$dir/program"
chmod 755 "$dir/program"
start_cluster 1 2 "MessageTimeout=2
UnkillableStepProgram=$dir/program
UnkillableStepTimeout=3"

ctld=$(pid_of slurmctld)
kill -STOP "$ctld"
soon '[[ "$(ps -o stat= -p "$ctld")" = T* ]]'
s=$(date +%s%N)
rc=0; squeue >/dev/null 2>"$dir/work/err" || rc=$?
took=$((($(date +%s%N) - s) / 1000000))
kill -CONT "$ctld"
check "squeue fails when the controller does not answer" 1 "$rc"
check "squeue waits for MessageTimeout" yes "$([ $took -ge 1800 ] && [ $took -lt 9000 ] && echo yes || echo $took ms)"

sed 's/^MessageTimeout=.*/MessageTimeout=60/' "$SLURM_CONF" > "$dir/patient.conf"
killed slurmctld
(
  sleep 1     # 1 s: squeue finds no controller for this time
  start_ctld
) & again=$!
rc=0; SLURM_CONF=$dir/patient.conf squeue >/dev/null 2>&1 || rc=$?
check "commands retry while slurmctld is down" 0 "$rc"
wait $again; soon '[ "$(sinfo -h -o %t 2>/dev/null)" = idle ]'

# A command is killed while it waits. The command service is stopped, as it would cancel the command's allocation.
namespace=$(stat -L -c %i /proc/self/ns/net)
service=$(cat "$prefix/var/run/commands.$namespace$([ "$(id -u)" != 0 ] || echo .root).lock" 2>/dev/null || true)
[ -z "$service" ] || kill -STOP "$service"
full=$(sbatch --parsable -n2 -o /dev/null --wrap 'sleep 100'); soon '[ "$(squeue -h -o %T -j '"$full"')" = RUNNING ]'
srun -J gone -n2 true 2>/dev/null & gone=$!
srun -J stays -n1 -c2 -o stays.out echo here 2>/dev/null & stays=$!
soon '[ "$(squeue -h -t PD -o %i | wc -l)" = 2 ]'
id=$(squeue -h -n gone -o %i); kill -9 $gone; wait $gone 2>/dev/null || true; scontrol top "$id" 2>/dev/null || true
scancel "$full"; soon '[ "$(scontrol show job '"$id"' | grep -o JobState=.*[GD]\ )" = "JobState=FAILED " ]'
[ -z "$service" ] || kill -CONT "$service"
match "a killed command's allocation ends" "JobState=FAILED Reason=NonZeroExitCode.*ExitCode=1:0" \
  "$(scontrol show job "$id" | xargs)"
match "the log tells why the allocation ended" "Killing interactive JobId=$id: Communication connection failure" \
  "$(cat "$dir/log/slurmctld.log")"
wait $stays
check "another command's job runs" here "$(cat stays.out)"

id=$(sbatch --parsable -o /dev/null --wrap 'sleep 100');
batch_pid() { scontrol listpids "$id" 2>/dev/null | awk -v j="$id" '$2 == j {print $1; exit}'; }
soon '[ -n "$(batch_pid)" ]'
batch=$(batch_pid)
stepd=$(ps -o ppid= -p "$batch" | tr -d ' ')
kill -STOP "$stepd"; scancel "$id"
soon '[ -e "$dir/unkillable" ]'
becomes "UnkillableStepProgram knows the step" "$id batch" '"$(cat "$dir/unkillable" 2>/dev/null)"'
soon '[ -n "$(sinfo -h -t drain -o %n)" ]'
comes "the node is drained" "Kill task failed .JobId=$id StepId=[0-9]+." '"$(sinfo -h -R -o %E)"'
soon '[ "$(ps -o stat= -p '"$batch"' | cut -c1)" = Z ]'
becomes "slurmd kills the processes that the step daemon does not" Z '"$(ps -o stat= -p "$batch" | cut -c1)"'
kill -CONT "$stepd" 2>/dev/null || true; wait_empty

# A restart of slurmctld after seconds without an event: the job's elapsed time is kept.
scontrol update nodename=n1 state=resume
id=$(sbatch --parsable -t 5 -o /dev/null --wrap 'sleep 100')
running "$id" 13     # 13 s: the job's time to be kept
killed slurmctld; start_ctld
match "a restart loses at most ten seconds of a job's time" '^0:(0[1-9]|1[0-9])$' "$(squeue -h -j "$id" -o %M)"
scancel "$id"; wait_empty
