#!/usr/bin/env bash
# What the listings say of jobs that run, wait and are over.
. "$(dirname "$0")/lib.bash"
start_cluster 1 2
run=$(sbatch --parsable -o /dev/null -n 2 -t 10 --wrap 'sleep 30')
wait=$(sbatch --parsable -o /dev/null -n 2 -t 10 --wrap true)
later=$(sbatch --parsable -o /dev/null --begin=now+2hours --wrap true)
array=$(sbatch --parsable -o /dev/null -H --array=1-3 --wrap true)
crash=$(sbatch --parsable -o /dev/null -s --wrap 'kill -SEGV $$')
soon '[ "$(squeue --start -h -j "$wait" -o %Y | xargs)" = n1 ]'
check "--start tells of those that wait, the next first" "$wait PENDING n1
$later PENDING
$array PENDING" "$(squeue --start -h -o '%A %T %Y' | grep -v "^$crash " | sed 's/(null)//; s/ *$//')"
check "--start of a running job" "" "$(squeue --start -h -j "$run")"
check "or of all states" 1 "$(squeue --start -t all -h -j "$run" | wc -l)"
check "default memory is shown" "MinMemoryCPU=10M ReqTRES=cpu=2,mem=20M,node=1,billing=2" \
  "$(scontrol show job "$wait" | grep -oE 'MinMemoryCPU=[^ ]*|ReqTRES=.*' | sort | xargs)"
match "when the scheduler looked last" 'LastSchedEval=20' "$(scontrol show job "$wait")"
match "a held job was looked at when it came" 'LastSchedEval=20' "$(scontrol show job "$array" | tr '\n' ' ')"
check "sstat of a job that waits" "sstat: error: No steps running for JobId=$wait" "$(sstat -n -j "$wait" 2>&1)"
check "sstat of no job" "sstat: error: couldn't get steps for JobId=9999" "$(sstat -n -j 9999 2>&1)"
check "sstat of no step" "sstat: error: StepId=$run.7 not found running." "$(sstat -n -j "$run.7" 2>&1)"
check "sstat of what is no job" "sstat: fatal: Bad job/step specified: bogus" "$(sstat -j bogus 2>&1)"
places='cpu=n[12],fs/disk=n[12],mem=n[12],pages=n[12],vmem=n[12]'
match "sstat says where what was most and least" "^$places\|cpu=[0-9].*\|$places\|fs/disk=[0-9]$" \
  "$(sstat -n -P -o TRESUsageInMaxNode,TRESUsageInMaxTask,TRESUsageInMinNode,TRESUsageOutMinTask -j "$run.batch")"
check "sstat of the script" "$run.batch" "$(sstat -n -P -o JobID -j "$run.batch")"
check "an array that waits is one row" "${array}_[1-3]" "$(sacct -X -n -P -o JobID -j "$array")"
check "and with --array its tasks" "${array}_1 ${array}_2 ${array}_3" \
  "$(sacct -X -n -P -o JobID --array -j "$array" | xargs)"
match "sdiag counts what it serves" 'Server thread count: +[1-9]' "$(sdiag)"
match "ping as JSON" '"responding": true' "$(scontrol --json ping)"
match "steps as JSON" "\"id\": \"$run.batch\"" "$(scontrol --json show steps)"
scontrol create reservation=kept users=root starttime=now+1hour duration=10 nodes=n1 >/dev/null
match "reservations as JSON" '"name": "kept"' "$(scontrol --json show reservations)"
scontrol delete reservation=kept
# A long queue comes row by row, while it is made, and is the same as a short one.
many=$(sbatch -H --parsable --array=1-999 -o /dev/null --wrap true)
more=$(sbatch -H --parsable --array=1-900 -o /dev/null --wrap true)
check "a long queue has all its rows" 1899 "$(squeue -r -h -t PD -n wrap -j "$many,$more" -o %i | sort -u | wc -l)"
check "in the order that is asked for" "${more}_1 ${many}_999" \
  "$(squeue -r -h -t PD -j "$many,$more" -S -i -o %i | sed -n '1p;$p' | xargs)"
check "a short queue's rows say the same" "$(squeue -r -h -j "$many" -o '%i %t %r %L %u' | sort)" \
  "$(squeue -r -h -j "$many,$more" -o '%i %t %r %L %u' | grep "^${many}_" | sort)"
scancel "$many" "$more"
scancel "$run"; scancel "$later"; scancel "$array"
wait_empty
match "a reason without spaces" 'JobState=FAILED Reason=RaisedSignal:11\(Segmentation_fault\) ' \
  "$(scontrol show job "$crash")"
