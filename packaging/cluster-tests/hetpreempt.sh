#!/usr/bin/env bash
# Preemption of and by heterogeneous jobs, and preemption by priority.
. "$(dirname "$0")/lib.bash"
start_cluster 2 2 "PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=requeue_delay=3
PartitionName=lowc Nodes=n[1-2] PriorityTier=1 PreemptMode=CANCEL
PartitionName=lowr Nodes=n[1-2] PriorityTier=1
PartitionName=high Nodes=n[1-2] PriorityTier=10 PreemptMode=OFF
PartitionName=stays Nodes=n[1-2] PriorityTier=1 PreemptMode=OFF"
sb() { sbatch --parsable -o /dev/null -t 5 "$@"; }
het() { local a=$1 b=$2; shift 2; sb -n 2 -N 1 -p "$a" "$@" -w n1 : -n 2 -N 1 -p "$b" -w n2 --wrap 'sleep 100'; }
states() { squeue -h -t all -o %T -j "$1" -S i | xargs; }
until_is() { becomes "$1" "$2" "\"\$(states $3)\""; }
has() { until_is "both components run" "RUNNING RUNNING" "$1"; }
running_alone() { until_is "the preemptor runs" RUNNING "$1"; }
# A job that needs one node of a heterogeneous job preempts all its components.
h=$(het lowc lowc)
has "$h"
b=$(sb -p high -n 2 -w n1 --wrap 'sleep 100')
until_is "both components are cancelled for one node" "PREEMPTED PREEMPTED" "$h"
running_alone "$b"
scancel "$b"; wait_empty
h=$(het lowr lowr --requeue)
has "$h"
b=$(sb -p high -n 2 -w n2 --wrap 'sleep 6')
until_is "both components are requeued for one node" "PENDING PENDING" "$h"
running_alone "$b"
has "$h"
check "the preemptor has ended before the components run again" COMPLETED "$(states "$b")"
scancel "$h"; wait_empty
# A component that cannot be preempted protects the other component.
for parts in "lowc stays" "stays lowc"; do
  h=$(het $parts)
  has "$h"
  b=$(sb -p high -n 2 -w "$([ "${parts%% *}" = lowc ] && echo n1 || echo n2)" --wrap true)
  sleep 3    # 3 s: no preemption must follow
  check "a heterogeneous job with a protected component runs on ($parts)" "RUNNING RUNNING PENDING" \
    "$(states "$h") $(states "$b")"
  scancel "$h" "$b"; wait_empty
done
# A heterogeneous job preempts for all its components, or for none.
for low in lowc lowr; do
  a=$(sb -p $low -n 2 -w n1 --wrap 'sleep 100')
  b=$(sb -p $low -n 2 -w n2 --wrap 'sleep 100')
  running "$a"
  running "$b"
  h=$(het high high)
  has "$h"
  check "a heterogeneous job preempts two jobs ($low)" \
    "$([ $low = lowc ] && echo PREEMPTED PREEMPTED || echo PENDING PENDING)" "$(states "$a,$b")"
  scancel "$h" "$a" "$b"; wait_empty
done
a=$(sb -p lowc -n 2 -w n1 --wrap 'sleep 100')
b=$(sb -p stays -n 2 -w n2 --wrap 'sleep 100')
running "$a"
running "$b"
h=$(het high high)
sleep 3    # 3 s: no preemption must follow
check "no job is preempted for one component of two" "RUNNING RUNNING" "$(states "$a,$b")"
check "a heterogeneous job without room for a component is pending" "PENDING PENDING" "$(states "$h")"
scancel "$h" "$a" "$b"; wait_empty
l=$(het lowc lowc)
has "$l"
h=$(het high high)
has "$h"
check "a heterogeneous job preempts a heterogeneous job" "PREEMPTED PREEMPTED" "$(states "$l")"
scancel "$h"; wait_empty
# PreemptMode=PRIORITY: only a job of a higher priority preempts, whatever the tiers.
scontrol update partitionname=lowc preemptmode=priority,cancel
check "scontrol shows PreemptMode=PRIORITY" "PRIORITY,CANCEL" \
  "$(scontrol show partition lowc | sed -n 's/.* PreemptMode=//p')"
a=$(sb -p lowc -n 2 -w n1 --priority=500 --wrap 'sleep 100'); running "$a"
b=$(sb -p high -n 2 -w n1 --priority=400 --wrap 'sleep 100')
sleep 3    # 3 s: no preemption must follow
check "a job of a lower priority does not preempt" "RUNNING PENDING" "$(states "$a") $(states "$b")"
scontrol update jobid="$b" priority=500
sleep 2    # 2 s: no preemption must follow
check "a job of the same priority does not preempt" "RUNNING PENDING" "$(states "$a") $(states "$b")"
scontrol update jobid="$b" priority=501
until_is "a job of a higher priority preempts" "PREEMPTED" "$a"
running_alone "$b"
scancel "$b"; wait_empty
# PreemptMode=SUSPEND: all components and their processes are stopped and continued together.
sed -i 's/^PreemptMode=REQUEUE/PreemptMode=SUSPEND,GANG/' "$SLURM_CONF"; reread
stops() { ps -o stat= -p "$(cat "$1" 2>/dev/null || echo 0)" | cut -c1; }
h=$(sbatch --parsable -o /dev/null -t 5 -n 2 -N 1 -p lowr -w n1 : -n 2 -N 1 -p lowr -w n2 \
  --wrap "srun --het-group=0,1 sh -c 'echo \$\$ > $dir/work/pid.\$SLURMD_NODENAME; exec sleep 100'")
has "$h"
soon '[ -s pid.n1 ] && [ -s pid.n2 ]'
b=$(sb -p high -n 2 -w n2 --wrap 'sleep 5')
until_is "both components are suspended for one node" "SUSPENDED SUSPENDED" "$h"
running_alone "$b"
becomes "the tasks of both components are stopped" "T T" '"$(stops pid.n1) $(stops pid.n2)"'
until_is "both components run again" "RUNNING RUNNING" "$h"
check "the preemptor has ended before the components are continued" COMPLETED "$(states "$b")"
becomes "the tasks of both components are continued" "S S" '"$(stops pid.n1) $(stops pid.n2)"'
