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
check "a signal is no exit code" "FAILED|0:9" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
id=$(sbatch --parsable -o /dev/null --wrap 'exit 137')
wait_empty
check "exit code 137 is no signal" "FAILED|137:0" "$(sacct -X -n -P -o State,ExitCode -j "$id")"
a=$(sbatch --parsable -o 'a-%A_%a.out' --array=1-5%2 --wrap 'echo $SLURM_ARRAY_TASK_ID')
wait_empty
check "array tasks ran" "1 2 3 4 5" "$(cat a-"$a"_*.out | sort -n | tr '\n' ' ' | sed 's/ $//')"
first=$(sbatch --parsable -o /dev/null --wrap 'sleep 1; exit 1')
ok=$(sbatch --parsable -o ok.txt -d afterok:"$first" --wrap 'echo ran')
notok=$(sbatch --parsable -o notok.txt -d afternotok:"$first" --wrap 'echo ran')
becomes "afternotok ran" ran '"$(cat notok.txt 2>/dev/null)"'
comes "the reason of a failed afterok is DependencyNeverSatisfied" DependencyNeverSatisfied \
  '"$(squeue -h -o %r -j "$ok")"'
scancel "$ok"
check "srun's output" "$(printf '0: x\n1: x\n2: x\n3: x')" "$(srun -N2 -n4 -l echo x | sort)"
# Host files and arbitrary layouts: each rank runs on the host of its line; a repeated host is one node.
printf 'n2\nn2\nn1\n' > hosts
cat > rank.sh <<'S'
echo "$SLURM_PROCID@$SLURMD_NODENAME of $SLURM_NTASKS on $SLURM_NNODES $SLURM_TASKS_PER_NODE $SLURM_STEP_NODELIST"
S
laid() { "$@" sh rank.sh | sort | xargs; }
ranks="0@n2 of 3 on 2 1,2 n[1-2] 1@n2 of 3 on 2 1,2 n[1-2] 2@n1 of 3 on 2 1,2 n[1-2]"
check "SLURM_HOSTFILE" "$ranks" "$(SLURM_HOSTFILE=hosts laid srun -Q)"
check "SLURM_HOSTFILE overrides -m" "$ranks" "$(SLURM_HOSTFILE=hosts laid srun -Q -m cyclic -n3)"
check "-m arbitrary -w" "$ranks" "$(laid srun -Q -m arbitrary -w n2,n2,n1)"
check "-w FILE" "$ranks" "$(laid srun -Q -m arbitrary -w ./hosts)"
check "SLURM_HOSTFILE in an allocation" "$ranks" "$(SLURM_HOSTFILE=hosts laid salloc -Q srun -Q)"
check "SLURM_HOSTFILE in an allocation of another layout" "$ranks" \
  "$(laid salloc -Q -N2 -n4 env SLURM_HOSTFILE=hosts srun -Q -n3)"
sbatch -Q -W -o laid.txt --wrap 'echo $SLURM_TASKS_PER_NODE $SLURM_JOB_NUM_NODES' -m arbitrary -w n2,n1,n1 >/dev/null
check "-m arbitrary in a batch script" "2,1 2" "$(cat laid.txt)"
check "without -m arbitrary a repeated host counts once" "2" "$(srun -Q -w n2,n2,n1 -n2 printenv SLURM_NNODES | uniq)"
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
check "directories of srun's error files are made" bad "$(cat also/for/*.err)"
set +e
srun sh -c 'exit 7' 2>/dev/null; rc=$?
set -e
check "srun's exit code" 7 "$rc"
held=$(sbatch --parsable -H -o /dev/null --wrap true)
check "a held job is pending" "PENDING JobHeldUser" "$(squeue -h -o '%T %r' -j "$held")"
scontrol release "$held"
wait_empty
check "a released job runs" COMPLETED "$(sacct -X -n -P -o State -j "$held")"
late=$(sbatch --parsable -H -o /dev/null --wrap true)
scontrol update job "$late" starttime=2037-01-02T03:04:05
match "scontrol sets the start time" 'StartTime=2037-01-02T03:04:05' \
  "$(scontrol show job "$late" | grep -o 'StartTime=[^ ]*')"
