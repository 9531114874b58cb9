#!/usr/bin/env bash
# job_container/tmpfs: directories that each job has for itself.
# shows: JobContainerType, NamespaceType
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 0; }
mkdir -p "$dir/private"; chmod 777 "$dir/private"
cat > "$dir/job_container.conf" <<C
AutoBasePath=true
BasePath=$dir/base-%n
Dirs=$dir/private,/dev/shm
InitScript=$dir/init
C
printf '#!/bin/sh\necho "$SLURM_JOB_ID $SLURMD_NODENAME $SLURM_JOB_MOUNT_SRC" >> %s/inits\n' "$dir" > "$dir/init"
chmod 755 "$dir/init"
start_cluster 2 4 "JobContainerType=job_container/tmpfs
PrologFlags=Contain"
touch "$dir/private/host"
check "a job sees a directory of its own" "" "$(srun -Q ls "$dir/private")"
check "which is its user's" "700 root" "$(srun -Q stat -c '%a %U' "$dir/private")"
check "and /dev/shm as well" "tmpfs 0" "$(srun -Q sh -c 'echo $(stat -f -c %T /dev/shm) $(ls /dev/shm | wc -l)')"
soon "[ -z \"\$(ls $dir/base-n1)\" ]"
becomes "with the job it goes" "" '"$(ls "$dir/base-n1")"'
check "and nothing of it stays mounted" 0 "$(grep -c "$dir/base-n1/" /proc/mounts || true)"
match "InitScript runs for each job" "^[0-9]+ n1 $dir/base-n1/[0-9]+$" "$(head -1 "$dir/inits")"
cat > job.sh <<J
#!/bin/sh
echo from batch > $dir/private/file
srun -Q -N1 -n1 -w n1 cat $dir/private/file
while [ ! -f $dir/private/sent ]; do sleep 0.1; done
cat $dir/private/sent; touch $dir/done; sleep 30
J
job=$(sbatch --parsable -N2 -o out job.sh); soon "[ -s out ]"
other=$(srun -Q -w n1 sh -c "ls $dir/private | wc -l")
check "another job does not see it" 0 "$other"
echo by sbcast > tosend; sbcast -j "$job" tosend "$dir/private/sent"
soon "[ -e $dir/done ]"
check "the steps of a job share it, sbcast brings files there" "from batch by sbcast" \
  "$(tr '\n' ' ' < out | sed 's/ $//')"
check "the node sees nothing of it" host "$(ls "$dir/private")"
kill -9 "$(pid_of slurmd-n1)"; start_node n1; soon '[ "$(sinfo -h -n n1 -o %t)" = mix ]'
check "after a restart of slurmd it is still there" 2 \
  "$(srun -Q --jobid="$job" --overlap -w n1 -N1 -n1 sh -c "ls $dir/private | wc -l")"
