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
# Host files and arbitrary layouts: each rank runs where its line says, a host that is named again is no further node.
printf 'n2\nn2\nn1\n' > hosts
laid() {
  "$@" sh -c \
    'echo "$SLURM_PROCID@$SLURMD_NODENAME of $SLURM_NTASKS on $SLURM_NNODES $SLURM_TASKS_PER_NODE $SLURM_STEP_NODELIST"' \
    | sort | xargs
}
ranks="0@n2 of 3 on 2 1,2 n[1-2] 1@n2 of 3 on 2 1,2 n[1-2] 2@n1 of 3 on 2 1,2 n[1-2]"
check "SLURM_HOSTFILE" "$ranks" "$(SLURM_HOSTFILE=hosts laid srun -Q)"
check "it counts more than -m" "$ranks" "$(SLURM_HOSTFILE=hosts laid srun -Q -m cyclic -n3)"
check "-m arbitrary -w" "$ranks" "$(laid srun -Q -m arbitrary -w n2,n2,n1)"
check "-w FILE" "$ranks" "$(laid srun -Q -m arbitrary -w ./hosts)"
check "in an allocation" "$ranks" "$(SLURM_HOSTFILE=hosts laid salloc -Q srun -Q)"
check "in one that has another layout" "$ranks" "$(laid salloc -Q -N2 -n4 env SLURM_HOSTFILE=hosts srun -Q -n3)"
sbatch -Q -W -o laid.txt --wrap 'echo $SLURM_TASKS_PER_NODE $SLURM_JOB_NUM_NODES' -m arbitrary -w n2,n1,n1 >/dev/null
check "in a batch script" "2,1 2" "$(cat laid.txt)"
check "hosts without the arbitrary layout are named once" "2" "$(srun -Q -w n2,n2,n1 -n2 printenv SLURM_NNODES | uniq)"
# TMPDIR is set and there; --export=LIST starts with the user's login environment.
tmp() {
  sbatch -W -o tmp.txt "$@" --wrap 'echo "$TMPDIR" $(stat -c %a "$TMPDIR"); srun -Q sh -c "echo \$TMPDIR"' >/dev/null
  sed 's/.*error: //' tmp.txt | xargs -d'\n' | tr '\n' ' '
}
check "TMPDIR unset" "/tmp 1777 /tmp " "$(env -u TMPDIR bash -c "$(declare -f tmp); tmp")"
check "TMPDIR is made" "$PWD/own 700 $PWD/own " "$(TMPDIR=$PWD/own tmp)"
match "TMPDIR cannot be made" "^Unable to create TMPDIR \\[/proc/own\\]: .* Setting TMPDIR to /tmp /tmp 1777 " \
  "$(TMPDIR=/proc/own tmp)"
match "TMPDIR is a file" "^TMPDIR \\[$PWD/hosts\\] is not a directory Setting TMPDIR to /tmp /tmp 1777 " \
  "$(TMPDIR=$PWD/hosts tmp)"
sbatch -W -o export.txt --export=FOO=1 --wrap 'echo $FOO $HOME $SLURM_GET_USER_ENV' >/dev/null
check "--export=FOO=1" "1 $(getent passwd "$(id -u)" | cut -d: -f6) 1" "$(cat export.txt)"
check "--tasks-per-node" "4" \
  "$(srun -Q -N2 --tasks-per-node=2 true; srun -Q -N2 --tasks-per-node=2 printenv SLURM_NTASKS | uniq)"
srun -Q -n1 -o made/for/%j.out echo there
check "directories of srun's files are made" there "$(cat made/for/*.out)"
srun -Q -n1 -e also/for/%j.err sh -c 'echo bad >&2'
check "those of its errors as well" bad "$(cat also/for/*.err)"
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
check "cancelled" "$run|CANCELLED by $(id -u)|0:0 $run.batch|CANCELLED|0:15" \
  "$(sacct -n -P -o JobID,State,ExitCode -j "$run" | xargs)"
check "nothing of it is left" "" "$(pgrep -f "sleep $mark" || true)"
lim=$(sbatch --parsable -o /dev/null -t 0:01 --wrap 'sleep 100')
n=0; while [ -n "$(squeue -h -j "$lim" 2>/dev/null)" ] && [ $n -lt 120 ]; do sleep 1; n=$((n+1)); done
check "time limit" "$lim|TIMEOUT|0:0|0:0 $lim.batch|CANCELLED|0:15|" \
  "$(sacct -n -P -o JobID,State,ExitCode,DerivedExitCode -j "$lim" | xargs)"
set +e
err=$(sbatch -p nosuch --wrap true 2>&1); rc=$?
set -e
check "an unknown partition is refused" "1 sbatch: error: invalid partition specified: nosuch" \
  "$rc $(head -1 <<<"$err")"
# Job names, task lists and messages of commands.
check "srun -E leaves the tasks that the environment has" "7 1" "$(salloc -Q -n2 sh \
    -c 'SLURM_NTASKS=7 srun -Q -E -n1 printenv SLURM_NTASKS; SLURM_NTASKS=7 srun -Q -n1 printenv SLURM_NTASKS' | xargs)"
check "srun -v says how tasks are bound" "CpuBindType=(null type)" "$(srun -v true 2>&1 | grep -o 'CpuBindType=.*')"
echo '#BB capacity=1' > bb.txt; : > none.txt
check "a burst buffer's file without a plugin that reads it" 0 \
  "$(rc=0; id=$(sbatch --parsable -H --bbf=bb.txt --wrap true) || rc=$?; scancel "$id"; echo $rc)"
