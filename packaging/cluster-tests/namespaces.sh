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
printf '#!/bin/sh\necho "$SLURM_JOB_ID $SLURMD_NODENAME $SLURM_JOB_MOUNT_SRC" >> %s/inits\n' "$dir" > "$dir/init"; chmod 755 "$dir/init"
start_cluster 2 4 "JobContainerType=job_container/tmpfs
PrologFlags=Contain"
soon() { local n=0; until eval "$1"; do n=$((n+1)); [ $n -lt 100 ] || return 0; sleep 0.1; done; }
touch "$dir/private/host"
check "a job sees a directory of its own" "" "$(srun -Q ls "$dir/private")"
check "which is its user's" "700 root" "$(srun -Q stat -c '%a %U' "$dir/private")"
check "and /dev/shm as well" "tmpfs 0" "$(srun -Q sh -c 'echo $(stat -f -c %T /dev/shm) $(ls /dev/shm | wc -l)')"
soon "[ -z \"\$(ls $dir/base-n1)\" ]"
check "with the job it goes" "" "$(ls "$dir/base-n1")"
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
check "the steps of a job share it, sbcast brings files there" "from batch by sbcast" "$(tr '\n' ' ' < out | sed 's/ $//')"
check "the node sees nothing of it" host "$(ls "$dir/private")"
kill -9 "$(pid_of slurmd-n1)"; start_node n1; soon '[ "$(sinfo -h -n n1 -o %t)" = mix ]'
check "after a restart of slurmd it is still there" 2 "$(srun -Q --jobid="$job" --overlap -w n1 -N1 -n1 sh -c "ls $dir/private | wc -l")"
scancel "$job"; wait_empty
soon "[ -z \"\$(ls $dir/base-n1 $dir/base-n2 2>/dev/null | grep -v :)\" ]"
check "a cancelled job leaves nothing either" "" "$(ls "$dir/base-n1")$(ls "$dir/base-n2")"
sed -i 's#^JobContainerType=.*#NamespaceType=namespace/tmpfs#' "$SLURM_CONF"
for n in n1 n2; do kill "$(pid_of "slurmd-$n")"; soon "[ ! -e $dir/run/slurmd-$n.pid ]"; start_node "$n"; done
soon '[ "$(sinfo -h -t idle -o %D)" = 2 ]'
check "the newer name of the key does the same" "" "$(srun -Q ls "$dir/private")"
