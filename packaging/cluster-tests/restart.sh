#!/usr/bin/env bash
# What commands show of jobs, steps, nodes and reservations of each kind is the same after a restart of slurmctld, by
# SIGTERM and by SIGKILL; only what time itself changes (run times, loads) may differ.
. "$(dirname "$0")/lib.bash"
start_cluster 4 4 "Licenses=fluent:5
MaxArraySize=100
PriorityType=priority/multifactor
PriorityWeightJobSize=100
PreemptType=preempt/partition_prio
PreemptMode=SUSPEND,GANG
PartitionName=low Nodes=n[1-4] PriorityTier=1 PreemptMode=SUSPEND MaxTime=60 DefaultTime=30
PartitionName=second Nodes=n[1-4] State=DOWN"
sub() { sbatch --parsable "$@"; }

mkfifo "$dir/gate"
forever="sleep 600"
sub -N1 -w n1 --wrap "true" > "$dir/ids"
sub -w n1 --wrap "exit 3" >> "$dir/ids"
sub -w n1 --no-requeue --comment c --wrap "kill -9 \$\$" >> "$dir/ids"
sub -w n1 -t 1 --array 1-3%2 -J array --wrap "exit \$SLURM_ARRAY_TASK_ID" >> "$dir/ids"
cancelled=$(sub -p second --wrap "true"); waiting=$(sub -p second -J waiting --wrap "true")
held=$(sub -H -J held --wrap "true"); late=$(sub --begin now+1hour -J late --wrap "true")
heldcancelled=$(sub -H --wrap "true"); latecancelled=$(sub --begin now+1hour --wrap "true")
soon '[ -z "$(squeue -h -t R,CG -o %i)" ]'
run=$(sub -w n1 -n2 -t 60 -L fluent:2 --mem 50 --exclude n4 -J run --wrap "srun -n1 $forever & srun -n1 $forever; wait")
sub -d "afterok:$run" -J dependent --wrap "true" > /dev/null
sub -n 16 -N 4 --exclusive -t 30 -J wide --wrap "true" > /dev/null
sub --array 1-5 -d "afterany:$run" -J waitingarray --wrap "true" > /dev/null
sub -L fluent:5 -J licensed --wrap "true" > /dev/null
sub -N1 --hold -J first --wrap "true" : -N1 -J other --wrap "true" > /dev/null 2>&1 || true
suspended=$(sub -w n2 -n1 -J suspended --wrap "$forever")
requeued=$(sub -w n3 --requeue -J requeued --wrap "$forever")
(salloc -w n4 -n1 -J allocation --no-shell >/dev/null 2>&1) || true
soon '[ "$(squeue -h -t R -o %j | sort | tr "\n" " ")" = "allocation requeued run suspended " ]'
soon '[ "$(squeue -h -s -j "$run" | wc -l)" -ge 2 ]'
scancel "$cancelled" "$heldcancelled" "$latecancelled"
scontrol suspend "$suspended"
scontrol requeuehold "$requeued"
scontrol update jobid="$waiting" comment=changed nice=5 admincomment=admin
soon '[ "$(squeue -h -j "$requeued" -o %T)" = PENDING ]'
scontrol create reservation reservationname=later starttime=now+1hour duration=60 nodes=n4 users=root flags=ignore_jobs \
  > /dev/null
scontrol create reservation reservationname=now starttime=now duration=600 nodes=n3 users=root >/dev/null
scontrol update nodename=n2 state=drain reason=mine
scontrol update nodename=n4 comment=remark extra=more
scontrol update partitionname=low maxnodes=3 state=drain

fields() { squeue --helpFormat 2>&1 | tr -s " " "\n" | grep -v "^$" | tr "\n" "," || true; }
all=$(fields)
# Prints all that commands show, without what time changes and what nodes measure.
shown() {
  scontrol show job -d -o | sed -E 's/ (RunTime|SystemComment)=[^ ]*//g' | sort
  for name in $(tr ',' ' ' <<< "$all"); do
    case $name in timeused|timeleft|TimeUsed|TimeLeft|PendingTime|pendingtime) continue ;; esac
    squeue -a -t all -h -O "JobArrayID:20,$name:60" 2>/dev/null | sed "s/^/$name /" | sort
  done
  squeue -a -t all -h -o '%A|%a|%B|%c|%C|%D|%d|%E|%e|%F|%f|%g|%G|%h|%H|%i|%I|%j|%J|%K|%k|%l|%m|%n|%N|%o|%O|%p|%P|%q|%Q|%r|%R|%S|%t|%T|%u|%U|%v|%V|%w|%W|%x|%X|%y|%Y|%z|%Z' \
    | sort
  squeue -s -h -o '%A|%i|%j|%N|%P|%S|%u' | sort
  scontrol show step -o | sort
  sinfo -N -h -o '%A|%a|%B|%b|%c|%C|%d|%D|%E|%f|%F|%g|%G|%h|%H|%i|%I|%l|%L|%m|%n|%N|%o|%p|%P|%r|%R|%s|%S|%t|%T|%u|%U|%v|%V|%w|%X|%Y|%z|%Z' \
    | sort
  scontrol show node -o \
    | sed -E 's/ (CPULoad|FreeMem|LastBusyTime|CurrentWatts|AveWatts|ConsumedJoules|SlurmdStartTime)=[^ ]*//g'
  scontrol show partition -o
  scontrol show reservation -o
  scontrol show licenses -o
  sprio -h -o '%i|%Y|%A|%J|%N|%P|%Q|%T' 2>/dev/null | sort
  sacct -a -P -n -o JobID,State,ExitCode,Submit,Eligible,Start,End,NodeList,Reason,AllocTRES,ReqTRES 2>/dev/null | sort
}
# Waits until slurmctld has its nodes again and has planned.
settled() {
  soon '[ "$(sinfo -h -N -o "%N %T" | grep -vc "\*\|unk")" -ge 4 ] && scontrol show node -o | grep -qv UNKNOWN'
  sleep 3      # 3 s: passes and the plan
}
sleep 3      # 3 s: passes and the plan
shown > "$dir/before"
for how in TERM KILL; do
  ended_by "$how" slurmctld; start_ctld; settled
  shown > "$dir/after"
  check "what commands show after SIG$how" "" "$(diff "$dir/before" "$dir/after" | grep '^[<>]' | head -40)"
done
