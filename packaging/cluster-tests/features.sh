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
sed "s/active-/live-/g" "$dir/helper.sh" > "$dir/live.sh"
chmod 755 "$dir/live.sh"
echo g1 > "$dir/live-n1"
echo g1 > "$dir/live-n2"
printf 'NodeName=n[1-2] Feature=g1,g2 Helper=%s Flags=rebootless\n' "$dir/live.sh" > "$dir/more.conf"
printf 'BootTime=60\nExecTime=5\nMutuallyExclusive=f1,f2\nNodeName=n[1-2] Feature=f1,f2 Helper=%s\n' \
  "$dir/helper.sh" > "$dir/helpers.conf"
cat "$dir/more.conf" >> "$dir/helpers.conf"
start_cluster 2 2 "NodeFeaturesPlugins=node_features/helpers
RebootProgram=$dir/reboot.sh
ResumeTimeout=30
NodeName=DEFAULT Feature=fixed"
features() { scontrol show node "$1" | sed -n 's/^ *\(Available\|Active\)Features=//p' | paste -sd ' '; }
check "as the helpers say" "fixed,f1,f2,g1,g2 fixed,f1,g1" "$(features n1)"
check "sinfo" "fixed,f1,f2,g1,g2 fixed,f1,g1" "$(sinfo -h -n n1 -o '%f %b')"
check "no reboot for what is there" "n1 " \
  "$(timeout 20 srun -C 'fixed&f1' -w n1 sh -c 'echo $SLURMD_NODENAME' </dev/null) $(cat "$dir/reboots")"
check "--reboot, with what is there" "n1" \
  "$(timeout 60 sbatch -W -Q --reboot -C f1 -w n1 -o reboot.txt --wrap 'echo $SLURMD_NODENAME' </dev/null; \
    cat reboot.txt)"
check "was a reboot" "reboot n1" "$(cat "$dir/reboots")"
: > "$dir/reboots"
check "not both" "sbatch: error: Batch job submission failed: Invalid feature specification" \
  "$(sbatch -C 'f1&f2' --wrap true 2>&1)"
id=$(sbatch --parsable -C f2 -w n2 -o f2.txt --wrap 'echo $SLURMD_NODENAME')
soon '[ "$(squeue -h -j "$id" -o %t)" = CF ]'
match "the job waits for its node" 'POWERING_UP' "$(scontrol show node n2)"
wait_empty 40
check "and runs there" n2 "$(cat f2.txt)"
check "after a reboot" "reboot n2" "$(cat "$dir/reboots")"
check "with other features" "fixed,f1,f2,g1,g2 fixed,f2,g1" "$(features n2)"
match "they are the helpers' to say" 'those that its helpers report' \
  "$(scontrol update nodename=n2 activefeatures=f1 2>&1)"
id=$(sbatch --parsable -C g2 -w n1 -o g2.txt --wrap 'echo $SLURMD_NODENAME')
wait_empty 40
check "a feature without a reboot" "n1 reboot n2" "$(cat g2.txt) $(cat "$dir/reboots")"
check "is what the node has then" "fixed,f1,f2,g1,g2 fixed,f1,g2" "$(features n1)"
check "nobody is told of a job before the node has come up for it" 0 \
  "$(grep -c "earlier boot" "$dir/log/slurmctld.log")"

# slurmctld reboots: the program has the nodes, and the features that they are to have.
cat > "$dir/reboot-all.sh" <<S
#!/bin/bash
echo "reboot \$# \$* by \${SLURMD_NODENAME:-slurmctld}" >> $dir/reboots
for n in \${1//,/ }; do
  [ -z "\$2" ] || echo "\${2%%,*}" > $dir/active-\$n
  setsid bash -c "kill \$(cat $dir/run/slurmd-\$n.pid); sleep 1; SLURMD_NODENAME=\$n $prefix/sbin/slurmd -b -f \$SLURM_CONF -N \$n -d $prefix/sbin/slurmstepd" </dev/null >/dev/null 2>&1 &
done
S
chmod 755 "$dir/reboot-all.sh"; : > "$dir/reboots"
sed -i "s#^RebootProgram=.*#RebootProgram=$dir/reboot-all.sh#" "$SLURM_CONF"
echo "SlurmctldParameters=reboot_from_controller" >> "$SLURM_CONF"
reread
id=$(sbatch --parsable -C f1 -w n2 -o f1.txt --wrap 'echo $SLURMD_NODENAME'); wait_empty 40
check "slurmctld reboots for features" "n2 reboot 2 n2 f1 by slurmctld" "$(cat f1.txt) $(cat "$dir/reboots")"
check "which the node has then" "fixed,f1,g1" "$(scontrol show node n2 | sed -n 's/^ *ActiveFeatures=//p')"
: > "$dir/reboots"; scontrol reboot n1,n2; sleep 3
becomes "and without, several at once" "reboot 1 n1,n2 by slurmctld idle idle" \
  '"$(cat "$dir/reboots") $(sinfo -h -N -o %T | paste -sd" ")"'

echo "SchedulerParameters=extra_constraints" >> "$SLURM_CONF"; scontrol reconfigure
scontrol update nodename=n2 extra='{"zone": 3, "disk": "fast"}'
check "--extra" n2 "$(timeout 20 srun --extra 'zone>2&(disk=fast|disk=slow)' sh -c 'echo $SLURMD_NODENAME' </dev/null)"
check "what is no such expression" \
  "sbatch: error: Batch job submission failed: Invalid extra constraints specification" \
  "$(sbatch --extra zone --wrap true 2>&1)"
id=$(sbatch --parsable --extra 'zone=4|zone=5' -o extra.txt --wrap 'echo $SLURMD_NODENAME'); sleep 1
check "who finds no node that says so waits" "PD" "$(squeue -h -j "$id" -o %t)"
scontrol update nodename=n1 extra='{"zone": 4}'; wait_empty 20
check "until one does" n1 "$(cat extra.txt)"
