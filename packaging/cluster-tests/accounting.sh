#!/usr/bin/env bash
# slurmdbd with its embedded tables: sacctmgr's changes reach the controller at once, and rows survive kills of slurmdbd.
. "$(dirname "$0")/lib.bash"
head -c 64 /dev/urandom > "$dir/slurm.key"; chmod 600 "$dir/slurm.key"
dbd_port=$(free_port)
cat > "$dir/slurmdbd.conf" <<C
AuthType=auth/slurm
DbdHost=localhost
DbdPort=$dbd_port
SlurmUser=$(id -un)
StorageType=accounting_storage/embedded
StorageLoc=$dir/db
LogFile=$dir/log/slurmdbd.log
PidFile=$dir/run/slurmdbd.pid
C
chmod 600 "$dir/slurmdbd.conf"
mkdir -p "$dir/log" "$dir/run"
start_dbd() { slurmdbd -f "$dir/slurmdbd.conf" </dev/null >>"$dir/log/start.out" 2>&1; }
me=$(id -un)
cat > "$SLURM_CONF" <<C
ClusterName=test
SlurmctldHost=localhost
AuthType=auth/slurm
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$dbd_port
C
start_dbd
sacctmgr -i add cluster test >/dev/null
sacctmgr -i add account lab >/dev/null
sacctmgr -i add user "$me" account=lab >/dev/null 2>&1 || true
start_cluster 1 4 "AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$dbd_port
AccountingStorageEnforce=associations,limits,qos"
match "the controller presents itself" '^127.0.0.1\|[1-9][0-9]*$' "$(sacctmgr -nP show cluster format=controlhost,controlport)"
check "no association, no job" 1 "$(sbatch -A nowhere --wrap true >/dev/null 2>&1; echo $?)"
sacctmgr -i modify account lab set grpjobs=1 >/dev/null
a=$(sbatch --parsable -A lab -o /dev/null --wrap 'sleep 3'); b=$(sbatch --parsable -A lab -o /dev/null --wrap true)
check "a job is in sacct at once" 2 "$(sacct -X -n -P -o JobID -j "$a,$b" | wc -l)"
sleep 1
check "a limit holds from the next job on" "PENDING AssocGrpJobsLimit" "$(squeue -h -o '%T %r' -j "$b")"
sacctmgr -i modify account lab set grpjobs=-1 >/dev/null
wait_empty
check "and without it both ran" "COMPLETED COMPLETED" "$(sacct -X -n -P -o State -j "$a,$b" | tr '\n' ' ' | sed 's/ $//')"
scontrol update nodename=n1 state=drain reason=fan
scontrol update nodename=n1 state=resume
match "a drained node is an event" 'n1\|DRAIN\|fan' "$(sacctmgr -nP show event format=node,state,reason)"
first=$b
for i in $(seq 40); do
  sbatch -A lab -o /dev/null --wrap "exit $((i % 3))" >/dev/null
  if [ $((i % 10)) = 5 ]; then kill -9 "$(pid_of slurmdbd)"; fi
  if [ $((i % 10)) = 9 ]; then start_dbd; fi
done
wait_empty 120
check "every job once" 40 "$(sacct -a -X -n -P -D -S now-1hour -o JobID | awk -v f="$first" '$1 > f' | sort -u | wc -l)"
check "no job twice" 40 "$(sacct -a -X -n -P -D -S now-1hour -o JobID | awk -v f="$first" '$1 > f' | wc -l)"
check "all exit codes are right" "13 14 13" "$(for c in 0 1 2; do sacct -a -X -n -P -S now-1hour -o JobID,ExitCode | awk -F'|' -v f="$first" '$1 > f {print $2}' | grep -c "^$c:0"; done | tr '\n' ' ' | sed 's/ $//')"
kill -9 "$(pid_of slurmdbd)"; kill -9 "$(pid_of slurmctld)"
start_dbd; start_ctld
check "over a kill of both" 40 "$(sacct -a -X -n -P -D -S now-1hour -o JobID | awk -v f="$first" '$1 > f' | wc -l)"