check "an invalid start time is refused" 1 "$(scontrol update job "$late" starttime=soonish 2>/dev/null; echo $?)"
scancel "$late"
mark=100.$RANDOM$$
run=$(sbatch --parsable -o /dev/null --wrap "sleep $mark")
running "$run"
scancel "$run"
wait_empty
check "a cancelled job and its step in accounting" "$run|CANCELLED by $(id -u)|0:0 $run.batch|CANCELLED|0:15" \
  "$(sacct -n -P -o JobID,State,ExitCode -j "$run" | xargs)"
check "a cancelled job leaves no process" "" "$(pgrep -f "sleep $mark" || true)"
lim=$(sbatch --parsable -o /dev/null -t 0:01 --wrap 'sleep 100')
soon '[ -z "$(squeue -h -j "$lim" 2>/dev/null)" ]' 120
check "time limit" "$lim|TIMEOUT|0:0|0:0 $lim.batch|CANCELLED|0:15|" \
  "$(sacct -n -P -o JobID,State,ExitCode,DerivedExitCode -j "$lim" | xargs)"
set +e
err=$(sbatch -p nosuch --wrap true 2>&1); rc=$?
set -e
check "an unknown partition is refused" "1 sbatch: error: invalid partition specified: nosuch" \
  "$rc $(head -1 <<<"$err")"
# Options, ids and messages of commands.
check "srun -E keeps SLURM_NTASKS of the environment" 7 \
  "$(salloc -Q -n2 sh -c 'SLURM_NTASKS=7 srun -Q -E -n1 printenv SLURM_NTASKS')"
check "srun without -E sets SLURM_NTASKS" 1 \
  "$(salloc -Q -n2 sh -c 'SLURM_NTASKS=7 srun -Q -n1 printenv SLURM_NTASKS')"
check "srun -v prints the type of the CPU binding" "CpuBindType=(null type)" \
  "$(srun -v true 2>&1 | grep -o 'CpuBindType=.*')"
echo '#BB capacity=1' > bb.txt; : > none.txt
check "--bbf without a burst buffer plugin is ignored" 0 \
  "$(rc=0; id=$(sbatch --parsable -H --bbf=bb.txt --wrap true) || rc=$?; scancel "$id"; echo $rc)"
check "--bbf of an empty file is refused" "sbatch: error: Invalid --bbf specification" \
  "$(sbatch -H --bbf=none.txt --wrap true 2>&1)"
held=$(sbatch --parsable -H -a 1-39:2 -o /dev/null --wrap 'echo of the script')
sluid=$(sacct -nX -o sluid -j "$held" | xargs)
check "squeue abbreviates the tasks of an array" "${held}_[1-39:2]" "$(squeue -h -j "$held" -o %i)"
match "squeue --only-job-state lists the tasks of an array" "^${held}_\\[1,3,5,7,9,11[0-9,]* PD$" \
  "$(squeue --only-job-state -h -j "$held" | xargs)"
scancel "${held}_3"
check "an array's record is without a cancelled task" 0 \
  "$(scontrol show job "$held" | grep -cE 'ArrayTaskId=(.*,)?3[, ]')"
check "a cancelled pending task has no record" no "$(scontrol show job "${held}_3" >/dev/null 2>&1 || echo no)"
check "scontrol write batch_script by SLUID" "echo of the script" \
  "$(scontrol write batch_script "$sluid" - | tail -1)"
