#!/usr/bin/env bash
# Features that a node has after a reboot: helpers.conf.
# shows: NodeFeaturesPlugins
. "$(dirname "$0")/lib.bash"
cat > "$dir/helper.sh" <<S
#!/bin/bash
[ -z "\$1" ] || echo "\$1" > $dir/active-\$SLURMD_NODENAME
cat $dir/active-\$SLURMD_NODENAME
S
cat > "$dir/boot.sh" <<S
#!/bin/bash
kill \$(cat $dir/run/slurmd-\$1.pid)
sleep 1    # 1 s: the node is away for a time
SLURMD_NODENAME=\$1 $prefix/sbin/slurmd -b -f \$SLURM_CONF -N \$1 -d $prefix/sbin/slurmstepd
S
cat > "$dir/reboot.sh" <<S
#!/bin/bash
echo "reboot \$SLURMD_NODENAME" >> $dir/reboots
setsid $dir/boot.sh \$SLURMD_NODENAME </dev/null >/dev/null 2>&1 &
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
check "scontrol shows the features of the helpers" "fixed,f1,f2,g1,g2 fixed,f1,g1" "$(features n1)"
check "sinfo shows the features of the helpers" "fixed,f1,f2,g1,g2 fixed,f1,g1" "$(sinfo -h -n n1 -o '%f %b')"
check "a job with an active feature runs" n1 \
  "$(timeout 20 srun -C 'fixed&f1' -w n1 sh -c 'echo $SLURMD_NODENAME' </dev/null)"
check "a job with an active feature reboots no node" "" "$(cat "$dir/reboots")"
timeout 60 sbatch -W -Q --reboot -C f1 -w n1 -o reboot.txt --wrap 'echo $SLURMD_NODENAME' </dev/null || true
check "a job with --reboot and an active feature runs" n1 "$(cat reboot.txt)"
check "--reboot reboots the node" "reboot n1" "$(cat "$dir/reboots")"
: > "$dir/reboots"
check "features that exclude each other are refused" \
  "sbatch: error: Batch job submission failed: Invalid feature specification" "$(sbatch -C 'f1&f2' --wrap true 2>&1)"
id=$(sbatch --parsable -C f2 -w n2 -o f2.txt --wrap 'echo $SLURMD_NODENAME')
soon '[ "$(squeue -h -j "$id" -o %t)" = CF ]'
match "the node of the job is powering up" 'POWERING_UP' "$(scontrol show node n2)"
wait_empty 40
check "the job runs on the rebooted node" n2 "$(cat f2.txt)"
check "the node was rebooted once" "reboot n2" "$(cat "$dir/reboots")"
check "the rebooted node has the other feature" "fixed,f1,f2,g1,g2 fixed,f2,g1" "$(features n2)"
match "scontrol cannot set a feature of the helpers" 'those that its helpers report' \
  "$(scontrol update nodename=n2 activefeatures=f1 2>&1)"
id=$(sbatch --parsable -C g2 -w n1 -o g2.txt --wrap 'echo $SLURMD_NODENAME')
wait_empty 40
check "a job with a rebootless feature runs" n1 "$(cat g2.txt)"
check "a rebootless feature reboots no node" "reboot n2" "$(cat "$dir/reboots")"
check "the node has the rebootless feature" "fixed,f1,f2,g1,g2 fixed,f1,g2" "$(features n1)"
check "slurmctld launches no job before the node's boot" 0 \
  "$(grep -c "earlier boot" "$dir/log/slurmctld.log")"

# reboot_from_controller: the arguments of RebootProgram are the nodes and their new features.
cat > "$dir/reboot-all.sh" <<S
#!/bin/bash
echo "reboot \$# \$* by \${SLURMD_NODENAME:-slurmctld}" >> $dir/reboots
for n in \${1//,/ }; do
  [ -z "\$2" ] || echo "\${2%%,*}" > $dir/active-\$n
  setsid $dir/boot.sh \$n </dev/null >/dev/null 2>&1 &
done
S
chmod 755 "$dir/reboot-all.sh"; : > "$dir/reboots"
sed -i "s#^RebootProgram=.*#RebootProgram=$dir/reboot-all.sh#" "$SLURM_CONF"
echo "SlurmctldParameters=reboot_from_controller" >> "$SLURM_CONF"
reread
id=$(sbatch --parsable -C f1 -w n2 -o f1.txt --wrap 'echo $SLURMD_NODENAME'); wait_empty 40
check "the job runs after a reboot by slurmctld" n2 "$(cat f1.txt)"
check "slurmctld reboots the node for a feature" "reboot 2 n2 f1 by slurmctld" "$(cat "$dir/reboots")"
check "the node has the feature after the reboot" "fixed,f1,g1" \
  "$(scontrol show node n2 | sed -n 's/^ *ActiveFeatures=//p')"
is_new() { local now; now=$(pid_of "slurmd-$1"); [ -n "$now" ] && [ "$now" != "$2" ]; } # node, former pid
one=$(pid_of slurmd-n1); two=$(pid_of slurmd-n2)
: > "$dir/reboots"; scontrol reboot n1,n2
soon 'is_new n1 "$one" && is_new n2 "$two"'
check "slurmctld reboots several nodes at once" "reboot 1 n1,n2 by slurmctld" "$(cat "$dir/reboots")"
becomes "the rebooted nodes are idle" "idle idle" '"$(sinfo -h -N -o %T | paste -sd" ")"'

echo "SchedulerParameters=extra_constraints" >> "$SLURM_CONF"; scontrol reconfigure
scontrol update nodename=n2 extra='{"zone": 3, "disk": "fast"}'
check "--extra" n2 "$(timeout 20 srun --extra 'zone>2&(disk=fast|disk=slow)' sh -c 'echo $SLURMD_NODENAME' </dev/null)"
check "an invalid --extra is refused" \
  "sbatch: error: Batch job submission failed: Invalid extra constraints specification" \
  "$(sbatch --extra zone --wrap true 2>&1)"
id=$(sbatch --parsable --extra 'zone=4|zone=5' -o extra.txt --wrap 'echo $SLURMD_NODENAME')
soon '[ "$(squeue -h -j "$id" -o %r)" != None ]'
check "a job whose --extra no node satisfies is pending" "PD" "$(squeue -h -j "$id" -o %t)"
scontrol update nodename=n1 extra='{"zone": 4}'; wait_empty 20
check "the job runs when a node satisfies its --extra" n1 "$(cat extra.txt)"
