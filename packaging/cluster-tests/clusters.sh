#!/usr/bin/env bash
# shows: AccountingStorageExternalHost
# -M: commands about several clusters, which slurmdbd knows, and sbatch's choice among them.
. "$(dirname "$0")/lib.bash"
prepare_dbd
start_dbd
soon 'sacctmgr -n show clusters >/dev/null 2>&1'
start_cluster 1 2 "$accounting"
# a second one beside it, with the same key
mkdir -p "$dir"/other/{state,spool/m1}
cp "$dir/slurm.key" "$dir/other/slurm.key"
p=$(free_port)
sed -e 's/^ClusterName=test/ClusterName=other/' -e "s/^SlurmctldPort=.*/SlurmctldPort=$p/" \
  -e "s:$dir/state:$dir/other/state:" -e "s:$dir/spool:$dir/other/spool:" -e "s:$dir/run/slurm:$dir/run/other-slurm:" \
  -e "s:$dir/log/slurm:$dir/log/other-slurm:" -e 's/n\[1-1\]/m1/g' -e "s/Port=\[[0-9-]*\]/Port=$((p+1))/" \
  "$SLURM_CONF" > "$dir/other/slurm.conf"
slurmctld -f "$dir/other/slurm.conf" </dev/null >>"$dir/log/start.out" 2>&1
SLURM_CONF=$dir/other/slurm.conf \
  slurmd -f "$dir/other/slurm.conf" -N m1 -d "$prefix/sbin/slurmstepd" </dev/null >>"$dir/log/start.out" 2>&1
soon '[ "$(SLURM_CONF=$dir/other/slurm.conf sinfo -h -N -o %T 2>/dev/null)" = idle ]'
for i in $(seq 50); do
  [ "$(sacctmgr -n -P show clusters format=cluster,controlport | grep -cE '\|[1-9]')" = 2 ] && break
  sleep 0.1
done
check "sinfo of both" "$(printf 'CLUSTER: test\nNODELIST\nn1\n\nCLUSTER: other\nNODELIST\nm1')" \
  "$(sinfo -M test,other -o %N)"
check "without headers" "n1 m1" "$(sinfo -h -M test,other -o %N | xargs)"
check "all of them" "m1 n1" "$(sinfo -h -M all -o %N | sort | xargs)"
check "of the environment" "m1" "$(SLURM_CLUSTERS=other sinfo -h -o %N)"
check "a name that is none" \
  "1 squeue: error: No cluster 'nowhere' known by database.|squeue: error: 'nowhere' can't be reached now, or it is an invalid entry for --cluster.  Use 'sacctmgr list clusters' to see available clusters.|squeue: fatal: Could not get cluster information" \
  "$(squeue -M test,nowhere >/dev/null 2>"$dir/err"; echo $?) $(paste -sd '|' "$dir/err")"
id=$(sbatch --parsable -M other -H -J there --wrap true)
match "sbatch elsewhere" '^[0-9]+;other$' "$id"
check "squeue elsewhere" "there" "$(squeue -h -M other -j "${id%;*}" -o %j)"
match "scontrol elsewhere" 'JobName=there' "$(scontrol -M other show job "${id%;*}")"
match "scontrol's own word for it" 'JobName=there' "$(printf 'cluster other\nshow job %s\n' "${id%;*}" | scontrol)"
check "it is not here" "" "$(squeue -h -n there -o %j)"
scancel -M other "${id%;*}"
check "scancel elsewhere" "" "$(squeue -h -M other -n there -o %j)"
full=$(sbatch --parsable -n2 -t 10 -o /dev/null --wrap 'sleep 100')
soon '[ "$(squeue -h -j "$full" -o %t)" = R ]'
match "the earliest start" '^Submitted batch job [0-9]+ on cluster other$' \
  "$(sbatch -M test,other -n1 -o /dev/null --wrap true)"