check "strigger by SLUID" 0 "$(strigger --set --jobid="$sluid" --fini --program=/bin/true; echo $?)"
check "scontrol show job by SLUID" "$held" "$(scontrol show job "$sluid" | sed -n 's/^JobId=\([0-9]*\).*/\1/p')"
scancel "$sluid"
check "scancel by SLUID" "" "$(squeue -h -j "$held" -o %i 2>/dev/null)"
run=$(sbatch --parsable -o /dev/null --wrap 'srun sleep 60')
running "$run"
sluid=$(sacct -nX -o sluid -j "$run" | xargs)
check "scontrol show step by SLUID" "StepId=$run.0" "$(scontrol show step "$sluid.0" | grep -o 'StepId=[^ ]*')"
scancel "$run"; wait_empty
check "scancel -i of a job that has ended" "scancel: error: Kill job error on job id $run: Invalid job id specified 1" \
  "$( (rc=0; scancel -i "$run" 2>&1 || rc=$?; echo $rc) | xargs)"
cat > expected.txt <<'X'
salloc: Pending job allocation N
salloc: job N queued and waiting for resources
salloc: job N has been allocated resources
salloc: Granted job allocation N
salloc: Nodes nN are ready for job
salloc: Nodes nN are ready for job
salloc: Relinquishing job allocation N
X
check "salloc of two components" "$(cat expected.txt)" "$(salloc -n1 : -n1 true 2>&1 | sed 's/[0-9][0-9]*/N/g')"
printf '#!/bin/bash\n#SBATCH --comment="abc\ntrue\n' > bogus.sh
check "a directive's error has the script's name" 'sbatch: fatal: bogus.sh: line 2: Unmatched `"` in [--comment="abc]' \
  "$(sbatch "$PWD/bogus.sh" 2>&1)"
sbatch -W --export='A="x,y",B=z' -o quoted.txt --wrap 'echo "$A|$B"' >/dev/null
check "a comma in quotes does not split --export, and the quotes stay" '"x,y"|z' "$(cat quoted.txt)"
check "sacct --units prints whole numbers without a fraction" 10240K "$(sacct -nXP --units=K -o reqmem -j "$run")"
sbatch -W -D "$dir/work/made" -o there/out.txt --wrap pwd >/dev/null
check "the directories of a script's output file are made in its working directory" "$dir/work/made" \
  "$(cat made/there/out.txt)"
check "an array with an empty limit has no limit" "1-2" "$(id=$(sbatch --parsable -H -a 1-2% --wrap true); \
    scontrol show job "$id" | sed -n 's/.*ArrayTaskId=\([^ ]*\).*/\1/p'; scancel "$id")"
printf '0 echo "a %%t" '"'b %%t'"'\n1 echo c\n' > programs.conf
check "programs of --multi-prog get the arguments of the command line" '0: "a 0" b %t in file|1: c in file|' \
  "$(srun -n2 -l --multi-prog programs.conf 'in file' | sort | tr '\n' '|')"
in_a_deleted_directory() { (mkdir "$dir/work/gone"; cd gone; rmdir "$dir/work/gone"; "$@" 2>&1; echo $?) | xargs; }
check "squeue works in a deleted directory" 0 "$(set +e; in_a_deleted_directory squeue -h -n nosuch)"
check "sbatch is refused in a deleted directory" "sbatch: error: getcwd failed: No such file or directory 255" \
  "$(set +e; in_a_deleted_directory sbatch --wrap true)"
printf '#!/bin/bash\n#SBATCH -o /dev/null\n#SBATCH --comment=a#b\ntrue\n' > hash.sh
check "a directive ends at a #" a "$(id=$(sbatch --parsable -H hash.sh); squeue -h -j "$id" -o %k; scancel "$id")"
term=$(sbatch --parsable -o term.txt --wrap 'sleep 100'); running "$term"; scancel -f -s TERM "$term"; wait_empty
match "a job's output has the message of a SIGTERM to the whole job" \
  "\*\*\* JOB $term ON n[12] CANCELLED AT [-0-9T:]+ DUE to SIGNAL Terminated \*\*\*" "$(cat term.txt)"
scontrol update nodename=n2 state=drain reason=test
check "a drained node" "drained" "$(sinfo -h -N -n n2 -o %T)"
scontrol update nodename=n2 state=resume
check "a resumed node" "idle" "$(sinfo -h -N -n n2 -o %T)"
check "task/none binds no task" "$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)" \
  "$(srun -n1 sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)"
