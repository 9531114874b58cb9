#!/usr/bin/env bash
# Heterogeneous jobs: components of scripts and command lines, steps over components, ids of components in commands.
. "$(dirname "$0")/lib.bash"
start_cluster 3 2
cat > het.sh <<'S'
#!/bin/bash
#SBATCH -J het -t 2 -n 1 -o het.txt
#SBATCH hetjob
#SBATCH -n 2 -N 2 -t 3
env | grep HET_ | sort
srun --het-group=0,1 -l sh -c 'echo $SLURM_PROCID of $SLURM_NTASKS in $SLURM_JOB_ID on $SLURM_NODELIST as $SLURM_NODEID'
srun --het-group=1 sh -c 'echo one $SLURM_PROCID'
srun -l sh -c 'echo first' : -n 1 sh -c 'echo second'
sleep 2
S
id=$(sbatch --parsable het.sh)
becomes "squeue names the components" "$id+0 $id+1" '"$(squeue -h -j "$id" -o %i | sort | xargs)"'
check "squeue of one component by its offset" "$((id + 1))" "$(squeue -h -j "$id+1" -o %A)"
check "scontrol show job" "$id 0 $id-$((id + 1)) $id 1 $id-$((id + 1))" \
  "$(scontrol show job "$id" | grep -o -E 'Het[A-Za-z]*=[0-9-]+' | grep -o '[0-9-]*$' | xargs)"
wait_empty 40
match "SLURM_HET_SIZE" 'SLURM_HET_SIZE=2' "$(cat het.txt)"
match "variables of each component" "SLURM_JOB_ID_HET_GROUP_1=$((id + 1))" "$(cat het.txt)"
check "ranks continue over the components" \
  "0: 0 of 3 in $id on n[1-3] as 0|1: 1 of 3 in $id on n[1-3] as 1|2: 2 of 3 in $id on n[1-3] as 2|" \
  "$(grep ' of 3' het.txt | sort | tr '\n' '|')"
check "a step of one component" 2 "$(grep -c '^one' het.txt)"
check "a step with a program for each component" "0: first|1: second|" \
  "$(grep -E 'first|second' het.txt | sort | tr '\n' '|')"
check "sacct by the job's id" "$id+0|COMPLETED $id+1|COMPLETED" "$(sacct -X -n -P -o JobID,State -j "$id" | xargs)"
check "sacct by a component's offset" "$id+1|$((id + 1))" "$(sacct -X -n -P -o JobID,JobIDRaw -j "$id+1")"
check "sacct by a component's id" "$id+1" "$(sacct -X -n -P -o JobID -j "$((id + 1))")"
check "sacct --whole-hetjob" "$id+0 $id+1" "$(sacct --whole-hetjob -X -n -P -o JobID -j "$((id + 1))" | xargs)"
check "srun of two components" "0: a|1: b|2: b|" "$(srun -Q -l -n 1 echo a : -n 2 -N 2 echo b | sort | tr '\n' '|')"
cp /bin/echo prog
check "--bcast copies a program for each component" "0: a|1: b|" "$(srun -Q -l -n 1 --bcast="$PWD/one" ./prog a \
    : -n 1 --bcast="$PWD/two" ./prog b | sort | tr '\n' '|')"
check "both copies exist" 2 "$(ls -d "$PWD"/one "$PWD"/two | wc -l)"
srun -Q -n 1 --bcast ./prog a : -n 1 --bcast ./prog b >/dev/null
check "--bcast without a name makes two copies in the working directory" 2 "$(ls | grep -c slurm_bcast_)"
rc=0; srun -Q -n 1 true : -n 1 sh -c 'exit 4' 2>err.txt || rc=$?
check "srun ends with the highest exit code" 4 "$rc"
out=$(salloc -n 1 : -n 1 sh -c 'srun -Q --het-group=0,1 sh -c "echo \$SLURM_NODEID"; srun --het-group=0,5 true' 2>&1) \
  || true
match "salloc prints the allocation" 'has been allocated resources' "$out"
match "a step in an unknown component is refused" \
  'het group value of 5, but the job allocation has maximum value of 1' "$out"
