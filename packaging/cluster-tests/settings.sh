#!/usr/bin/env bash
# Keys of slurm.conf about the launch of jobs: propagated limits and priority, output files, salloc's shell, CPUs.
# shows: CompleteWait, InteractiveStepOptions, JobFileAppend, LaunchParameters, MaxBatchRequeue, MaxTasksPerNode
# shows: PropagatePrioProcess, PropagateResourceLimits, PropagateResourceLimitsExcept, ReconfigFlags
# shows: SchedulerParameters
# shows: SlurmctldAddr, TaskPluginParam
. "$(dirname "$0")/lib.bash"
printf '#!/bin/bash\nexit 3\n' > "$dir/prolog.sh"; chmod 755 "$dir/prolog.sh"
start_cluster 1 4 "PropagateResourceLimitsExcept=NOFILE,CORE
PropagatePrioProcess=2
LaunchParameters=use_interactive_step,test_exec
InteractiveStepOptions=\"--interactive --preserve-env \$SHELL\"
MaxTasksPerNode=6
SlurmctldAddr=127.0.0.1
ReconfigFlags=KeepPartState
TaskPluginParam=verbose
NodeName=DEFAULT CpuSpecList=1"
conf() {
  sed -i "/^${1%%=*}=/d" "$SLURM_CONF"
  echo "$1" >> "$SLURM_CONF"
  reread
  soon '[ "$(sinfo -h -t idle -o %D)" = 1 ]'
}

ulimit -S -s 4096; ulimit -S -n 300
check "PropagateResourceLimitsExcept" "4096 yes" \
  "$(srun -Q sh -c 'echo $(ulimit -S -s) $([ $(ulimit -S -n) = 300 ] || echo yes)')"
check "--propagate overrides PropagateResourceLimitsExcept" 300 "$(srun -Q --propagate=NOFILE sh -c 'ulimit -S -n')"
sed -i '/^PropagateResourceLimitsExcept/d' "$SLURM_CONF"; conf PropagateResourceLimits=NOFILE
check "PropagateResourceLimits" "300 yes" \
  "$(srun -Q sh -c 'echo $(ulimit -S -n) $([ $(ulimit -S -s) = 4096 ] || echo yes)')"
own=$(ps -o ni= -p "$(pid_of slurmd-n1)" | tr -d ' ')
check "PropagatePrioProcess" "$((own + 1)) $((own + 7))" "$(srun -Q nice) $(nice -n $((own + 7)) srun -Q nice)"
check "test_exec" "1 srun: fatal: Can not execute /no/such" \
  "$(rc=0; out=$(srun -Q /no/such 2>&1) || rc=$?; echo $rc "$out")"
# Runs standard input in salloc's shell.
in_salloc() { SHELL=/bin/sh timeout 30 salloc -Q -n1 2>/dev/null; }
check "use_interactive_step: salloc's shell is a step" "n1 4294967290" \
  "$(echo 'echo $SLURMD_NODENAME $SLURM_STEP_ID' | in_salloc)"
check "the interactive step has no number" "interactive 0" \
  "$(echo 'squeue -h -s -j $SLURM_JOB_ID -o %i | cut -d. -f2; srun -Q -n1 printenv SLURM_STEP_ID' | in_salloc | xargs)"
check "sstat names the interactive step" "interactive" \
  "$(echo 'sstat -n -P -o jobid $SLURM_JOB_ID.interactive | cut -d. -f2' | in_salloc | xargs)"
check "scontrol names the interactive step" "interactive" \
  "$(echo 'scontrol -o show step $SLURM_JOB_ID.interactive | cut -d. -f2 | cut -d" " -f1' | in_salloc | xargs)"
check "scancel signals the interactive step" "ended" "$(in_salloc <<'S' | xargs
trap "echo ended; exit" USR1
(sleep 1; scancel -s USR1 $SLURM_JOB_ID) &
for i in 1 2 3 4 5 6 7 8; do sleep 1; done
S
)"
check "steps of salloc's shell do not wait for the interactive step" in "$(echo 'srun -Q -n1 echo in' | in_salloc)"
check "MaxTasksPerNode" "srun: error: Unable to create step for job ID: Task count specification invalid" \
  "$(srun -Q -O -N1 -n7 true 2>&1 | sed 's/job [0-9]*/job ID/' | head -1)"
