#!/usr/bin/env bash
# The everyday life of a cluster through its commands.
. "$(dirname "$0")/lib.bash"
start_cluster 2 4
id=$(sbatch --parsable -o out.txt --wrap 'echo hello; exit 3')
wait_empty
check "output of a batch job" hello "$(cat out.txt)"
check "its exit code" "FAILED|3:0" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
id=$(sbatch --parsable -o /dev/null --wrap 'kill -9 $$')
wait_empty
check "a signal is not an exit code" "FAILED|0:9" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
id=$(sbatch --parsable -o /dev/null --wrap 'exit 137')
wait_empty
check "exit 137 is not a signal" "FAILED|137:0" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
a=$(sbatch --parsable -o 'a-%A_%a.out' --array=1-5%2 --wrap 'echo $SLURM_ARRAY_TASK_ID')
wait_empty
check "array tasks ran" "1 2 3 4 5" "$(cat a-"$a"_*.out | sort -n | tr '\n' ' ' | sed 's/ $//')"
first=$(sbatch --parsable -o /dev/null --wrap 'sleep 1; exit 1')
ok=$(sbatch --parsable -o ok.txt -d afterok:"$first" --wrap 'echo ran')
notok=$(sbatch --parsable -o notok.txt -d afternotok:"$first" --wrap 'echo ran')
becomes "afternotok ran" ran '"$(cat notok.txt 2>/dev/null)"'
comes "afterok waits for ever and says why" DependencyNeverSatisfied '"$(squeue -h -o %r -j "$ok")"'
scancel "$ok"
check "srun's output" "$(printf '0: x\n1: x\n2: x\n3: x')" "$(srun -N2 -n4 -l echo x | sort)"
srun -Q -n1 -o made/for/%j.out echo there; check "directories of srun's files are made" there "$(cat made/for/*.out)"
srun -Q -n1 -e also/for/%j.err sh -c 'echo bad >&2'; check "those of its errors as well" bad "$(cat also/for/*.err)"
set +e
srun sh -c 'exit 7' 2>/dev/null; rc=$?
set -e
check "srun's exit code" 7 "$rc"
held=$(sbatch --parsable -H -o /dev/null --wrap true)
check "held" "PENDING JobHeldUser" "$(squeue -h -o '%T %r' -j "$held")"
scontrol release "$held"
wait_empty
check "released and ran" COMPLETED "$(sacct -X -n -P -o State -j "$held")"
late=$(sbatch --parsable -H -o /dev/null --wrap true)
scontrol update job "$late" starttime=2037-01-02T03:04:05
match "a new start time" 'StartTime=2037-01-02T03:04:05' "$(scontrol show job "$late" | grep -o 'StartTime=[^ ]*')"
check "and one that is none" 1 "$(scontrol update job "$late" starttime=soonish 2>/dev/null; echo $?)"
scancel "$late"
mark=100.$RANDOM$$
run=$(sbatch --parsable -o /dev/null --wrap "sleep $mark")
running "$run"
scancel "$run"
wait_empty
check "cancelled" "$run|CANCELLED by $(id -u)|0:0 $run.batch|CANCELLED|0:15" "$(sacct -n -P -o JobID,State,ExitCode -j "$run" | xargs)"
check "nothing of it is left" "" "$(pgrep -f "sleep $mark" || true)"
lim=$(sbatch --parsable -o /dev/null -t 0:01 --wrap 'sleep 100')
n=0; while [ -n "$(squeue -h -j "$lim" 2>/dev/null)" ] && [ $n -lt 120 ]; do sleep 1; n=$((n+1)); done
check "time limit" "$lim|TIMEOUT|0:0|0:0 $lim.batch|CANCELLED|0:15|" "$(sacct -n -P -o JobID,State,ExitCode,DerivedExitCode -j "$lim" | xargs)"
set +e
err=$(sbatch -p nosuch --wrap true 2>&1); rc=$?
set -e
check "an unknown partition is refused" "1 sbatch: error: invalid partition specified: nosuch" "$rc $(head -1 <<<"$err")"
scontrol update nodename=n2 state=drain reason=test
check "drained" "drained" "$(sinfo -h -N -n n2 -o %T)"
scontrol update nodename=n2 state=resume
check "resumed" "idle" "$(sinfo -h -N -n n2 -o %T)"
check "task/none binds nobody" "$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)" "$(srun -n1 sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)"
