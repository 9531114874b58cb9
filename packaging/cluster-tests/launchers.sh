#!/usr/bin/env bash
# Options of srun for launchers: --slurmd-debug, --wait-for-children, --external-launcher, --no-allocate.
. "$(dirname "$0")/lib.bash"
start_cluster 2 4
srun -Q --slurmd-debug=verbose true </dev/null 2>"$dir/work/told"
check "--slurmd-debug=verbose" "debug levels are stderr='verbose', logfile='info', syslog='fatal'
starting 1 tasks" "$(head -2 "$dir/work/told" | sed 's/^\[[^]]*\] //')"
check "--slurmd-debug=verbose prints the start and the end of a task" 2 \
  "$(grep -cE 'task 0 \([0-9]+\) (started [0-9T:-]+|exited with exit code 0.)$' "$dir/work/told")"
check "--slurmd-debug=verbose prints no debug message" 0 "$(grep -c debug: "$dir/work/told" || true)"
check "--slurmd-debug=verbose with a task that closes its stderr" 2 \
  "$(srun -Q --slurmd-debug=verbose sh -c 'exec 2>&-; sleep 0.3' 2>&1 >/dev/null </dev/null \
    | grep -cE 'task 0 \([0-9]+\) (started [0-9T:-]+|exited with exit code 0.)$')"
check "--slurmd-debug=debug" 1 \
  "$(srun -Q --slurmd-debug=DEBUG true 2>&1 </dev/null | grep -c '^\[[^]]*\] debug:  task 0: cpus')"
check "--slurmd-debug=info" "" "$(srun -Q --slurmd-debug=3 true 2>&1 </dev/null)"
check "an invalid --slurmd-debug is refused" "srun: error: Invalid --slurmd-debug specification" \
  "$(srun --slurmd-debug=x true 2>&1 </dev/null | cut -d: -f1-3 | head -1)"
s=$(date +%s); out=$(srun -Q --wait-for-children sh -c '(sleep 2; echo late) & echo early' </dev/null)
check "--wait-for-children: a child's output is printed after its task's end" "early late" "$(echo $out)"
check "--wait-for-children: srun waits for the child" yes "$([ $(($(date +%s) - s)) -ge 2 ] && echo yes)"
check "without --wait-for-children the child is ended" early \
  "$(srun -Q sh -c '(sleep 2; echo late) & echo early' </dev/null)"
cat > external.sh <<'S'
srun -Q -n1 --exact -c4 sh -c 'touch busy; sleep 3' &
until [ -e busy ]; do sleep 0.1; done
srun -Q --immediate=1 -n1 --exact true 2>/dev/null || echo busy
srun -Q -n1 --external-launcher sh -c 'nproc; echo $SLURM_CPUS_ON_NODE'
wait
S
out=$(salloc -Q -N1 -n4 --exclusive sh external.sh </dev/null 2>&1)
check "--external-launcher has all CPUs beside a step of all CPUs" "busy $(nproc) 4" "$(echo $out)"
said='echo $HYDRA_BOOTSTRAP $HYDRA_LAUNCHER_EXTRA_ARGS $I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS $OMPI_MCA_plm_slurm_args'
check "an allocation has --external-launcher in the variables of mpirun" \
  "slurm --external-launcher --external-launcher --external-launcher" "$(salloc -Q -n1 sh -c "$said" </dev/null)"
sbatch -Q --wait -n1 -o hydra.out --wrap "$said" >/dev/null
check "a batch script has --external-launcher in the variables of mpirun" \
  "slurm --external-launcher --external-launcher --external-launcher" "$(cat hydra.out)"
HYDRA_BOOTSTRAP=ssh sbatch -Q --wait -n1 -o hydra.out --wrap "$said" >/dev/null
check "a set HYDRA_BOOTSTRAP is kept" "ssh --external-launcher --external-launcher" "$(cat hydra.out)"
id=$(sbatch --parsable -o /dev/null --wrap 'sleep 30')
check "sattach to a batch step is refused" "sattach: error: Cannot be used with extern or batch steps" \
  "$(sattach "$id.batch" 2>&1)"
scancel "$id"
check "scontrol setdebug of a node" "" "$(scontrol setdebug debug nodes=n1 2>&1)"
becomes "slurmd of the node logs the level" "Set debug level to 'debug'" \
  '"$(grep -o "Set debug level to .*" "$dir/log/slurmd-n1.log" | tail -1)"'
