#!/usr/bin/env bash
# Features that nodes have after a reboot: helpers.conf. shows: NodeFeaturesPlugins
. "$(dirname "$0")/lib.bash"
cat > "$dir/helper.sh" <<S
#!/bin/bash
[ -z "\$1" ] || echo "\$1" > $dir/active-\$SLURMD_NODENAME
cat $dir/active-\$SLURMD_NODENAME
S
cat > "$dir/reboot.sh" <<S
#!/bin/bash
echo "reboot \$SLURMD_NODENAME" >> $dir/reboots
setsid bash -c "kill \$(cat $dir/run/slurmd-\$SLURMD_NODENAME.pid); sleep 1; $prefix/sbin/slurmd -b -f \$SLURM_CONF -N \$SLURMD_NODENAME -d $prefix/sbin/slurmstepd" </dev/null >/dev/null 2>&1 &
S
chmod 755 "$dir"/*.sh; echo f1 > "$dir/active-n1"; echo f1 > "$dir/active-n2"; : > "$dir/reboots"
printf 'BootTime=60\nExecTime=5\nMutuallyExclusive=f1,f2\nNodeName=n[1-2] Feature=f1,f2 Helper=%s\n' "$dir/helper.sh" > "$dir/helpers.conf"
start_cluster 2 2 "NodeFeaturesPlugins=node_features/helpers
RebootProgram=$dir/reboot.sh
ResumeTimeout=30
NodeName=DEFAULT Feature=fixed"
features() { scontrol show node "$1" | sed -n 's/^ *\(Available\|Active\)Features=//p' | paste -sd ' '; }
check "as the helpers say" "fixed,f1,f2 fixed,f1" "$(features n1)"
check "sinfo" "fixed,f1,f2 fixed,f1" "$(sinfo -h -n n1 -o '%f %b')"
check "no reboot for what is there" "n1 " "$(timeout 20 srun -C 'fixed&f1' -w n1 sh -c 'echo $SLURMD_NODENAME' </dev/null) $(cat "$dir/reboots")"
check "not both" "sbatch: error: Batch job submission failed: Invalid feature specification" "$(sbatch -C 'f1&f2' --wrap true 2>&1)"
id=$(sbatch --parsable -C f2 -w n2 -o f2.txt --wrap 'echo $SLURMD_NODENAME')
for _ in $(seq 50); do [ "$(squeue -h -j "$id" -o %t)" = CF ] && break; sleep 0.1; done
match "the job waits for its node" 'POWERING_UP' "$(scontrol show node n2)"
wait_empty 40
check "and runs there" n2 "$(cat f2.txt)"
check "after a reboot" "reboot n2" "$(cat "$dir/reboots")"
check "with other features" "fixed,f1,f2 fixed,f2" "$(features n2)"
match "they are the helpers' to say" 'those that its helpers report' "$(scontrol update nodename=n2 activefeatures=f1 2>&1)"
