#!/usr/bin/env bash
# Listings of running, pending and finished jobs.
. "$(dirname "$0")/lib.bash"
start_cluster 1 2
run=$(sbatch --parsable -o /dev/null -n 2 -t 10 --wrap 'sleep 30')
wait=$(sbatch --parsable -o /dev/null -n 2 -t 10 --wrap true)
later=$(sbatch --parsable -o /dev/null --begin=now+2hours --wrap true)
array=$(sbatch --parsable -o /dev/null -H --array=1-3 --wrap true)
crash=$(sbatch --parsable -o /dev/null -s --wrap 'kill -SEGV $$')
soon '[ "$(squeue --start -h -j "$wait" -o %Y | xargs)" = n1 ]'
check "--start lists pending jobs by their start" "$wait PENDING n1
$later PENDING
$array PENDING" "$(squeue --start -h -o '%A %T %Y' | grep -v "^$crash " | sed 's/(null)//; s/ *$//')"
check "--start of a running job" "" "$(squeue --start -h -j "$run")"
check "--start -t all of a running job" 1 "$(squeue --start -t all -h -j "$run" | wc -l)"
check "default memory is shown" "MinMemoryCPU=10M ReqTRES=cpu=2,mem=20M,node=1,billing=2" \
  "$(scontrol show job "$wait" | grep -oE 'MinMemoryCPU=[^ ]*|ReqTRES=.*' | sort | xargs)"
match "LastSchedEval of a pending job" 'LastSchedEval=20' "$(scontrol show job "$wait")"
match "LastSchedEval of a held job" 'LastSchedEval=20' "$(scontrol show job "$array" | tr '\n' ' ')"
check "sstat of a pending job" "sstat: error: No steps running for JobId=$wait" "$(sstat -n -j "$wait" 2>&1)"
check "sstat of an unknown job" "sstat: error: couldn't get steps for JobId=9999" "$(sstat -n -j 9999 2>&1)"
check "sstat of an unknown step" "sstat: error: StepId=$run.7 not found running." "$(sstat -n -j "$run.7" 2>&1)"
check "sstat of an invalid job id" "sstat: fatal: Bad job/step specified: bogus" "$(sstat -j bogus 2>&1)"
places='cpu=n[12],fs/disk=n[12],mem=n[12],pages=n[12],vmem=n[12]'
match "sstat names the nodes of the maxima and minima" "^$places\|cpu=[0-9].*\|$places\|fs/disk=[0-9]$" \
  "$(sstat -n -P -o TRESUsageInMaxNode,TRESUsageInMaxTask,TRESUsageInMinNode,TRESUsageOutMinTask -j "$run.batch")"
check "sstat of the script" "$run.batch" "$(sstat -n -P -o JobID -j "$run.batch")"
check "sacct: a pending array is one row" "${array}_[1-3]" "$(sacct -X -n -P -o JobID -j "$array")"
check "sacct --array lists the tasks of a pending array" "${array}_1 ${array}_2 ${array}_3" \
  "$(sacct -X -n -P -o JobID --array -j "$array" | xargs)"
match "sdiag counts its own request" 'Server thread count: +[1-9]' "$(sdiag)"
match "ping as JSON" '"responding": true' "$(scontrol --json ping)"
match "steps as JSON" "\"id\": \"$run.batch\"" "$(scontrol --json show steps)"
scontrol create reservation=kept users=root starttime=now+1hour duration=10 nodes=n1 >/dev/null
match "reservations as JSON" '"name": "kept"' "$(scontrol --json show reservations)"
scontrol delete reservation=kept
# A long queue is sent row by row while it is read. Its rows are the same as those of a short queue.
many=$(sbatch -H --parsable --array=1-999 -o /dev/null --wrap true)
more=$(sbatch -H --parsable --array=1-900 -o /dev/null --wrap true)
check "a long queue has all its rows" 1899 "$(squeue -r -h -t PD -n wrap -j "$many,$more" -o %i | sort -u | wc -l)"
check "a long queue is in the requested order" "${more}_1 ${many}_999" \
  "$(squeue -r -h -t PD -j "$many,$more" -S -i -o %i | sed -n '1p;$p' | xargs)"
check "a short queue has the same rows" "$(squeue -r -h -j "$many" -o '%i %t %r %L %u' | sort)" \
  "$(squeue -r -h -j "$many,$more" -o '%i %t %r %L %u' | grep "^${many}_" | sort)"
scancel "$many" "$more"
scancel "$run"; scancel "$later"; scancel "$array"
wait_empty
match "the reason of a job ended by a signal has no spaces" \
  'JobState=FAILED Reason=RaisedSignal:11\(Segmentation_fault\) ' "$(scontrol show job "$crash")"