check "the other daemons keep their level" "0" \
  "$(grep -c "Set debug level" "$dir/log/slurmd-n2.log" "$dir/log/slurmctld.log" | awk -F: '{n += $2} END {print n}')"
check "scontrol setdebug of an unknown node is refused" "slurm_set_debug_level error: Invalid node name specified" \
  "$(scontrol setdebug debug nodes=n9 2>&1)"
check "scontrol show hostlist reads hosts from stdin" "n[1-2],m3" "$(printf 'n1\nn2\nm3\n' | scontrol show hostlist -)"
out=$(srun -Z -w n1,n2 -n3 -l sh -c 'echo $SLURMD_NODENAME $SLURM_NTASKS [$SLURM_JOB_ID]' </dev/null 2>"$dir/work/z" \
  | sort)
check "--no-allocate runs tasks on the named nodes" "0: n1 3 []
1: n1 3 []
2: n2 3 []" "$out"
check "--no-allocate prints a message" "srun: do not allocate resources" "$(cat "$dir/work/z")"
check "--no-allocate makes no job" 0 "$(sacct -anX -o jobname | grep -c printenv || true)"
check "--no-allocate: the input and the exit code" "got word 7" "$(rc=0; \
    out=$(echo word | srun -Q -Z -w n1 sh -c 'read x; echo got $x; exit 7' 2>/dev/null) || rc=$?; echo "$out $rc")"
check "--no-allocate without nodes is refused" "srun: error: must specify a node list with -Z, --no-allocate." \
  "$(srun -Z true 2>&1 </dev/null)"
printf '0 echo first %%t\n1-2 echo other %%o\n' > "$dir/work/multi"
check "--no-allocate --multi-prog" "0: first 0|1: other 0|2: other 1|" \
  "$(srun -Q -Z -w n1,n2 -n3 -l --multi-prog "$dir/work/multi" </dev/null | sort | tr '\n' '|')"
echo content > "$dir/work/bcast"
check "sbcast --no-allocation" "content" \
  "$(sbcast --no-allocation -w n1,n2 -f "$dir/work/bcast" "$dir/work/bcast.out" </dev/null \
    && cat "$dir/work/bcast.out")"
check "sbcast --no-allocation without nodes is refused" "sbcast: error: --no-allocation needs the nodes: --nodelist" \
  "$(sbcast --no-allocation "$dir/work/bcast" "$dir/work/x" 2>&1 </dev/null)"
printf '#!/bin/sh\necho "$0 $1"\n' > "$dir/work/prog"; chmod 755 "$dir/work/prog"
check "srun --no-allocate --bcast" "$dir/work/copy x" \
  "$(srun -Q -Z -w n1 --bcast="$dir/work/copy" "$dir/work/prog" x </dev/null)"
match "srun --no-allocate --bcast without a name" "^$dir/work/slurm_bcast_[0-9]+\\.[0-9]+_n1 y$" \
  "$(srun -Q -Z -w n1 --bcast="$dir/work/" "$dir/work/prog" y </dev/null)"
srun -Q -Z -w n1 sleep 47 </dev/null >/dev/null 2>&1 & z=$!
soon 'pgrep -f "^[a-z/]*sleep 47$" >/dev/null'
scontrol reconfigure; kill -TERM $z; wait $z || true
soon '! pgrep -f "^[a-z/]*sleep 47$" >/dev/null'
check "--no-allocate: SIGTERM to srun ends the tasks" "" "$(pgrep -f '^[a-z/]*sleep 47$')"
if [ "$(id -u)" = 0 ]; then
  check "--no-allocate of a user is refused" "srun: error: Application launch failed: Access/permission denied" \
    "$(cd /tmp; setpriv --reuid=65534 --regid=65534 --clear-groups srun -Z -w n1 true 2>&1 </dev/null \
      | grep Application)"
fi
# slurmd deletes the files of jobs without an allocation every half minute.
soon '[ -z "$(ls -d "$dir"/spool/n1/job* 2>/dev/null)" ]' 60
check "a job runs afterwards" n1 "$(srun -Q -w n1 printenv SLURMD_NODENAME </dev/null)"
