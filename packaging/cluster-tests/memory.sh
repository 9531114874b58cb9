#!/usr/bin/env bash
# Memory limits: through control groups where they can be written, by polling where JobAcctGatherParams asks for it.
# shows: JobAcctGatherFrequency, JobAcctGatherParams, JobAcctGatherType
. "$(dirname "$0")/lib.bash"
eater='perl -e "my @a; push @a, q(x) x 1048576 for 1..200; sleep 3"'
make_eater() { printf '#!/bin/bash\n%s\n' "$eater" > eat.sh; chmod +x eat.sh; }
polling="JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill"
start_cluster 1 4 "$polling"
make_eater
id=$(sbatch --parsable -o eat.out --mem=50 eat.sh); wait_empty 30
check "a job over its memory is ended by polling" "OUT_OF_MEMORY" "$(sacct -X -n -P -o State -j "$id")"
id=$(sbatch --parsable -o /dev/null --mem=500 eat.sh); wait_empty 30
check "one within it is not" "COMPLETED" "$(sacct -X -n -P -o State -j "$id")"
id=$(sbatch --parsable -o /dev/null --mem=500 --wrap 'sleep 3; ./eat.sh')
n=0; until [ "$(squeue -h -j "$id" -o %t)" = R ] || [ $((n+=1)) -gt 50 ]; do sleep 0.1; done
scontrol update jobid="$id" MinMemoryNode=50
check "a job that runs gives memory back" "50M AllocMem=50" "$(squeue -h -j "$id" -o %m) $(scontrol show node n1 | grep -o 'AllocMem=[0-9]*')"
match "it gets none" "Job is no longer pending execution" "$(scontrol update jobid="$id" MinMemoryNode=60 2>&1 || true)"
wait_empty 30
check "and is kept to the rest" "OUT_OF_MEMORY" "$(sacct -X -n -P -o State -j "$id")"
stop_cluster

writable=
for m in /sys/fs/cgroup/memory /sys/fs/cgroup; do
  if [ "$(id -u)" = 0 ] && mkdir "$m/muster-probe-$$" 2>/dev/null; then
    { [ -e "$m/muster-probe-$$/memory.limit_in_bytes" ] || [ -e "$m/muster-probe-$$/memory.max" ]; } && writable=1
    rmdir "$m/muster-probe-$$"
  fi
done
if [ -z "$writable" ]; then echo "skipped: memory cgroups (none that can be written)"; exit 0; fi
rm -rf "$dir/state" "$dir/spool"
echo "ConstrainRAMSpace=yes" > "$dir/cgroup.conf"
eval "$(declare -f write_conf | sed 's/TaskPlugin=task\/none/TaskPlugin=task\/cgroup/')"
start_cluster 1 4
make_eater
id=$(sbatch --parsable -o eat.out --mem=50 eat.sh); wait_empty 30
check "a job over its memory is ended by its control group" "OUT_OF_MEMORY|0:125" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
id=$(sbatch --parsable -o /dev/null --mem=500 eat.sh); wait_empty 30
check "one within it is not" "COMPLETED|0:0" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
rc=0; srun --mem=50 ./eat.sh > srun.out 2>&1 || rc=$?
match "srun says so" 'task 0: Out Of Memory' "$(cat srun.out)"
check "and fails" yes "$([ "$rc" != 0 ] && echo yes)"
check "no group of a job is left" "" "$(find /sys/fs/cgroup -type d -name 'job_*' -path "*slurm_n1_*" 2>/dev/null | xargs -r -n1 sh -c 'test -s "$0/cgroup.procs" && echo "$0"')"
