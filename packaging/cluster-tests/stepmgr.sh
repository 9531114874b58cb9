#!/usr/bin/env bash
# --stepmgr and the features that need it: a job's ports, memory that is given back, steps while slurmctld is down.
# Also: scontrol getent and topoconf, and a cloud node whose name is not resolved.
. "$(dirname "$0")/lib.bash"
start_cluster 2 4 "PrologFlags=Contain
MpiParams=ports=12000-12005"
id=$(sbatch --parsable --stepmgr -o "$dir/work/out" --wrap 'echo "$SLURM_STEPMGR"; srun printenv SLURM_STEPMGR')
wait_empty
check "SLURM_STEPMGR" "n1 n1" "$(xargs < "$dir/work/out")"
match "scontrol show job" $'BatchHost=n1\n +StepMgrEnabled=Yes' "$(scontrol show job "$id")"
match "scontrol --json show job" STEPMGR_ENABLED "$(scontrol --json show job "$id")"
check "SALLOC_STEPMGR" "StepMgrEnabled=Yes" \
  "$(SALLOC_STEPMGR=1 salloc -Q sh -c 'scontrol show job $SLURM_JOB_ID' | grep -o 'StepMgr.*')"
check "no step manager without --stepmgr" "" \
  "$(salloc -Q sh -c 'scontrol show job $SLURM_JOB_ID; env' | grep -i stepmgr || true)"
failed="Job submit/allocate failed"
check "ports without a step manager" \
  "salloc: error: $failed: Slurmstepd step management must be enabled to use --resv-ports for job allocations" \
  "$(salloc --resv-ports=2 true 2>&1 || true)"
needs="SlurmctldParameters=enable_stepmgr and JobAcctGatherType=jobacct_gather/cgroup"
check "memory without a step manager" "sbatch: error: Batch job submission failed: --mem-update needs $needs" \
  "$(sbatch --mem-update=20@1 --wrap true 2>&1 || true)"
cat >> "$SLURM_CONF" <<C
SlurmctldParameters=enable_stepmgr
JobAcctGatherType=jobacct_gather/cgroup
ResumeProgram=/bin/true
SuspendProgram=/bin/true
SuspendTime=INFINITE
NodeName=far-away State=CLOUD CPUs=1 RealMemory=1000 Port=$((port+9))
PartitionName=clouds Nodes=far-away
C
stopped slurmctld
start_ctld
soon '[ "$(sinfo -h -N -p main -o %T 2>/dev/null | grep -cx idle)" = 2 ]'
srun -Q -p clouds sh -c 'echo $SLURMD_NODENAME' > "$dir/work/cloud" 2>&1 & cloud=$!
soon '[[ "$(scontrol show node far-away)" = *POWERING_UP* ]]'
match "enable_stepmgr: a job of a node that is powering up" 'StepMgrEnabled=Yes' \
  "$(scontrol show job "$(squeue -h -p clouds -o %i)")"
mkdir -p "$dir/spool/far-away"
slurmd -b -N far-away -f "$SLURM_CONF" -d "$prefix/sbin/slurmstepd" </dev/null >>"$dir/log/start.out" 2>&1
wait $cloud || true
check "a job on a cloud node whose name is not resolved" "far-away" "$(cat "$dir/work/cloud")"
match "the cloud node's address" 'NodeAddr=127.0.0.1' "$(scontrol show node far-away)"
lower=$(sbatch --parsable -w n2 --mem=1000 --mem-update=50@1 -o /dev/null --wrap 'sleep 120')
soon '[ "$(squeue -h -j "$lower" -o %t)" = R ]'
match "enable_stepmgr: a running job" 'StepMgrEnabled=Yes' "$(scontrol show job "$lower")"
one=$(sbatch --parsable -w n1 --resv-ports=4 -o "$dir/work/ports" \
  --wrap '
  srun -n1 --resv-ports=2 --overlap \
    sh -c "echo a \$SLURM_STEP_RESV_PORTS; touch holds; until [ -e tried ]; do sleep 0.1; done; sleep 3" &
  until [ -e holds ]; do sleep 0.1; done
  srun -n1 --overlap --resv-ports=3 true > second 2>&1 &
  until grep -qs retrying second; do sleep 0.1; done
  touch tried; wait; head -1 second
  srun -n1 --resv-ports=4 sh -c "echo b \$SLURM_STEP_RESV_PORTS"')
two=$(sbatch --parsable -w n1 --resv-ports=3 -o /dev/null --wrap true)
three=$(sbatch --parsable -w n1 --resv-ports=2 -o /dev/null --wrap 'sleep 1')
becomes "a job of 3 ports waits" "PENDING Resources" '"$(squeue -h -j "$two" -o '\''%T %r'\'')"'
becomes "a job of 2 ports starts" "" '"$(squeue -h -j "$three" -t PD -o %i 2>/dev/null)"'
soon '[ -z "$(squeue -h -j "$one,$two,$three" 2>/dev/null)" ]'
match "a step's ports are of its job" 'a 1200[0-5]' "$(head -1 "$dir/work/ports")"
match "a step of more ports than are free waits" 'Required ports are in use' "$(cat "$dir/work/ports")"
match "a step has all ports of its job" 'b 1200' "$(tail -1 "$dir/work/ports")"
match "more ports than MpiParams has" "Requires more ports than can be reserved" \
  "$(sbatch --resv-ports=7 --wrap true 2>&1 || true)"
