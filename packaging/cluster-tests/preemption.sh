#!/usr/bin/env bash
# Preemption by partition priority, gang scheduling, grace time and preemption for licenses.
# shows: PreemptMode, PreemptType
. "$(dirname "$0")/lib.bash"
start_cluster 1 2 "PreemptType=preempt/partition_prio
PreemptMode=SUSPEND,GANG
SchedulerParameters=requeue_delay=2"
scontrol create partitionname=low nodes=n1 priority=1 preemptmode=cancel
scontrol create partitionname=high nodes=n1 priority=2 preemptmode=off
scontrol create partitionname=share nodes=n1 oversubscribe=force:2
state() { squeue -h -t all -o %T -j "$1"; }
until_state() { local job=$1 wanted=$2; soon '[ "$(state "$job")" = "$wanted" ]' 10; state "$job"; }
low=$(sbatch --parsable -p low -o low.out -t1 --exclusive --wrap 'sleep 60')
until_state "$low" RUNNING >/dev/null
high=$(sbatch --parsable -p high -o /dev/null -t1 --exclusive --wrap 'sleep 2')
check "PreemptMode=CANCEL cancels the lower job" PREEMPTED "$(until_state "$low" PREEMPTED)"
check "the higher job runs" RUNNING "$(until_state "$high" RUNNING)"
wait_empty
match "the cancelled job's output names the preemption" "DUE TO PREEMPTION" "$(cat low.out)"
check "sacct shows the preemption" PREEMPTED "$(sacct -X -n -P -o State -j "$low")"
scontrol update partitionname=low preemptmode=suspend
low=$(sbatch --parsable -p low -o /dev/null -t1 --mem=10 -n2 --wrap 'sleep 3')
until_state "$low" RUNNING >/dev/null
high=$(sbatch --parsable -p high -o /dev/null -t1 --mem=10 -n2 --wrap 'sleep 2')
check "PreemptMode=SUSPEND suspends the lower job" SUSPENDED "$(until_state "$low" SUSPENDED)"
check "the higher job runs in its place" RUNNING "$(until_state "$high" RUNNING)"
wait_empty
check "the suspended job completes" COMPLETED "$(sacct -X -n -P -o State -j "$low")"
scontrol update partitionname=low preemptmode=requeue
low=$(sbatch --parsable -p low -o /dev/null -t1 --requeue --mem=10 -n2 --wrap 'sleep 2')
until_state "$low" RUNNING >/dev/null
high=$(sbatch --parsable -p high -o /dev/null -t1 --mem=10 -n2 --wrap 'sleep 1')
check "PreemptMode=REQUEUE requeues the lower job" PENDING "$(until_state "$low" PENDING)"
wait_empty
check "the requeued job completes" COMPLETED "$(sacct -X -n -P -o State -j "$low")"
for i in 1 2 3 4 5; do sbatch --parsable -p share -o /dev/null -t1 --mem=10 --wrap 'sleep 2' >/dev/null; done
becomes "two jobs share each core, one of them runs" "2 2 1" \
  '"$(squeue -h -t R | wc -l) $(squeue -h -t S | wc -l) $(squeue -h -t PD | wc -l)"'
check "cores in use count once" "2/0/0/2" "$(sinfo -h -p share -o %C)"
first=$(squeue -h -t R -o %i | sort | tr '\n' ' ')
soon '[ "$(squeue -h -t R -o %i | sort | tr "\n" " ")" != "$first" ]'
check "the other jobs run in turn" "yes" \
  "$([ "$(squeue -h -t R -o %i | sort | tr '\n' ' ')" != "$first" ] && echo yes)"
wait_empty

# GraceTime begins with SIGTERM for the tasks of steps, not for the script.
scontrol update partitionname=low preemptmode=cancel gracetime=4
cat > graced.sh <<'S'
#!/bin/bash
trap 'echo the script hears it' TERM
srun sh -c 'trap "echo a task hears it" TERM; sleep 60 & wait; sleep 60 & wait' &
wait; wait
S
low=$(sbatch --parsable -p low -o graced.out -t1 --exclusive graced.sh); running "$low" 1.5
high=$(sbatch --parsable -p high -o /dev/null -t1 --exclusive --wrap true)
comes "a task gets SIGTERM" "a task hears it" '"$(cat graced.out)"'
check "the job runs on in its grace time" "RUNNING" "$(state "$low")"
check "the script gets no SIGTERM" 0 "$(grep -c "the script hears" graced.out)"
check "the job ends after its grace time" PREEMPTED "$(until_state "$low" PREEMPTED)"
check "GraceTime cannot be unlimited" "scontrol: error: Invalid GraceTime value: unlimited" \
  "$(scontrol update partitionname=low gracetime=unlimited 2>&1 | head -1)"
scontrol update partitionname=low gracetime=0; wait_empty

# Preemption for licenses.
{ echo "PreemptParameters=reclaim_licenses,suspend_grace_time=1,colour=red"; echo "Licenses=lic:2"; } >> "$SLURM_CONF"
reread
scontrol create partitionname=low nodes=n1 priority=1 preemptmode=cancel   # slurm.conf knows none of these
scontrol create partitionname=high nodes=n1 priority=2 preemptmode=off
match "an unknown PreemptParameters key is logged" "PreemptParameters=colour has no effect" \
  "$(cat "$dir/log/slurmctld.log")"
low=$(sbatch --parsable -p low -o /dev/null -t1 --mem=10 -L lic:2 --wrap 'sleep 60'); running "$low"
high=$(sbatch --parsable -p high -o /dev/null -t1 --mem=10 -L lic:1 --wrap true)
check "reclaim_licenses preempts the holder of licenses" PREEMPTED "$(until_state "$low" PREEMPTED)"
becomes "the job that needs a license completes" COMPLETED '"$(state "$high")"'
scontrol update partitionname=low preemptmode=suspend
cat > stopped.sh <<'S'
#!/bin/bash
trap 'echo it makes ready; date +%s%N > made-ready' TSTP
while :; do sleep 0.1; date +%s%N > last; done
S
low=$(sbatch --parsable -p low -o stopped.out -t1 --mem=10 -n2 stopped.sh); running "$low"
high=$(sbatch --parsable -p high -o /dev/null -t1 --mem=10 -n2 --wrap 'sleep 3')
check "a job with suspend_grace_time is suspended" SUSPENDED "$(until_state "$low" SUSPENDED)"
comes "the job gets SIGTSTP first" "it makes ready" '"$(cat stopped.out)"'
sleep 1.5     # 1.5 s: suspend_grace_time=1 passes
was=$(cat last)
sleep 0.5     # 0.5 s: a stopped script writes nothing, a running one every 0.1 s
check "the job is stopped after suspend_grace_time" "$was" "$(cat last)"
check "the job ran on for its suspend_grace_time" yes "$([ "$was" -gt "$(cat made-ready)" ] && echo yes)"
scancel "$low" "$high"; wait_empty
for wrong in "PreemptMode=SUSPEND|PreemptMode=SUSPEND requires GANG too" \
  "PreemptMode=GANG|PreemptType and PreemptMode values incompatible"; do
  sed -i "s/^PreemptMode=.*/${wrong%%|*}/" "$SLURM_CONF"
  match "${wrong%%|*}" "${wrong#*|}" "$(scontrol reconfigure 2>&1)"
done