check "and one without a word" "sbatch: error: Invalid --bbf specification" \
  "$(sbatch -H --bbf=none.txt --wrap true 2>&1)"
held=$(sbatch --parsable -H -a 1-39:2 -o /dev/null --wrap 'echo of the script')
sluid=$(sacct -nX -o sluid -j "$held" | xargs)
match "squeue has the tasks in short, --only-job-state one by one as far as they fit" \
  "^${held}_\\[1-39:2\\]\\|${held}_\\[1,3,5,7,9,11[0-9,]* PD$" \
  "$(squeue -h -j "$held" -o %i)|$(squeue --only-job-state -h -j "$held" | xargs)"
check "a cancelled task is hidden" "0 no" "$(scancel "${held}_3"; scontrol show job "$held" \
    | grep -cE 'ArrayTaskId=(.*,)?3[, ]') $(scontrol show job "${held}_3" >/dev/null 2>&1 || echo no)"
check "a job by its SLUID" "echo of the script 0 $held" "$(scontrol write batch_script "$sluid" - | tail -1) \
$(strigger --set --jobid="$sluid" --fini --program=/bin/true; \
    echo $?) $(scontrol show job "$sluid" | sed -n 's/^JobId=\([0-9]*\).*/\1/p')"
scancel "$sluid"
check "and gone" "" "$(squeue -h -j "$held" -o %i 2>/dev/null)"
run=$(sbatch --parsable -o /dev/null --wrap 'srun sleep 60')
running "$run"
sluid=$(sacct -nX -o sluid -j "$run" | xargs)
check "a step by it" "StepId=$run.0" "$(scontrol show step "$sluid.0" | grep -o 'StepId=[^ ]*')"
scancel "$run"; wait_empty
check "scancel -i of a job that is over" "scancel: error: Kill job error on job id $run: Invalid job id specified 1" \
  "$( (rc=0; scancel -i "$run" 2>&1 || rc=$?; echo $rc) | xargs)"
check "salloc of two components" \
  "salloc: Pending job allocation N|salloc: job N queued and waiting for resources|salloc: job N has been allocated resources|\
salloc: Granted job allocation N|salloc: Nodes nN are ready for job|salloc: Nodes nN are ready for job|salloc: Relinquishing job allocation N|" \
  "$(salloc -n1 : -n1 true 2>&1 | sed 's/[0-9][0-9]*/N/g' | tr '\n' '|')"
printf '#!/bin/bash\n#SBATCH --comment="abc\ntrue\n' > bogus.sh
check "a directive's error has the script's name" 'sbatch: fatal: bogus.sh: line 2: Unmatched `"` in [--comment="abc]' \
  "$(sbatch "$PWD/bogus.sh" 2>&1)"
sbatch -W --export='A="x,y",B=z' -o quoted.txt --wrap 'echo "$A|$B"' >/dev/null
check "a comma in quotes parts no list, and the quotes stay" '"x,y"|z' "$(cat quoted.txt)"
check "whole numbers of a unit have no fraction" 10240K "$(sacct -nXP --units=K -o reqmem -j "$run")"
sbatch -W -D "$dir/work/made" -o there/out.txt --wrap pwd >/dev/null
check "a script's output file makes its working directory" "$dir/work/made" "$(cat made/there/out.txt)"
check "an array's limit left out is none" "1-2" "$(id=$(sbatch --parsable -H -a 1-2% --wrap true); \
    scontrol show job "$id" | sed -n 's/.*ArrayTaskId=\([^ ]*\).*/\1/p'; scancel "$id")"
printf '0 echo "a %%t" '"'b %%t'"'\n1 echo c\n' > programs.conf
check "programs of several kinds get the command line's arguments too" '0: "a 0" b %t in file|1: c in file|' \
  "$(srun -n2 -l --multi-prog programs.conf 'in file' | sort | tr '\n' '|')"
mkdir gone
check "commands work where the directory is gone" \
  "squeue 0 sbatch: error: getcwd failed: No such file or directory 255" "$( (cd gone; rmdir "$dir/work/gone"; \
    rc=0; squeue -h -n nosuch; echo "squeue $?"; sbatch --wrap true 2>&1 || rc=$?; echo "$rc") | xargs)"
printf '#!/bin/bash\n#SBATCH -o /dev/null\n#SBATCH --comment=a#b\ntrue\n' > hash.sh
check "a directive ends at a #" a "$(id=$(sbatch --parsable -H hash.sh); squeue -h -j "$id" -o %k; scancel "$id")"
term=$(sbatch --parsable -o term.txt --wrap 'sleep 100'); running "$term"; scancel -f -s TERM "$term"; wait_empty
match "who sends SIGTERM to all of a job is told of" \
  "\*\*\* JOB $term ON n[12] CANCELLED AT [-0-9T:]+ DUE to SIGNAL Terminated \*\*\*" "$(cat term.txt)"
scontrol update nodename=n2 state=drain reason=test
check "drained" "drained" "$(sinfo -h -N -n n2 -o %T)"
scontrol update nodename=n2 state=resume
check "resumed" "idle" "$(sinfo -h -N -n n2 -o %T)"
check "task/none binds nobody" "$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)" \
  "$(srun -n1 sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)"