me=$(id -un)
cat > getent.sh <<'S'
srun -Q sleep 30 &
until scontrol getent n1 2>/dev/null | grep -q "\.0:"; do sleep 0.1; done
scontrol getent n1
kill %1
wait
S
salloc -Q -w n1 sh getent.sh > "$dir/work/getent" 2>/dev/null </dev/null || true
match "scontrol getent: the user of a step" "JobId=[0-9]+\.0:
User:
$me:x:$(id -u):$(id -g):.*:$(getent passwd "$me" | cut -d: -f6):" "$(cat "$dir/work/getent")"
match "scontrol getent: the extern step" 'JobId=[0-9]+\.Extern:' "$(cat "$dir/work/getent")"
match "scontrol getent: groups" "Groups:
$(id -gn):x:$(id -g):$me" "$(cat "$dir/work/getent")"
becomes "scontrol getent without steps" "No job steps exist on this node. 1" \
  '"$( (scontrol getent n1 2>&1 || echo $?) | xargs)"'
told() {
  SLURM_STEP_KILLED_MSG_NODE_ID=$1 srun -K -N2 sh -c '[ $SLURM_PROCID = 1 ] || exec sleep 100; sleep 0.3; exit 3' 2>&1 \
    </dev/null | grep -o 'ON n[12] CANCELLED' || true
}
check "SLURM_STEP_KILLED_MSG_NODE_ID=0: the first node reports the end" "ON n1 CANCELLED" "$(told 0)"
check "SLURM_STEP_KILLED_MSG_NODE_ID=1: the first node does not" "" "$(told 1)"
check "without SLURM_STEP_KILLED_MSG_NODE_ID the first node reports the end" "ON n1 CANCELLED" "$(told "")"
check "scontrol show topoconf" "--- - topology: default cluster_default: true flat: true" \
  "$(scontrol show topoconf | xargs)"
soon 'scontrol show job "$lower" | grep -q AllocTRES=cpu=1,mem=100M' 90
match "memory is given back" 'AllocTRES=cpu=1,mem=100M' "$(scontrol show job "$lower")"
scancel "$lower"; wait_empty
cat > "$dir/work/away.sh" <<'S'
#!/bin/bash
#SBATCH -N2 --ntasks-per-node=2
srun -n1 touch started
until [ -e away ]; do sleep 0.1; done
srun -N2 -n4 -l sh -c 'echo $SLURM_STEP_ID $SLURMD_NODENAME' | sort
srun -N2 -n4 sh -c '[ $SLURM_PROCID != 0 ] || touch busy; until [ -e on ]; do sleep 0.1; done' &
until [ -e busy ]; do sleep 0.1; done
srun -n1 echo later & until grep -q retrying err; do sleep 0.1; done; touch on; wait
srun -n1 sh -c 'touch long; exec sleep 200' & until [ -e long ]; do sleep 0.1; done; kill %%; wait
srun -n1 sh -c 'exit 7'; echo "rc $?"
srun --async -n1 -o async.out echo alone; for i in $(seq 100); do grep -q alone async.out && break; sleep 0.1; done
touch halfway; until [ -e anew ]; do sleep 0.1; done
srun -N2 -n2 sh -c 'touch last.$SLURM_PROCID; until [ -e back ]; do sleep 0.1; done; exit 5'; echo "rc $?"
S
away=$(sbatch --parsable -o away.out -e err away.sh)
soon '[ -e started ]'
killed slurmctld
check "slurmctld has ended" "gone" "$(kill -0 "$(pid_of slurmctld)" 2>/dev/null && echo there || echo gone)"
touch away; soon '[ -e halfway ]'
kill -9 "$(pid_of slurmd-n1)"; start_node n1; soon 'kill -0 "$(pid_of slurmd-n1)" 2>/dev/null'
touch anew; soon '[ -e last.0 ] && [ -e last.1 ]'
check "steps while slurmctld is away" "0: 1 n1,1: 1 n1,2: 1 n2,3: 1 n2,later,rc 7,Submitted step $away.6," \
  "$(tr '\n' ',' < away.out)"
