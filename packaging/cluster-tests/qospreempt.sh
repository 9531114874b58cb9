#!/usr/bin/env bash
# QOS that decide who gives way, and limits of nothing at all.
. "$(dirname "$0")/lib.bash"
prepare_dbd
start_dbd
me=$(id -un)
sacctmgr -i add cluster test >/dev/null
sacctmgr -i add account lab >/dev/null
sacctmgr -i add qos low set priority=10 >/dev/null
sacctmgr -i add qos mid set priority=20 preempt=low preemptmode=requeue >/dev/null
sacctmgr -i add qos high set priority=1000 preempt=low,mid >/dev/null
sacctmgr -i add user "$me" account=lab qos=normal,low,mid,high defaultqos=normal >/dev/null
start_cluster 2 2 "$accounting
AccountingStorageEnforce=associations,limits,qos
PreemptType=preempt/qos
PreemptMode=GANG,CANCEL
SchedulerParameters=requeue_delay=2
PartitionName=short Nodes=n[1-2] MaxTime=0
PartitionName=none Nodes=n[1-2] MaxNodes=0
PartitionName=said Nodes=n[1-2] DefaultTime=0
PartitionName=five Nodes=n[1-2] DefaultTime=5"
sb() { sbatch --parsable -A lab -o "o.%j" -t2 "$@"; }
state() { squeue -h -t all -o %T -j "$1"; }
check "the ways as they are shown" "GANG,CANCEL" "$(scontrol show config | sed -n 's/^PreemptMode *= //p')"
check "of a QOS too" "within,cancel" "$(sacctmgr -i modify qos low set preemptmode=cancel,within >/dev/null
    sacctmgr -nP show qos low format=preemptmode)"
check "off is the cluster's" "cluster" \
  "$(sacctmgr -i modify qos low set preemptmode=off >/dev/null; sacctmgr -nP show qos low format=preemptmode)"
check "one way" " Bad Preempt Mode given: preemptmode=cancel,requeue" \
  "$(sacctmgr -i modify qos low set preemptmode=cancel,requeue 2>&1)"
check "nobody takes the place of who takes his" \
  "sacctmgr: error: QOS Preemption loop detected| Error with request: QOS Preemption loop detected" \
  "$(sacctmgr -i modify qos low set preempt=high 2>&1 | paste -sd'|')"