scancel "$job"; wait_empty
soon "[ -z \"\$(ls $dir/base-n1 $dir/base-n2 2>/dev/null | grep -v :)\" ]"
becomes "a cancelled job leaves nothing either" "" '"$(ls "$dir/base-n1")$(ls "$dir/base-n2")"'
sed -i 's#^JobContainerType=.*#NamespaceType=namespace/tmpfs#' "$SLURM_CONF"
for n in n1 n2; do kill "$(pid_of "slurmd-$n")"; soon "[ ! -e $dir/run/slurmd-$n.pid ]"; start_node "$n"; done
soon '[ "$(sinfo -h -t idle -o %D)" = 2 ]'
check "the newer name of the key does the same" "" "$(srun -Q ls "$dir/private")"
wait_empty; soon "[ -z \"\$(ls $dir/base-n1 $dir/base-n2 2>/dev/null | grep -v :)\" ]"
stop_cluster; rm -f "$dir"/run/*.pid
cat > "$dir/namespace.yaml" <<C
defaults:
  auto_base_path: true
  base_path: "$dir/linux-%n"
  dirs: "$dir/private"
  clone_ns_flags: ["CLONE_NEWPID"]
  clone_ns_script: "$dir/made"
  clone_ns_epilog: "$dir/gone"
node_confs:
  - nodes: ["n2"]
    options:
      clone_ns_flags: ["CLONE_NEWPID", "CLONE_NEWUSER"]
C
for s in made gone; do
  printf '#!/bin/sh\necho "$SLURM_JOB_ID $(stat -f -c %%T "$SLURM_NS")" >> %s/%s.log\n' "$dir" $s > "$dir/$s"
  chmod 755 "$dir/$s"
done
start_cluster 2 4 "NamespaceType=namespace/linux
PrologFlags=Contain"
check "namespace/linux: a job has processes of its own" "job-processes 1" \
  "$(srun -Q -w n1 sh -c 'echo $(cat /proc/1/comm) $(ls -d /proc/[0-9]* | grep -c /1$)')"
match "few of them" "^[2-6]$" "$(srun -Q -w n1 sh -c 'ls -d /proc/[0-9]* | wc -l')"
check "and directories" 0 "$(srun -Q -w n1 sh -c "ls $dir/private | wc -l")"
check "a user namespace" "own 0 0 4294967295" \
  "$(srun -Q -w n2 sh -c \
  "[ \$(readlink /proc/self/ns/user) = $(readlink /proc/self/ns/user) ] || echo own \$(cat /proc/self/uid_map)")"
check "exit codes come through" "7 0:15" "$(srun -Q -w n1 sh -c 'exit 7' 2>/dev/null
    echo "$? $(srun -w n2 sh -c 'kill -TERM $$' 2>&1 | sed -n 's/.*task 0: Terminated/0:15/p')")"
check "what a step leaves is ended with it" "0" \
  "$(salloc -Q -w n1 \
  sh -c 'srun -Q sh -c "setsid sleep 987 >/dev/null 2>&1 &"; sleep 1; srun -Q sh -c "pgrep -c -x sleep"' || true)"
job=$(sbatch --parsable -w n1 -o /dev/null --wrap 'setsid sleep 654 & sleep 654')
soon 'pgrep -f "sleep 654" >/dev/null'
scancel "$job"; wait_empty; soon '! pgrep -x -f "sleep 654" >/dev/null'
check "a cancelled job leaves no process" "" "$(pgrep -x -f 'sleep 654' || true)"
soon "[ -z \"\$(ls $dir/linux-n1 $dir/linux-n2 2>/dev/null | grep -v :)\" ]"
becomes "and no directory" "" '"$(ls "$dir/linux-n1")$(ls "$dir/linux-n2")"'
check "nor a mount" 0 "$(grep -c "$dir/linux-" /proc/mounts || true)"
check "the scripts saw the namespace" "$(sed -n '1s/ .*//p' "$dir/made.log") nsfs|$(sed -n '1s/ .*//p' \
    "$dir/made.log") nsfs" "$(head -1 "$dir/made.log")|$(head -1 "$dir/gone.log")"
printf '#!/bin/sh\necho "0 0 10" > /proc/$SLURM_NS_PID/uid_map; echo "0 0 10" > /proc/$SLURM_NS_PID/gid_map\n' > \
  "$dir/map"
chmod 755 "$dir/map"
sed -i "s|^      clone_ns_flags.*|&\n      user_ns_script: $dir/map|" "$dir/namespace.yaml"
stopped slurmd-n2
start_node n2
soon '[ "$(sinfo -h -n n2 -o %t)" = idle ]'
check "the maps of a site" "0 0 10" "$(srun -Q -w n2 sh -c 'echo $(cat /proc/self/uid_map)')"
wait_empty; soon "[ -z \"\$(ls $dir/linux-n2)\" ]"
becomes "which leaves nothing either" "" '"$(ls "$dir/linux-n2")"'