scancel "$full"; wait_empty
match "here, where it is no later" 'on cluster test$' "$(sbatch -M other,test -n1 -o /dev/null --wrap true)"
check "none of them can" 1 "$(sbatch -M other,test -n64 --wrap true >/dev/null 2>&1; echo $?)"
a=$(sbatch --parsable -H -J both --wrap true); b=$(sbatch --parsable -M other -H -J both --wrap true)
scancel -M all -n both
check "scancel of all" "" "$(squeue -h -M all -n both -o %j)"
full=$(sbatch --parsable -n2 -t 10 -o /dev/null --wrap 'sleep 100')
soon '[ "$(squeue -h -j "$full" -o %t)" = R ]'
check "srun elsewhere" "m1 other" "$(srun -M other sh -c 'echo $SLURMD_NODENAME $SLURM_CLUSTER_NAME')"
check "srun where it starts first" "m1" "$(srun -M test,other printenv SLURMD_NODENAME)"
check "its exit code" "3" "$(srun -M other sh -c 'exit 3' 2>/dev/null; echo $?)"
check "salloc where it starts first, and a step in it" "other m1" \
  "$(salloc -Q -M all -n1 sh -c 'echo $SLURM_CLUSTER_NAME $(srun printenv SLURMD_NODENAME)')"
check "salloc elsewhere leaves nothing" "" "$(squeue -h -M other -t R -o %j)"
scancel "$full"; wait_empty
check "a cluster that is none" \
  "1 srun: error: No cluster 'nowhere' known by database.|srun: error: 'nowhere' can't be reached now, or it is an invalid entry for --cluster.  Use 'sacctmgr list clusters' to see available clusters." \
  "$(srun -M nowhere true 2>"$dir/err"; echo $?) $(paste -sd '|' "$dir/err")"
# one that keeps its accounting to itself and tells this slurmdbd where it is
mkdir -p "$dir"/far/state; cp "$dir/slurm.key" "$dir/far/slurm.key"; q=$(free_port)
sed -e 's/^ClusterName=.*/ClusterName=far/' -e "s/^SlurmctldPort=.*/SlurmctldPort=$q/" -e "s:$dir/other/:$dir/far/:" \
  -e "s:/other-slurm:/far-slurm:" -e '/^AccountingStorage/d' "$dir/other/slurm.conf" > "$dir/far/slurm.conf"
echo "AccountingStorageExternalHost=nosuch.invalid,localhost:$dbd_port" >> "$dir/far/slurm.conf"
slurmctld -f "$dir/far/slurm.conf" </dev/null >>"$dir/log/start.out" 2>&1
becomes "a cluster with accounting of its own is external here" "far|$q|External" \
  '$(sacctmgr -n -P show cluster far format=cluster,controlport,flags)'
check "commands reach it with -M" "far m1" "$(sinfo -h -M far -o %N | xargs | sed 's/^/far /')"
match "and give it jobs" '^[0-9]+;far$' "$(sbatch --parsable -M far -H --wrap true)"
check "it keeps its rows to itself" "" "$(sacct -n -X -M far -o jobid 2>/dev/null)"
kill "$(pid_of far-slurmctld)"
# programs that run when slurmdbd goes and comes
printf '#!/bin/sh\necho "$@" >>%s/fired.txt\n' "$PWD" >fired.sh; chmod 755 fired.sh
for event in primary_slurmdbd_failure primary_slurmdbd_resumed_operation primary_slurmctld_resumed_operation; do
  strigger --set --$event --program="$PWD/fired.sh is"
done
match "their resources" 'slurmdbd +\* primary_slurmdbd_failure +0' "$(strigger --get -N)"
pkill -F "$dir/run/slurmdbd.pid" 2>/dev/null || kill "$(pid_of slurmdbd)"; soon '[ -s fired.txt ]'
check "slurmdbd has gone" "is primary_slurmdbd_failure" "$(xargs <fired.txt)"
start_dbd
soon '[ "$(wc -l <fired.txt)" = 2 ]'
check "and come" "is primary_slurmdbd_resumed_operation" "$(tail -1 fired.txt)"
killed slurmctld; start_ctld
soon '[ "$(wc -l <fired.txt)" = 3 ]'
check "slurmctld goes on" "is primary_slurmctld_resumed_operation" "$(tail -1 fired.txt)"
check "none is left" "" "$(strigger --get -N)"
check "only a backup would notice" \
  "slurm_set_trigger: --backup_slurmctld_failure needs a backup controller: there is none here" \
  "$(strigger --set --backup_slurmctld_failure --program="$PWD/fired.sh" 2>&1)"