# Who is of the lower QOS goes first, whatever the priorities.
a=$(sb -q low -w n1 -n2 --wrap 'sleep 60'); b=$(sb -q mid -w n2 -n2 --wrap 'sleep 60'); running "$a"; running "$b"
scontrol update jobid="$a" priority=5000; scontrol update jobid="$b" priority=10
h=$(sb -q high -N1 -n2 --wrap true)
becomes "the lower QOS" "PREEMPTED RUNNING" '"$(state "$a") $(state "$b")"'
scancel "$b"; wait_empty
# Requeued, and so it stands in the accounts.
b=$(sb -q mid --requeue -N2 -n4 --wrap 'sleep 2'); running "$b"
h=$(sb -q high -N1 -n2 --wrap true); wait_empty
check "each attempt by itself" "PREEMPTED COMPLETED" "$(sacct -D -X -n -P -o State -j "$b" | paste -sd' ')"
# Its end is that of its grace; who ends in it by himself has made room.
sacctmgr -i modify qos mid set gracetime=30 >/dev/null; sleep 1
b=$(sb -q mid --requeue -N2 -n4 --wrap 'srun sleep 60; exit 0'); running "$b" 1.5
match "from when on" 'PreemptEligibleTime=[0-9T:-]+ PreemptTime=None' "$(scontrol show job "$b")"
since=$(date +%s); h=$(sb -q high -N1 -n2 --wrap true)
comes "ended by what it was told" "Terminated" '"$(cat "o.$b")"'
becomes "goes back to the queue" "PREEMPTED PENDING" '"$(sacct -D -X -n -P -o State -j "$b" | paste -sd" ")"'
scancel "$b"; wait_empty
sacctmgr -i modify qos mid set gracetime=20 preemptmode=cancel >/dev/null; sleep 1
b=$(sb -q mid -N2 -n4 --wrap 'sleep 100'); running "$b"; h=$(sb -q high -N1 -n2 --wrap true)
comes "it was told" 'PreemptTime=[0-9]' '"$(scontrol show job "$b")"'
end=$(date -d "$(scontrol show job "$b" | sed -n 's/.* EndTime=\([^ ]*\).*/\1/p')" +%s)
told=$(date -d "$(scontrol show job "$b" | sed -n 's/.* PreemptTime=\([^ ]*\).*/\1/p')" +%s)
match "and ends with its grace" '^(19|20|21)$' "$((end - told))"
scancel "$b"; wait_empty
# An exemption that ends brings nothing but time: somebody has to ask again.
sacctmgr -i modify qos low set preemptexempttime=00:00:06 >/dev/null; sleep 1
a=$(sb -q low -N2 -n4 --wrap 'sleep 60'); running "$a"; h=$(sb -q high -N1 -n2 --wrap true); sleep 2
check "not yet" "RUNNING PENDING" "$(state "$a") $(state "$h")"
becomes "then" "PREEMPTED COMPLETED" '"$(state "$a") $(state "$h")"'
wait_empty
# WITHIN: jobs of one QOS, for who has the higher priority.
sacctmgr -i modify qos low set preemptexempttime=00:00:00 preemptmode=cancel,within >/dev/null; sleep 1
a=$(sb -q low -w n1 -n2 --priority=100 --wrap 'sleep 60')
running "$a"
b=$(sb -q low -w n1 -n2 --priority=100 --wrap true)
sleep 3
check "not for its like" "RUNNING PENDING" "$(state "$a") $(state "$b")"
c=$(sb -q low -w n1 -n2 --priority=200 --wrap true)
becomes "for a higher one of its own QOS" "PREEMPTED COMPLETED COMPLETED" '"$(state "$a") $(state "$c") $(state "$b")"'
sacctmgr -i modify qos low set preemptmode=cluster >/dev/null; sleep 1
a=$(sb -q low -w n1 -n2 --priority=100 --wrap 'sleep 60')
running "$a"
c=$(sb -q low -w n1 -n2 --priority=200 --wrap true)
sleep 3
check "without it for none of them" "RUNNING PENDING" "$(state "$a") $(state "$c")"
scancel "$a" "$c"; wait_empty
# Nothing is a limit as well.
check "shown" "MaxTime=00:00:00 MaxNodes=0 DefaultTime=00:00:00" \
  "$(for p in short:MaxTime none:MaxNodes said:DefaultTime; do
    scontrol -o show partition "${p%:*}" | grep -o " ${p#*:}=[^ ]*"
  done | tr -d ' ' | paste -sd' ')"
check "by sinfo" "0:00 n/a 1-infinite|infinite n/a 0|infinite 0:00 1-infinite" \
  "$(for p in short none said; do sinfo -h -p $p -o '%l %L %s'; done | paste -sd'|')"
check "who names no time has none" \
  "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)" \
  "$(sbatch -A lab -p said -o /dev/null --wrap true 2>&1)"
check "0 asks for no limit" "UNLIMITED 5:00" "$(for t in "-t 0" ""; do
    squeue -h -o %l -j "$(sbatch --parsable -A lab -H -p five $t -o /dev/null --wrap true)"; done | paste -sd' ')"
a=$(sb -p short --wrap true)
b=$(sb -p none --wrap true)
c=$(sbatch --parsable -A lab -o /dev/null -p short -t 0 --wrap true)
becomes "and they wait" "PartitionTimeLimit PartitionNodeLimit PartitionTimeLimit" \
  '"$(for j in "$a" "$b" "$c"; do squeue -h -o %r -j "$j"; done | paste -sd" ")"'
scancel -u "$me"; wait_empty
# What squeue says in words of their own scontrol says in one.
echo "Prolog=/bin/false" >> "$SLURM_CONF"; reread
a=$(sb -w n1 --wrap true)
becomes "held after it could not be launched" "launch failed requeued held" '"$(squeue -h -o %r -j "$a")"'
match "in one word" "Reason=launch_failed_requeued_held " "$(scontrol show job "$a")"