check "CpuSpecList" "CoreSpecCount=1 CPUSpecList=1" \
  "$(scontrol show node n1 | grep -o 'CoreSpecCount=.*' | sed 's/ MemSpec.*//')"
check "CpuSpecList: CPUs that are left" "CPUEfctv=3" "$(scontrol show node n1 | grep -o 'CPUEfctv=[0-9]*')"
id=$(sbatch --parsable -n3 -o /dev/null --wrap 'sleep 1'); soon '[ "$(squeue -h -j $id -o %T)" = RUNNING ]'
becomes "CpuSpecList: a job gets the other CPUs" "CPU_IDs=0,2-3" \
  '"$(scontrol -d show job "$id" | grep -o "CPU_IDs=[^ ]*")"'
wait_empty
conf JobFileAppend=0
for i in 1 2; do sbatch -o "$dir/work/t" --wrap 'echo x' >/dev/null; wait_empty; done
check "JobFileAppend=0" 1 "$(wc -l < "$dir/work/t")"
conf JobFileAppend=1
sbatch -o "$dir/work/t" --wrap 'echo x' >/dev/null
wait_empty
check "JobFileAppend=1" 2 "$(wc -l < "$dir/work/t")"
scontrol update partition=main state=drain
scontrol reconfigure
check "ReconfigFlags=KeepPartState" drain "$(sinfo -h -o %a)"
scontrol update partition=main state=up
for mistake in Nosuch=yes ConstrainCores=maybe AllowedRAMSpace=abc; do
  echo $mistake > "$dir/cgroup.conf"
  rc=0
  said=$(scontrol reconfigure 2>&1) || rc=$?
  check "$mistake in cgroup.conf is refused" 1 $rc
  match "$mistake is named" "${mistake%=*}" "$said"
done
rm -f "$dir/cgroup.conf"
mkdir -p "$dir/bad"
echo Nosuch=yes > "$dir/bad/cgroup.conf"
cp "$SLURM_CONF" "$dir/bad/slurm.conf"
match "slurmctld does not start with such a file" \
  "fatal: Could not open/read/parse cgroup.conf file $dir/bad/cgroup.conf" \
  "$(timeout 30 slurmctld -f "$dir/bad/slurm.conf" 2>&1 || true)"
printf '#!/bin/bash\nsleep 3\n' > "$dir/epilog.sh"; chmod 755 "$dir/epilog.sh"
conf "Epilog=$dir/epilog.sh"; conf CompleteWait=2
sbatch -o /dev/null --wrap true >/dev/null
soon '[ "$(squeue -h -o %T)" = COMPLETING ]'
s=$(date +%s%N)
timeout 20 srun -Q true
check "CompleteWait" yes "$([ $((($(date +%s%N) - s) / 1000000)) -ge 1000 ] && echo yes)"
wait_empty
sed -i "/^Epilog/d; /^CompleteWait/d; s/^SchedulerParameters.*//" "$SLURM_CONF"
conf SchedulerParameters=max_submit_line_size=200; line=$(printf 'x%.0s' $(seq 150))
check "a line below max_submit_line_size" 0 \
  "$(sbatch -H -o /dev/null --comment="$line" --wrap true >/dev/null; echo $?)"
check "a line above max_submit_line_size" \
  "sbatch: error: Batch job submission failed: Pathname of a file, directory or other parameter too long" \
  "$(sbatch -o /dev/null --comment="$line$line" --wrap true 2>&1)"
scancel -u root; wait_empty; sed -i "/^SchedulerParameters/d" "$SLURM_CONF"
echo "SchedulerParameters=nohold_on_prolog_fail" >> "$SLURM_CONF"
echo "ReturnToService=2" >> "$SLURM_CONF"
echo "Prolog=$dir/prolog.sh" >> "$SLURM_CONF"
conf MaxBatchRequeue=2
id=$(sbatch --parsable -o /dev/null --wrap true)
# Each failed prolog drains the node.
soon 'scontrol update nodename=n1 state=resume 2>/dev/null; [ "$(squeue -h -j "$id" -o %r)" = JobHoldMaxRequeue ]' 60
soon '[ "$(squeue -h -j "$id" -o %T)" = PENDING ]'
becomes "MaxBatchRequeue" "PENDING JobHoldMaxRequeue" '"$(squeue -h -j "$id" -o "%T %r")"'