sbatch -W -o own.txt -n 1 -c 2 : -n 2 --wrap 'env | grep -E "^SLURM_(CPUS|TRES)_PER"
  srun --het-group=1 -l printenv SLURM_NTASKS
  srun printenv SLURM_CPUS_PER_TASK' >/dev/null
check "an option of one component does not apply to another component" \
  "0: 2 1: 2 2 SLURM_CPUS_PER_TASK_HET_GROUP_0=2 SLURM_TRES_PER_TASK_HET_GROUP_0=cpu=2" "$(sort own.txt | xargs)"
check "salloc's command has the tasks of both components and the node of each" "3 n1" \
  "$(salloc -Q -n 1 -w n1 : -n 2 -w n2 sh -c 'echo $SLURM_NTASKS $SLURM_JOB_NODELIST $SLURM_JOB_NODELIST_HET_GROUP_0')"
rc=0; out=$(salloc -Q -n 1 srun --het-group=0 true 2>&1) || rc=$?
check "--het-group in a job without components is refused" \
  "srun: error: No directives to start application on any available hetjob components 1" "$out $rc"
id=$(sbatch --parsable -H -n 1 : -n 1 --wrap 'sleep 100')
rc=0; scancel "$id+1" 2>err.txt || rc=$?
check "scancel of one component of a pending job is refused" 60 "$rc"
match "the refusal has Slurm's message" 'Operation not permitted on individual component of heterogeneous job' \
  "$(cat err.txt)"
alone=$(sbatch --parsable -J lead -H -n 1 : -J part -n 1 --wrap 'sleep 100')
rc=0; scancel -n part "$alone" 2>err.txt || rc=$?
check "scancel -n with the name of another component than the leader cancels nothing" "0 PD PD" \
  "$rc$(cat err.txt) $(squeue -h -j "$alone" -o %t | xargs)"
check "scancel --ctld names the filter that the leader does not match" \
  "Kill job error on job id $alone: Job name lead != filter name part: Cannot signal job" \
  "$(scancel --ctld -n part "$alone" 2>&1 | sed 's/^scancel: error: //')"
check "scancel --ctld cancels the component that matches" "$alone+0 PD $alone+1 CA" \
  "$(squeue -h -t all -j "$alone" -o '%i %t' | sort | xargs)"
scancel "$alone"
ended=$(sbatch --parsable -o /dev/null -n 1 : -n 1 --wrap 'sleep 100'); running "$ended"; scancel -b "$ended+1"
becomes "scancel -b kills the script and the job fails" "FAILED FAILED" \
  '"$(sacct -X -n -P -o State -j "$ended" | xargs)"'
named=$(sbatch --parsable -J both -H -n 1 : -J both -n 1 --wrap 'sleep 100')
rc=0; scancel -n both 2>err.txt || rc=$?
check "scancel -n of the name of both components prints nothing" "0 " "$rc $(cat err.txt)"
check "scancel -n of the name of both components cancels both" "" "$(squeue -h -j "$named" -o %t)"
scontrol release "$id"
becomes "release starts all components" "R R" '"$(squeue -h -j "$id" -o %t | xargs)"'
scancel "$id+1"
becomes "scancel of one running component ends it alone" "R" '"$(squeue -h -j "$id" -t running -o %t)"'
scontrol requeue "$id"
becomes "requeue applies to all components" "PD PD" '"$(squeue -h -j "$id" -o %t | xargs)"'
scancel "$id"; wait_empty 20
id=$(sbatch --parsable -o /dev/null -n 1 : -n 1 --wrap 'sleep 30')
running "$id"; killed slurmctld; start_ctld
becomes "all components run on over a kill of slurmctld" "R R" '"$(squeue -h -j "$id" -o %t 2>/dev/null | xargs)"'
scancel "$id"; wait_empty 20
check "both are cancelled" "CANCELLED by $(id -u) CANCELLED by $(id -u)" "$(sacct -X -n -P -o State -j "$id" | xargs)"