check "srun --async while slurmctld is away" alone "$(cat async.out)"
match "a step that waits for CPUs" \
  "Job $away step creation temporarily disabled, retrying \(Requested nodes are busy\)" "$(cat err)"
match "a killed srun ends its step" "forcing job termination" "$(cat err)"
kill -9 "$(pid_of slurmd-n2)"; start_node n2; soon 'kill -0 "$(pid_of slurmd-n2)" 2>/dev/null'
start_ctld
soon '[ "$(sinfo -h -N -p main -o %T 2>/dev/null | grep -cE "alloc|mixed")" = 2 ]'
soon 'squeue -h -s -j "$away" -o %i | grep -q "\.7"'
match "slurmctld has the step after its restart" "$away.7 sh n\[1-2\]" "$(squeue -h -s -j "$away" -o '%i %j %N')"
touch back; wait_empty 30
cat > "$dir/work/het.sh" <<'S'
#!/bin/bash
#SBATCH -n1 -w n1
#SBATCH hetjob
#SBATCH -n2 -w n2
srun --het-group=0,1 true
touch het.started; until [ -e het.away ]; do sleep 0.1; done
srun --het-group=0,1 -l sh -c 'echo $SLURM_STEP_ID $SLURMD_NODENAME of $SLURM_NTASKS' | sort
srun --het-group=1 sh -c 'echo $SLURM_STEP_ID $SLURMD_NODENAME of $SLURM_NTASKS'
srun -n1 sh -c 'touch het.long; exec sleep 200' : -n1 sleep 200 &
until [ -e het.long ]; do sleep 0.1; done
kill %%
wait
srun --het-group=0,1 sh -c 'touch het.$SLURM_PROCID; until [ -e het.back ]; do sleep 0.1; done; exit 3'; echo "rc $?"
S
het=$(sbatch --parsable -o het.out -e het.err het.sh)
soon '[ -e het.started ]'
kill -9 "$(pid_of slurmctld)"; touch het.away; soon '[ -e het.0 ] && [ -e het.1 ] && [ -e het.2 ]'
check "steps of a heterogeneous job" "0: 1 n1 of 3,1: 1 n2 of 3,2: 1 n2 of 3,2 n2 of 2,2 n2 of 2," \
  "$(tr '\n' ',' < het.out)"
start_ctld
touch het.back
becomes "the step goes on after the restart of slurmctld" "rc 3" '"$(tail -1 het.out)"'
wait_empty 30
check "exit codes of its steps, first component" "0:0 0:0 0:9 3:0" \
  "$(sacct -n -P -j "$het+0" -o jobid,exitcode | sed -n 's/.*\.[0-9]*|//p' | xargs)"
check "exit codes of its steps, second component" "0:0 0:0 0:0 0:9 3:0" \
  "$(sacct -n -P -j "$het+1" -o jobid,exitcode | sed -n 's/.*\.[0-9]*|//p' | xargs)"
check "exit codes of steps while slurmctld was away" "0:0 0:0 0:0 0:0 0:9 7:0 0:0 5:0" \
  "$(sacct -n -P -j "$away" -o jobid,exitcode | sed -n 's/.*\.[0-9]*|//p' | xargs)"
match "an earlier job is kept" 'JobState=' "$(scontrol show job "$lower")"
wait_empty 30
