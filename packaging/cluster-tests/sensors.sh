#!/usr/bin/env bash
# Meters of a node: network traffic as the kernel counts it, and keys of meters that there are not.
# shows: AccountingStorageTRES, AcctGatherInterconnectType
. "$(dirname "$0")/lib.bash"
echo "SysfsInterfaces=lo,nosuch0
ProfileHDF5Dir=/tmp" > "$dir/acct_gather.conf"
start_cluster 1 4 "AcctGatherInterconnectType=acct_gather_interconnect/sysfs
AccountingStorageTRES=ic/sysfs
AcctGatherEnergyType=acct_gather_energy/ipmi"
talk='exec 5<>/dev/tcp/127.0.0.1/'$port'; head -c 3000000 /dev/zero >&5 || true'
id=$(sbatch --parsable -o /dev/null --wrap "bash -c '$talk' 2>/dev/null
  sstat -n -P -o TRESUsageInTot -j \$SLURM_JOB_ID.batch > $dir/work/sstat.out 2>&1"); wait_empty 30
match "sacct has what came in while the step ran" 'ic/sysfs=[1-9][0-9]{3,}' "$(sacct -n -P -o TRESUsageInTot -j "$id.batch")"
match "and what went out" 'ic/sysfs=[1-9][0-9]{3,}' "$(sacct -n -P -o TRESUsageOutTot -j "$id.batch")"
match "sstat has it up to now" 'ic/sysfs=[1-9][0-9]{3,}' "$(cat sstat.out)"
check "an interface that is not there is named once for each number" 2 "$(grep -c 'nosuch0/statistics/.*cannot be read' "$dir/log/slurmd-n1.log")"
match "meters that there are not are named" 'AcctGatherEnergyType=acct_gather_energy/ipmi has no effect' "$(cat "$dir/log/slurmctld.log")"
match "and their settings" 'acct_gather.conf: ProfileHDF5Dir has no effect' "$(cat "$dir/log/slurmctld.log")"
match "a node without a meter says so" 'CurrentWatts=n/s AveWatts=n/s' "$(scontrol show node n1)"
stop_cluster

rm -rf "$dir/state" "$dir/spool" "$dir/run"
echo "Nonsense=1" > "$dir/acct_gather.conf"
mkdir -p "$dir"/{run,spool,state}
rc=0; said=$(slurmd -D -f "$SLURM_CONF" -N n1 -d "$prefix/sbin/slurmstepd" </dev/null 2>&1) || rc=$?
check "slurmd does not start with a file that it does not understand" 1 "$rc"
match "and says where" 'acct_gather.conf:1: Parsing error at unrecognized key: Nonsense' "$said"
