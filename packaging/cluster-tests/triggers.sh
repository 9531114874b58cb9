#!/usr/bin/env bash
# scontrol notify, time limits of steps, fields of pending jobs, strigger, srun --bcast.
. "$(dirname "$0")/lib.bash"
start_cluster 2 2
program() { printf '#!/bin/sh\necho "$@" >>%s/fired.txt\n' "$PWD" >"$1"; chmod 755 "$1"; }
program fired.sh
a=$(sbatch --parsable -t 5 -e err-a.txt -o out-a.txt --wrap 'srun -t 4 sleep 100')
soon '[ -n "$(squeue -h -s -j "$a" -o %i | grep "[.]0\$")" ]'
scontrol notify "$a" lunch at noon
comes "scontrol notify of a batch job" 'lunch at noon' '"$(cat err-a.txt)"'
salloc -n 1 sleep 5 2>alloc.txt & s=$!
soon 'grep -q Granted alloc.txt 2>/dev/null'
scontrol notify "$(grep -o 'allocation [0-9]*' alloc.txt | head -1 | cut -d' ' -f2)" to salloc
wait $s
match "scontrol notify of salloc" 'salloc: to salloc' "$(cat alloc.txt)"
check "a step's time limit" "4:00" \
  "$(squeue -h -s "$a.0" -o %l 2>/dev/null || scontrol show step "$a.0" | grep -o 'TimeLimit=[^ ]*')"
scontrol update StepId="$a.0" TimeLimit=1
match "a changed time limit of a step" 'TimeLimit=00:01:00' "$(scontrol show step "$a.0")"
rc=0; scontrol update StepId="$a.7" TimeLimit=1 2>err.txt || rc=$?
check "no such step" "1 slurm_update error: Invalid job id specified" "$rc $(cat err.txt)"
strigger --set --jobid="$a" --fini --program="$PWD/fired.sh job"
strigger --set --node=n2 --down --flags=perm --program="$PWD/fired.sh node"
match "strigger --get" "job +$a fini +0" "$(strigger --get -N)"
killed slurmctld; start_ctld
becomes "both triggers survive a kill of slurmctld" 2 '"$(strigger --get -N | wc -l)"'
timeout 30 srun -Q -w n2 true </dev/null     # the node has registered again
scontrol update NodeName=n2 State=DOWN Reason=x
scancel "$a"
becomes "both triggers have fired" "job $a node n2" '"$(sort fired.txt | xargs)"'
check "the permanent trigger stays" "PERM" "$(strigger --get -N | awk '{print $7}')"
strigger --clear --id=2
rc=0; strigger --clear --id=2 2>err.txt || rc=$?
check "cleared once" "1 slurm_clear_trigger: No such process" "$rc $(cat err.txt)"
b=$(sbatch --parsable -H --wrap true)
scontrol update JobId="$b" NumTasks=2 WorkDir=/tmp StdOut=o.%j TresBind=gres/gpu:map:0 MinMemoryNode=50
match "changed fields of a pending job" "NumTasks=2 .*WorkDir=/tmp .*StdOut=/tmp/o.$b.*TresBind=gres/gpu:map:0" \
  "$(scontrol -o show job "$b")"
rc=0; scontrol update JobId="$b" ClusterFeatures=x 2>err.txt || rc=$?
check "ClusterFeatures without a federation" "1 Unspecified error for job $b" "$rc $(head -1 err.txt)"
check "scontrol getaddrs" "n1: 127.0.0.1" "$(scontrol getaddrs n1 | cut -d: -f1,2)"
scancel "$b"
scontrol update NodeName=n2 State=RESUME
soon '[ "$(sinfo -h -n n2 -o %T)" = idle ]'
printf '#!/bin/sh\necho "$0"\n' >prog.sh; chmod 755 prog.sh
check "--bcast=FILE copies the program to its nodes" "$PWD/copy $PWD/copy" \
  "$(srun -N2 --bcast="$PWD/copy" ./prog.sh | xargs)"
check "--bcast=FILE within an allocation" "$PWD/other" "$(salloc -n1 srun --bcast=other ./prog.sh 2>/dev/null)"
b=$(sbatch --parsable -N2 -o bcast.out --wrap \
  'srun -N2 --bcast ./prog.sh a | sort; srun -Q -n1 --bcast=sub/ -J named ./prog.sh 2>warned; ls | grep slurm_bcast_')
mkdir -p sub; wait_empty 30
c=slurm_bcast_$b.
check "--bcast without a name" \
  "$PWD/${c}1_n1 $PWD/${c}1_n2 $PWD/sub/${c}3_n1 ${c}1_n1 ${c}1_n2" \
  "$(xargs < bcast.out)"
check "-Q does not suppress the warning about fewer nodes" \
  "srun: warning: can't run 1 processes on 2 nodes, setting nnodes to 1" "$(cat warned)"
check "accounting: steps of sbcast and of the program" "$b.0 sbcast $b.1 prog.sh $b.2 sbcast $b.3 named" \
  "$(sacct -n -P -j "$b" -o jobid,jobname | tr '|' ' ' | grep '\.[0-9]' | xargs)"
wait_empty 30
