#!/usr/bin/env bash
# job_container/tmpfs and namespace/linux: private directories and processes of each job.
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
check "the private directory belongs to its user" "700 root" "$(srun -Q stat -c '%a %U' "$dir/private")"
check "/dev/shm is private too" "tmpfs 0" "$(srun -Q sh -c 'echo $(stat -f -c %T /dev/shm) $(ls /dev/shm | wc -l)')"
soon "[ -z \"\$(ls $dir/base-n1)\" ]"
becomes "the private directory is removed with its job" "" '"$(ls "$dir/base-n1")"'
check "no mount of the private directory is left" 0 "$(grep -c "$dir/base-n1/" /proc/mounts || true)"
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
check "another job does not see the file" 0 "$other"
echo by sbcast > tosend; sbcast -j "$job" tosend "$dir/private/sent"
soon "[ -e $dir/done ]"
check "the steps of a job share the private directory, sbcast copies a file there" "from batch by sbcast" \
  "$(tr '\n' ' ' < out | sed 's/ $//')"
check "the node does not see the file" host "$(ls "$dir/private")"
kill -9 "$(pid_of slurmd-n1)"; start_node n1; soon '[ "$(sinfo -h -n n1 -o %t)" = mix ]'
check "the private directory survives a restart of slurmd" 2 \
  "$(srun -Q --jobid="$job" --overlap -w n1 -N1 -n1 sh -c "ls $dir/private | wc -l")"
scancel "$job"; wait_empty
soon "[ -z \"\$(ls $dir/base-n1 $dir/base-n2 2>/dev/null | grep -v :)\" ]"
becomes "a cancelled job leaves no directory" "" '"$(ls "$dir/base-n1")$(ls "$dir/base-n2")"'
sed -i 's#^JobContainerType=.*#NamespaceType=namespace/tmpfs#' "$SLURM_CONF"
for n in n1 n2; do kill "$(pid_of "slurmd-$n")"; soon "[ ! -e $dir/run/slurmd-$n.pid ]"; start_node "$n"; done
soon '[ "$(sinfo -h -t idle -o %D)" = 2 ]'
check "NamespaceType=namespace/tmpfs is the same as JobContainerType" "" "$(srun -Q ls "$dir/private")"
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
check "namespace/linux: a job has a PID namespace" "job-processes 1" \
  "$(srun -Q -w n1 sh -c 'echo $(cat /proc/1/comm) $(ls -d /proc/[0-9]* | grep -c /1$)')"
match "the job sees 2 to 6 processes" "^[2-6]$" "$(srun -Q -w n1 sh -c 'ls -d /proc/[0-9]* | wc -l')"
check "namespace/linux: private directories" 0 "$(srun -Q -w n1 sh -c "ls $dir/private | wc -l")"
check "a user namespace" "own 0 0 4294967295" \
  "$(srun -Q -w n2 sh -c \
  "[ \$(readlink /proc/self/ns/user) = $(readlink /proc/self/ns/user) ] || echo own \$(cat /proc/self/uid_map)")"
check "an exit code comes through" "7" "$(srun -Q -w n1 sh -c 'exit 7' 2>/dev/null; echo "$?")"
check "a signal comes through" "0:15" \
  "$(srun -w n2 sh -c 'kill -TERM $$' 2>&1 | sed -n 's/.*task 0: Terminated/0:15/p')"
check "a step's background processes end with it" "0" \
  "$(salloc -Q -w n1 sh -c \
    'srun -Q sh -c "setsid sleep 987 >/dev/null 2>&1 &"; sleep 1; srun -Q sh -c "pgrep -c -x sleep"' || true)"
job=$(sbatch --parsable -w n1 -o /dev/null --wrap 'setsid sleep 654 & sleep 654')
soon 'pgrep -f "sleep 654" >/dev/null'
scancel "$job"; wait_empty; soon '! pgrep -x -f "sleep 654" >/dev/null'
check "a cancelled job leaves no process" "" "$(pgrep -x -f 'sleep 654' || true)"
soon "[ -z \"\$(ls $dir/linux-n1 $dir/linux-n2 2>/dev/null | grep -v :)\" ]"
becomes "namespace/linux: a cancelled job leaves no directory" "" '"$(ls "$dir/linux-n1")$(ls "$dir/linux-n2")"'
check "namespace/linux: a cancelled job leaves no mount" 0 "$(grep -c "$dir/linux-" /proc/mounts || true)"
first_job=$(sed -n '1s/ .*//p' "$dir/made.log")
check "clone_ns_script saw the namespace" "$first_job nsfs" "$(head -1 "$dir/made.log")"
check "clone_ns_epilog saw the namespace" "$first_job nsfs" "$(head -1 "$dir/gone.log")"
cat > "$dir/map" <<'S'
#!/bin/sh
echo "0 0 10" > /proc/$SLURM_NS_PID/uid_map
echo "0 0 10" > /proc/$SLURM_NS_PID/gid_map
S
chmod 755 "$dir/map"
sed -i "s|^      clone_ns_flags.*|&\n      user_ns_script: $dir/map|" "$dir/namespace.yaml"
stopped slurmd-n2
start_node n2
soon '[ "$(sinfo -h -n n2 -o %t)" = idle ]'
check "user_ns_script sets the id maps" "0 0 10" "$(srun -Q -w n2 sh -c 'echo $(cat /proc/self/uid_map)')"
wait_empty; soon "[ -z \"\$(ls $dir/linux-n2)\" ]"
becomes "a job with user_ns_script leaves no directory" "" '"$(ls "$dir/linux-n2")"'
