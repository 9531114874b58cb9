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
check "a job within its memory is not" "COMPLETED" "$(sacct -X -n -P -o State -j "$id")"
id=$(sbatch --parsable -o /dev/null --mem=500 --wrap 'sleep 3; ./eat.sh')
soon '[ "$(squeue -h -j "$id" -o %t)" = R ]'
scontrol update jobid="$id" MinMemoryNode=50
check "a job that runs gives memory back" "50M AllocMem=50" \
  "$(squeue -h -j "$id" -o %m) $(scontrol show node n1 | grep -o 'AllocMem=[0-9]*')"
match "a running job gets no more memory" "Job is no longer pending execution" \
  "$(scontrol update jobid="$id" MinMemoryNode=60 2>&1 || true)"
wait_empty 30
check "a running job is ended at its lowered limit" "OUT_OF_MEMORY" "$(sacct -X -n -P -o State -j "$id")"
# A step has the memory that it asks for to itself. Another step waits while the job has too little left; a step that
# asks for more than its job has is refused.
cat > steps.sh <<'S'
#!/bin/bash
busy() { grep -c 'Requested nodes are busy' || true; }
# Whether a second step waits while the first one holds its memory.
both() {
  rm -f begun release said
  srun $1 sh -c 'touch begun; until [ -e release ]; do sleep 0.1; done' &
  until [ -e begun ]; do sleep 0.1; done
  srun $2 true > said 2>&1 & second=$!
  until grep -qs 'Requested nodes are busy' said || ! kill -0 "$second" 2>/dev/null; do sleep 0.1; done
  touch release; wait
  echo "$1 / $2: $(busy < said)"
  while squeue -h -s -j "$SLURM_JOB_ID" -o %i | grep -qv batch; do sleep 0.1; done
}
told() {
  echo "$1: $(srun $1 sh -c 'scontrol -o show step $SLURM_JOB_ID.$SLURM_STEP_ID' 2>&1 \
    | grep -oE 'Unable to create step.*|TRES=cpu=[^ ]*' | head -1 | sed 's/job [0-9]*/job J/')"
}
told --mem=101
told "--exact -n1"
told "--exact -n1 --mem-per-cpu=20"
told "-n1 --mem=0"
both "--exact -n1 --mem=60" "--exact -n1 --mem=60"
both "--exact -n1 --mem=60" "--exact -n1 --mem=40"
both "--exact -n1" "--exact -n1"
both "--exact -n1 --mem=0" "--exact -n1"
both "--exact -n1 --mem=60" "--overlap -n1 --mem=60"
both "--exact -n1 --mem=10" "-n1 --mem=10"
srun -n1 env | grep ^SLURM_MEM
S
sbatch -Q -W -n4 --mem=100 -o steps.out steps.sh
cat > steps.expected <<'X'
--mem=101: Unable to create step for job J: Memory required by task is not available
--exact -n1: TRES=cpu=1,mem=100M,node=1
--exact -n1 --mem-per-cpu=20: TRES=cpu=1,mem=20M,node=1
-n1 --mem=0: TRES=cpu=4,mem=100M,node=1
--exact -n1 --mem=60 / --exact -n1 --mem=60: 1
--exact -n1 --mem=60 / --exact -n1 --mem=40: 0
--exact -n1 / --exact -n1: 1
--exact -n1 --mem=0 / --exact -n1: 0
--exact -n1 --mem=60 / --overlap -n1 --mem=60: 0
--exact -n1 --mem=10 / -n1 --mem=10: 1
SLURM_MEM_PER_NODE=100
X
check "memory of steps" "" "$(diff steps.expected steps.out)"
check "a step sets no SLURM_MEM variable for its tasks" "" "$(srun -n1 --mem=50 env | grep ^SLURM_MEM || true)"
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
check "a job over its memory is ended by its control group" "OUT_OF_MEMORY|0:125" \
  "$(sacct -X -n -P -o State,ExitCode -j "$id")"
id=$(sbatch --parsable -o /dev/null --mem=500 eat.sh); wait_empty 30
check "a job within its control group's memory is not" "COMPLETED|0:0" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
rc=0; srun --mem=50 ./eat.sh > srun.out 2>&1 || rc=$?
match "srun reports Out Of Memory" 'task 0: Out Of Memory' "$(cat srun.out)"
check "srun fails" yes "$([ "$rc" != 0 ] && echo yes)"
check "no group of a job is left" "" "$(find /sys/fs/cgroup -type d -name 'job_*' -path "*slurm_n1_*" 2>/dev/null \
    | xargs -r -n1 sh -c 'test -s "$0/cgroup.procs" && echo "$0"')"
