#!/usr/bin/env bash
# Preemption by QOS (modes, grace time, exempt time, WITHIN), and limits of zero.
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
check "PreemptMode in show config" "GANG,CANCEL" "$(scontrol show config | sed -n 's/^PreemptMode *= //p')"
sacctmgr -i modify qos low set preemptmode=cancel,within >/dev/null
check "PreemptMode of a QOS" "within,cancel" "$(sacctmgr -nP show qos low format=preemptmode)"
sacctmgr -i modify qos low set preemptmode=off >/dev/null
check "preemptmode=off is shown as cluster" "cluster" "$(sacctmgr -nP show qos low format=preemptmode)"
check "two modes at once" " Bad Preempt Mode given: preemptmode=cancel,requeue" \
  "$(sacctmgr -i modify qos low set preemptmode=cancel,requeue 2>&1)"
check "a preemption loop" \
  "sacctmgr: error: QOS Preemption loop detected| Error with request: QOS Preemption loop detected" \
  "$(sacctmgr -i modify qos low set preempt=high 2>&1 | paste -sd'|')"
# Changes a QOS and waits until slurmctld has the change: preemption settings are not shown, so a limit marks it.
limit=1000
modify_qos() {
  local qos=$1
  limit=$((limit+1))
  sacctmgr -i modify qos "$qos" set "${@:2}" grpsubmitjobs=$limit >/dev/null
  soon 'scontrol -o show assoc_mgr qos="$qos" flags=qos | grep -q "GrpSubmitJobs=$limit("'
}
# The victim is the job of the lower QOS, whatever the jobs' priorities.
a=$(sb -q low -w n1 -n2 --wrap 'sleep 60'); b=$(sb -q mid -w n2 -n2 --wrap 'sleep 60'); running "$a"; running "$b"
scontrol update jobid="$a" priority=5000; scontrol update jobid="$b" priority=10
h=$(sb -q high -N1 -n2 --wrap true)
becomes "the job of the lower QOS is preempted" "PREEMPTED RUNNING" '"$(state "$a") $(state "$b")"'
scancel "$b"; wait_empty
# A requeued job has a record for each attempt.
b=$(sb -q mid --requeue -N2 -n4 --wrap 'sleep 2'); running "$b"
h=$(sb -q high -N1 -n2 --wrap true); wait_empty
check "each attempt has a record" "PREEMPTED COMPLETED" "$(sacct -D -X -n -P -o State -j "$b" | paste -sd' ')"
# A job has its grace time before it ends; a job that ends within it makes room at once.
modify_qos mid gracetime=30
b=$(sb -q mid --requeue -N2 -n4 --wrap 'srun sleep 60; exit 0'); running "$b" 1.5
match "PreemptEligibleTime" 'PreemptEligibleTime=[0-9T:-]+ PreemptTime=None' "$(scontrol show job "$b")"
h=$(sb -q high -N1 -n2 --wrap true)
comes "the step ends by SIGTERM" "Terminated" '"$(cat "o.$b")"'
becomes "the job is requeued" "PREEMPTED PENDING" '"$(sacct -D -X -n -P -o State -j "$b" | paste -sd" ")"'
scancel "$b"; wait_empty
modify_qos mid gracetime=20 preemptmode=cancel
b=$(sb -q mid -N2 -n4 --wrap 'sleep 100'); running "$b"; h=$(sb -q high -N1 -n2 --wrap true)
comes "PreemptTime" 'PreemptTime=[0-9]' '"$(scontrol show job "$b")"'
end=$(date -d "$(scontrol show job "$b" | sed -n 's/.* EndTime=\([^ ]*\).*/\1/p')" +%s)
told=$(date -d "$(scontrol show job "$b" | sed -n 's/.* PreemptTime=\([^ ]*\).*/\1/p')" +%s)
match "EndTime is the end of the grace time" '^(19|20|21)$' "$((end - told))"
scancel "$b"; wait_empty
# The end of PreemptExemptTime is no event: the scheduler has to try again by itself.
modify_qos low preemptexempttime=00:00:06
a=$(sb -q low -N2 -n4 --wrap 'sleep 60'); running "$a"; h=$(sb -q high -N1 -n2 --wrap true)
sleep 2     # 2 s: the job is not preempted within its exempt time
check "an exempt job runs on" "RUNNING PENDING" "$(state "$a") $(state "$h")"
becomes "after PreemptExemptTime it is preempted" "PREEMPTED COMPLETED" '"$(state "$a") $(state "$h")"'
wait_empty
# WITHIN: a job preempts jobs of its own QOS that have a lower priority.
modify_qos low preemptexempttime=00:00:00 preemptmode=cancel,within
a=$(sb -q low -w n1 -n2 --priority=100 --wrap 'sleep 60')
running "$a"
b=$(sb -q low -w n1 -n2 --priority=100 --wrap true)
sleep 3     # 3 s: the job is not preempted
check "WITHIN: a job of the same priority preempts nothing" "RUNNING PENDING" "$(state "$a") $(state "$b")"
c=$(sb -q low -w n1 -n2 --priority=200 --wrap true)
becomes "WITHIN: a job of a higher priority preempts" "PREEMPTED COMPLETED COMPLETED" \
  '"$(state "$a") $(state "$c") $(state "$b")"'
modify_qos low preemptmode=cluster
a=$(sb -q low -w n1 -n2 --priority=100 --wrap 'sleep 60')
running "$a"
c=$(sb -q low -w n1 -n2 --priority=200 --wrap true)
sleep 3     # 3 s: the job is not preempted
check "without WITHIN a job preempts nothing of its QOS" "RUNNING PENDING" "$(state "$a") $(state "$c")"
scancel "$a" "$c"; wait_empty
# A limit of zero is a limit.
check "scontrol shows limits of zero" "MaxTime=00:00:00 MaxNodes=0 DefaultTime=00:00:00" \
  "$(for p in short:MaxTime none:MaxNodes said:DefaultTime; do
    scontrol -o show partition "${p%:*}" | grep -o " ${p#*:}=[^ ]*"
  done | tr -d ' ' | paste -sd' ')"
check "sinfo shows limits of zero" "0:00 n/a 1-infinite|infinite n/a 0|infinite 0:00 1-infinite" \
  "$(for p in short none said; do sinfo -h -p $p -o '%l %L %s'; done | paste -sd'|')"
check "DefaultTime=0 refuses a job without a time" \
  "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)" \
  "$(sbatch -A lab -p said -o /dev/null --wrap true 2>&1)"
check "-t 0 is no limit, no -t is DefaultTime" "UNLIMITED 5:00" "$(for t in "-t 0" ""; do
    squeue -h -o %l -j "$(sbatch --parsable -A lab -H -p five $t -o /dev/null --wrap true)"; done | paste -sd' ')"
a=$(sb -p short --wrap true)
b=$(sb -p none --wrap true)
c=$(sbatch --parsable -A lab -o /dev/null -p short -t 0 --wrap true)
becomes "jobs beyond a limit of zero wait" "PartitionTimeLimit PartitionNodeLimit PartitionTimeLimit" \
  '"$(for j in "$a" "$b" "$c"; do squeue -h -o %r -j "$j"; done | paste -sd" ")"'
scancel -u "$me"; wait_empty
# squeue shows this reason as words, scontrol joins them by underscores.
echo "Prolog=/bin/false" >> "$SLURM_CONF"; reread
a=$(sb -w n1 --wrap true)
becomes "a failed prolog holds the job" "launch failed requeued held" '"$(squeue -h -o %r -j "$a")"'
match "scontrol's reason" "Reason=launch_failed_requeued_held " "$(scontrol show job "$a")"
