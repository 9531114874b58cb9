#!/usr/bin/env bash
# Jobs that give way to those of a higher partition, and cores that several jobs share.
# shows: PreemptMode, PreemptType
. "$(dirname "$0")/lib.bash"
start_cluster 1 2 "PreemptType=preempt/partition_prio
PreemptMode=SUSPEND,GANG
SchedulerParameters=requeue_delay=2"
scontrol create partitionname=low nodes=n1 priority=1 preemptmode=cancel
scontrol create partitionname=high nodes=n1 priority=2 preemptmode=off
scontrol create partitionname=share nodes=n1 oversubscribe=force:2
state() { squeue -h -t all -o %T -j "$1"; }
until_state() { local i; for i in $(seq 60); do [ "$(state "$1")" = "$2" ] && break; sleep 0.1; done; state "$1"; }
low=$(sbatch --parsable -p low -o low.out -t1 --exclusive --wrap 'sleep 60')
until_state "$low" RUNNING >/dev/null
high=$(sbatch --parsable -p high -o /dev/null -t1 --exclusive --wrap 'sleep 2')
check "cancelled" PREEMPTED "$(until_state "$low" PREEMPTED)"
check "for this" RUNNING "$(until_state "$high" RUNNING)"
wait_empty
match "and told so" "DUE TO PREEMPTION" "$(cat low.out)"
check "sacct" PREEMPTED "$(sacct -X -n -P -o State -j "$low")"
scontrol update partitionname=low preemptmode=suspend
low=$(sbatch --parsable -p low -o /dev/null -t1 --mem=10 -n2 --wrap 'sleep 3')
until_state "$low" RUNNING >/dev/null
high=$(sbatch --parsable -p high -o /dev/null -t1 --mem=10 -n2 --wrap 'sleep 2')
check "suspended" SUSPENDED "$(until_state "$low" SUSPENDED)"
check "for the other" RUNNING "$(until_state "$high" RUNNING)"
wait_empty
check "and goes on" COMPLETED "$(sacct -X -n -P -o State -j "$low")"
scontrol update partitionname=low preemptmode=requeue
low=$(sbatch --parsable -p low -o /dev/null -t1 --requeue --mem=10 -n2 --wrap 'sleep 2')
until_state "$low" RUNNING >/dev/null
high=$(sbatch --parsable -p high -o /dev/null -t1 --mem=10 -n2 --wrap 'sleep 1')
check "requeued" PENDING "$(until_state "$low" PENDING)"
wait_empty
check "and run again" COMPLETED "$(sacct -X -n -P -o State -j "$low")"
for i in 1 2 3 4 5; do sbatch --parsable -p share -o /dev/null -t1 --mem=10 --wrap 'sleep 2' >/dev/null; done
becomes "two jobs a core, of which one runs" "2 2 1" \
  '"$(squeue -h -t R | wc -l) $(squeue -h -t S | wc -l) $(squeue -h -t PD | wc -l)"'
check "cores in use count once" "2/0/0/2" "$(sinfo -h -p share -o %C)"
first=$(squeue -h -t R -o %i | sort | tr '\n' ' ')
until [ "$(squeue -h -t R -o %i | sort | tr '\n' ' ')" != "$first" ] || [ $((n = ${n:-0} + 1)) -gt 100 ]; do
  sleep 0.1
done
check "and the others when it is done or had its time" "yes" \
  "$([ "$(squeue -h -t R -o %i | sort | tr '\n' ' ')" != "$first" ] && echo yes)"
wait_empty

# A time of grace begins with SIGTERM for the tasks, not for the script.
scontrol update partitionname=low preemptmode=cancel gracetime=4
cat > graced.sh <<'S'
#!/bin/bash
trap 'echo the script hears it' TERM
srun sh -c 'trap "echo a task hears it" TERM; sleep 60 & wait; sleep 60 & wait' &
wait; wait
S
low=$(sbatch --parsable -p low -o graced.out -t1 --exclusive graced.sh); running "$low" 1.5
high=$(sbatch --parsable -p high -o /dev/null -t1 --exclusive --wrap true)
comes "its tasks are told" "a task hears it" '"$(cat graced.out)"'
check "and it goes on" "RUNNING" "$(state "$low")"
check "the script is not" 0 "$(grep -c "the script hears" graced.out)"
check "then it is over" PREEMPTED "$(until_state "$low" PREEMPTED)"
check "grace has an end" "scontrol: error: Invalid GraceTime value: unlimited" \
  "$(scontrol update partitionname=low gracetime=unlimited 2>&1 | head -1)"
scontrol update partitionname=low gracetime=0; wait_empty

# Licenses that others have.
{ echo "PreemptParameters=reclaim_licenses,suspend_grace_time=1,colour=red"; echo "Licenses=lic:2"; } >> "$SLURM_CONF"
reread
scontrol create partitionname=low nodes=n1 priority=1 preemptmode=cancel   # slurm.conf knows none of these
scontrol create partitionname=high nodes=n1 priority=2 preemptmode=off
match "a word that is none" "PreemptParameters=colour has no effect" "$(cat "$dir/log/slurmctld.log")"
low=$(sbatch --parsable -p low -o /dev/null -t1 --mem=10 -L lic:2 --wrap 'sleep 60'); running "$low"
high=$(sbatch --parsable -p high -o /dev/null -t1 --mem=10 -L lic:1 --wrap true)
check "are taken from them" PREEMPTED "$(until_state "$low" PREEMPTED)"
becomes "for this" COMPLETED '"$(state "$high")"'
scontrol update partitionname=low preemptmode=suspend
cat > stopped.sh <<'S'
#!/bin/bash
trap 'echo it makes ready; date +%s%N > made-ready' TSTP
while :; do sleep 0.1; date +%s%N > last; done
S
low=$(sbatch --parsable -p low -o stopped.out -t1 --mem=10 -n2 stopped.sh); running "$low"
high=$(sbatch --parsable -p high -o /dev/null -t1 --mem=10 -n2 --wrap 'sleep 3')
check "suspended" SUSPENDED "$(until_state "$low" SUSPENDED)"
comes "it hears of that first" "it makes ready" '"$(cat stopped.out)"'
sleep 1.5; was=$(cat last); sleep 0.5
check "and is stopped a second later" "$was" "$(cat last)"
check "not at once" yes "$([ "$was" -gt "$(cat made-ready)" ] && echo yes)"
scancel "$low" "$high"; wait_empty
for wrong in "PreemptMode=SUSPEND|PreemptMode=SUSPEND requires GANG too" \
  "PreemptMode=GANG|PreemptType and PreemptMode values incompatible"; do
  sed -i "s/^PreemptMode=.*/${wrong%%|*}/" "$SLURM_CONF"
  match "${wrong%%|*}" "${wrong#*|}" "$(scontrol reconfigure 2>&1)"
done
