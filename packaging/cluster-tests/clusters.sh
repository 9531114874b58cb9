#!/usr/bin/env bash
# -M: commands for several clusters that slurmdbd knows, and the choice among clusters of sbatch, salloc and srun.
# shows: AccountingStorageExternalHost
. "$(dirname "$0")/lib.bash"
prepare_dbd
start_dbd
soon 'sacctmgr -n show clusters >/dev/null 2>&1'
start_cluster 1 2 "$accounting"
# A second cluster with the same key.
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
soon '[ "$(sacctmgr -n -P show clusters format=cluster,controlport | grep -cE "\|[1-9]")" = 2 ]'
check "sinfo -M of two clusters" "$(printf 'CLUSTER: test\nNODELIST\nn1\n\nCLUSTER: other\nNODELIST\nm1')" \
  "$(sinfo -M test,other -o %N)"
check "sinfo -M without headers" "n1 m1" "$(sinfo -h -M test,other -o %N | xargs)"
check "sinfo -M all" "m1 n1" "$(sinfo -h -M all -o %N | sort | xargs)"
check "SLURM_CLUSTERS" "m1" "$(SLURM_CLUSTERS=other sinfo -h -o %N)"
unknown="error: No cluster 'nowhere' known by database."
invalid="error: 'nowhere' can't be reached now, or it is an invalid entry for --cluster.  "
invalid+="Use 'sacctmgr list clusters' to see available clusters."
check "squeue of an unknown cluster" "1 squeue: $unknown
squeue: $invalid
squeue: fatal: Could not get cluster information" \
  "$(squeue -M test,nowhere >/dev/null 2>"$dir/err"; echo $?) $(cat "$dir/err")"
id=$(sbatch --parsable -M other -H -J there --wrap true)
match "sbatch -M of another cluster" '^[0-9]+;other$' "$id"
check "squeue -M of another cluster" "there" "$(squeue -h -M other -j "${id%;*}" -o %j)"
match "scontrol -M of another cluster" 'JobName=there' "$(scontrol -M other show job "${id%;*}")"
match "the command cluster of scontrol" 'JobName=there' "$(printf 'cluster other\nshow job %s\n' "${id%;*}" | scontrol)"
check "a job of another cluster is not in this one" "" "$(squeue -h -n there -o %j)"
scancel -M other "${id%;*}"
check "scancel -M of another cluster" "" "$(squeue -h -M other -n there -o %j)"
full=$(sbatch --parsable -n2 -t 10 -o /dev/null --wrap 'sleep 100')
soon '[ "$(squeue -h -j "$full" -o %t)" = R ]'
match "sbatch chooses the cluster with the earliest start" '^Submitted batch job [0-9]+ on cluster other$' \
  "$(sbatch -M test,other -n1 -o /dev/null --wrap true)"
scancel "$full"; wait_empty
match "sbatch prefers its own cluster at the same start" 'on cluster test$' \
  "$(sbatch -M other,test -n1 -o /dev/null --wrap true)"
check "sbatch fails when no cluster can run the job" 1 \
  "$(sbatch -M other,test -n64 --wrap true >/dev/null 2>&1; echo $?)"
a=$(sbatch --parsable -H -J both --wrap true); b=$(sbatch --parsable -M other -H -J both --wrap true)
scancel -M all -n both
check "scancel -M all" "" "$(squeue -h -M all -n both -o %j)"
full=$(sbatch --parsable -n2 -t 10 -o /dev/null --wrap 'sleep 100')
soon '[ "$(squeue -h -j "$full" -o %t)" = R ]'
check "srun -M of another cluster" "m1 other" "$(srun -M other sh -c 'echo $SLURMD_NODENAME $SLURM_CLUSTER_NAME')"
check "srun chooses the cluster with the earliest start" "m1" "$(srun -M test,other printenv SLURMD_NODENAME)"
check "srun -M ends with the exit code of the task" "3" "$(srun -M other sh -c 'exit 3' 2>/dev/null; echo $?)"
check "salloc chooses the cluster with the earliest start, and a step runs there" "other m1" \
  "$(salloc -Q -M all -n1 sh -c 'echo $SLURM_CLUSTER_NAME $(srun printenv SLURMD_NODENAME)')"
check "salloc leaves no job on another cluster" "" "$(squeue -h -M other -t R -o %j)"
scancel "$full"; wait_empty
check "srun of an unknown cluster" "1 srun: $unknown
srun: $invalid" \
  "$(srun -M nowhere true 2>"$dir/err"; echo $?) $(cat "$dir/err")"
# A cluster with accounting of its own that registers with this slurmdbd as an external cluster.
mkdir -p "$dir"/far/state; cp "$dir/slurm.key" "$dir/far/slurm.key"; q=$(free_port)
sed -e 's/^ClusterName=.*/ClusterName=far/' -e "s/^SlurmctldPort=.*/SlurmctldPort=$q/" -e "s:$dir/other/:$dir/far/:" \
  -e "s:/other-slurm:/far-slurm:" -e '/^AccountingStorage/d' "$dir/other/slurm.conf" > "$dir/far/slurm.conf"
echo "AccountingStorageExternalHost=nosuch.invalid,localhost:$dbd_port" >> "$dir/far/slurm.conf"
slurmctld -f "$dir/far/slurm.conf" </dev/null >>"$dir/log/start.out" 2>&1
becomes "slurmdbd lists the external cluster" "far|$q|External" \
  '$(sacctmgr -n -P show cluster far format=cluster,controlport,flags)'
check "sinfo -M of an external cluster" "far m1" "$(sinfo -h -M far -o %N | xargs | sed 's/^/far /')"
match "sbatch -M of an external cluster" '^[0-9]+;far$' "$(sbatch --parsable -M far -H --wrap true)"
check "slurmdbd has no jobs of an external cluster" "" "$(sacct -n -X -M far -o jobid 2>/dev/null)"
kill "$(pid_of far-slurmctld)"
# Triggers for the end and the start of slurmdbd and slurmctld.
printf '#!/bin/sh\necho "$@" >>%s/fired.txt\n' "$PWD" >fired.sh; chmod 755 fired.sh
for event in primary_slurmdbd_failure primary_slurmdbd_resumed_operation primary_slurmctld_resumed_operation; do
  strigger --set --$event --program="$PWD/fired.sh is"
done
match "strigger --get lists the trigger of slurmdbd" 'slurmdbd +\* primary_slurmdbd_failure +0' "$(strigger --get -N)"
kill "$(pid_of slurmdbd)"; soon '[ -s fired.txt ]'
check "the end of slurmdbd fires a trigger" "is primary_slurmdbd_failure" "$(xargs <fired.txt)"
start_dbd
soon '[ "$(wc -l <fired.txt)" = 2 ]'
check "the start of slurmdbd fires a trigger" "is primary_slurmdbd_resumed_operation" "$(tail -1 fired.txt)"
killed slurmctld; start_ctld
soon '[ "$(wc -l <fired.txt)" = 3 ]'
check "the start of slurmctld fires a trigger" "is primary_slurmctld_resumed_operation" "$(tail -1 fired.txt)"
check "a fired trigger is deleted" "" "$(strigger --get -N)"
check "a trigger of a backup controller is refused" \
  "slurm_set_trigger: --backup_slurmctld_failure needs a backup controller: there is none here" \
  "$(strigger --set --backup_slurmctld_failure --program="$PWD/fired.sh" 2>&1)"
