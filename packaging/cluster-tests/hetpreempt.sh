#!/usr/bin/env bash
# Heterogeneous jobs that give way and that make room, and who gives way to whom by priority.
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
has() { until_is "it runs" "RUNNING RUNNING" "$1"; }
# It goes as a whole, for who needs one of its nodes.
h=$(het lowc lowc)
has "$h"
b=$(sb -p high -n 2 -w n1 --wrap 'sleep 100')
until_is "both components are cancelled for one node" "PREEMPTED PREEMPTED" "$h"
until_is "for this" RUNNING "$b"
scancel "$b"; wait_empty
h=$(het lowr lowr --requeue)
has "$h"
b=$(sb -p high -n 2 -w n2 --wrap 'sleep 6')
until_is "both go back to the queue" "PENDING PENDING" "$h"
until_is "for this" RUNNING "$b"
has "$h"
check "again, when that is over" COMPLETED "$(states "$b")"
scancel "$h"; wait_empty
# Not in part: one component that stays keeps the other.
for parts in "lowc stays" "stays lowc"; do
  h=$(het $parts)
  has "$h"
  b=$(sb -p high -n 2 -w "$([ "${parts%% *}" = lowc ] && echo n1 || echo n2)" --wrap true); sleep 3
  check "with a component that stays it stays ($parts)" "RUNNING RUNNING PENDING" "$(states "$h") $(states "$b")"
  scancel "$h" "$b"; wait_empty
done
# It makes room for all components, or for none.
for low in lowc lowr; do
  a=$(sb -p $low -n 2 -w n1 --wrap 'sleep 100')
  b=$(sb -p $low -n 2 -w n2 --wrap 'sleep 100')
  running "$a"
  running "$b"
  h=$(het high high)
  has "$h"
  check "two jobs went for it ($low)" "$([ $low = lowc ] && echo PREEMPTED PREEMPTED || echo PENDING PENDING)" \
    "$(states "$a,$b")"
  scancel "$h" "$a" "$b"; wait_empty
done
a=$(sb -p lowc -n 2 -w n1 --wrap 'sleep 100')
b=$(sb -p stays -n 2 -w n2 --wrap 'sleep 100')
running "$a"
running "$b"
h=$(het high high); sleep 3
check "nobody goes for half of it" "RUNNING RUNNING PENDING PENDING" "$(states "$a,$b") $(states "$h")"
scancel "$h" "$a" "$b"; wait_empty
l=$(het lowc lowc)
has "$l"
h=$(het high high)
has "$h"
check "one for the other" "PREEMPTED PREEMPTED" "$(states "$l")"
scancel "$h"; wait_empty
# PreemptMode=PRIORITY: only to who has the higher priority, whatever the tiers.
scontrol update partitionname=lowc preemptmode=priority,cancel
check "as it is shown" "PRIORITY,CANCEL" "$(scontrol show partition lowc | sed -n 's/.* PreemptMode=//p')"
a=$(sb -p lowc -n 2 -w n1 --priority=500 --wrap 'sleep 100'); running "$a"
b=$(sb -p high -n 2 -w n1 --priority=400 --wrap 'sleep 100'); sleep 3
check "not to a lower one" "RUNNING PENDING" "$(states "$a") $(states "$b")"
scontrol update jobid="$b" priority=500; sleep 2
check "nor to the same" "RUNNING PENDING" "$(states "$a") $(states "$b")"
scontrol update jobid="$b" priority=501
until_is "but to a higher" "PREEMPTED" "$a"
until_is "for this" RUNNING "$b"
scancel "$b"; wait_empty
# PreemptMode=SUSPEND: it stops and goes on as a whole, its processes as well.
sed -i 's/^PreemptMode=REQUEUE/PreemptMode=SUSPEND,GANG/' "$SLURM_CONF"; reread
stops() { ps -o stat= -p "$(cat "$1" 2>/dev/null || echo 0)" | cut -c1; }
h=$(sbatch --parsable -o /dev/null -t 5 -n 2 -N 1 -p lowr -w n1 : -n 2 \
  -N 1 -p lowr -w n2 --wrap "srun --het-group=0,1 sh -c 'echo \$\$ > $dir/work/pid.\$SLURMD_NODENAME; exec sleep 100'")
has "$h"
soon '[ -s pid.n1 ] && [ -s pid.n2 ]'
b=$(sb -p high -n 2 -w n2 --wrap 'sleep 5')
until_is "both components stop for one node" "SUSPENDED SUSPENDED" "$h"
until_is "for this" RUNNING "$b"
becomes "as do the tasks on both" "T T" '"$(stops pid.n1) $(stops pid.n2)"'
until_is "and go on together" "RUNNING RUNNING" "$h"
check "when that is over" COMPLETED "$(states "$b")"
becomes "with their tasks" "S S" '"$(stops pid.n1) $(stops pid.n2)"'
