#!/usr/bin/env bash
# Nodes that come and go: scontrol create and delete, slurmd -Z and -F, FUTURE nodes, the configuration from slurmctld.
# shows: MaxNodeCount, SlurmctldParameters, SlurmdPort
. "$(dirname "$0")/lib.bash"
mkdir -p "$dir"/{conf2,run}; export RUNTIME_DIRECTORY=$dir/run SLURM_SACK_KEY=$dir/state/slurm.key
printf '#!/bin/bash\necho "$SLURM_JOB_ID" >> %s\n' "$dir/prologs" > "$dir/beside.sh"; chmod 755 "$dir/beside.sh"
touch "$dir/prologs"; chmod 666 "$dir/prologs"
echo "# nothing" > "$dir/more.conf"
hardware() { slurmd -C | grep -oE '(SocketsPerBoard|CoresPerSocket|ThreadsPerCore)=[0-9]+' | xargs; }
start_cluster 1 2 "MaxNodeCount=5
SlurmctldParameters=enable_configless
Prolog=beside.sh
Include more.conf
NodeName=f1 NodeAddr=127.0.0.1 Port=@port+7@ CPUs=$(nproc) Boards=1 $(hardware) State=FUTURE Feature=later
NodeSet=dyn Feature=here
PartitionName=all Nodes=ALL
PartitionName=dynamic Nodes=dyn
SlurmdPort=@port+9@"
state() { scontrol show node "$1" 2>/dev/null | sed -n 's/.* State=\([^ ]*\).*/\1/p'; }

check "only three states" \
"scontrol: error: Only State=FUTURE, CLOUD, or EXTERNAL allowed for nodes created by scontrol
Error creating node(s): Invalid node state specified" \
  "$(scontrol create NodeName=d9 State=DOWN 2>&1)"
check "an unknown key" \
"scontrol: error: Failed to parse nodeline 'NodeName=d9 State=CLOUD bogus=1'
Error creating node(s): Unspecified error" \
  "$(scontrol create NodeName=d9 State=CLOUD bogus=1 2>&1)"
check "an existing name" \
"scontrol: error: Node already exists in the node table (n1)
Error creating node(s): Node already exists in the node table" \
  "$(scontrol create NodeName=n1 State=CLOUD 2>&1)"
check "more nodes than MaxNodeCount" \
"scontrol: error: Unable to add node, node table is full (x4)
Error creating node(s): Unable to add node, node table is full" \
  "$(scontrol create NodeName=x[1-9] State=CLOUD 2>&1)"
scontrol create NodeName=e1 State=external CPUs=2 RealMemory=4000
check "a node without a slurmd" IDLE+DYNAMIC_NORM+EXTERNAL "$(state e1)"
for s in drain down fail; do
  scontrol update NodeName=e1 State=$s Reason=why
  states="${states:-}$(state e1) "
  scontrol update NodeName=e1 State=resume
done
check "scontrol drains, downs and fails an external node" \
  "IDLE+DRAIN+DYNAMIC_NORM+EXTERNAL DOWN+DYNAMIC_NORM+EXTERNAL IDLE+DYNAMIC_NORM+EXTERNAL+FAIL " "$states"
check "a resumed external node is idle" '["IDLE","EXTERNAL","DYNAMIC_NORM"]' \
  "$(scontrol show node e1 --json | jq -c '.nodes[0].state')"
match "an external node takes no jobs" \
  'Requested node configuration is not available' "$(sbatch -w e1 -p all --wrap true 2>&1)"
check "sinfo -t external" e1 "$(sinfo -h -N -t external -o %N)"
check "an external node cannot be set to noresp" 'slurm_update error: Invalid node state transition' \
  "$(scontrol update NodeName=e1 State=noresp 2>&1)"
scontrol delete NodeName=e1
scontrol create NodeName=d9 State=CLOUD CPUs=1 Feature=here
match "a created node" 'CLOUD.*DYNAMIC_NORM' "$(state d9)"
check "is in its node set's partition" d9 "$(sinfo -h -p dynamic -o %N)"
check "sinfo lists a cloud node without power (since 23.02)" 2 "$(sinfo -h -N -o %N | grep -c d9)"
check "scontrol lists a cloud node without power" 1 "$(scontrol -o show node | grep -c d9)"
scontrol delete NodeName=d9
check "a deleted node is not found" "Node d9 not found" "$(scontrol show node d9 2>&1)"
check "a deleted node is not deleted twice" \
  "scontrol: error: failed to delete nodes d9|delete_node NodeName=d9: Invalid node name specified|" \
  "$(scontrol delete NodeName=d9 2>&1 | tr '\n' '|')"

check "no name in --conf" "slurmd: fatal: option 'NodeName=' not allowed in --conf" \
  "$(slurmd -Z -N z1 --conf 'NodeName=z2' -f "$SLURM_CONF" 2>&1 </dev/null)"
slurmd -Z -N z1 -M --conf 'Feature=here Weight=7' --extra=rack=3 -f "$SLURM_CONF" -d "$prefix/sbin/slurmstepd" \
  </dev/null >>"$dir/log/start.out" 2>&1
soon '[ "$(state z1)" = IDLE+DYNAMIC_NORM ]'
becomes "slurmd -Z" IDLE+DYNAMIC_NORM '"$(state z1)"'
check "--conf" "Weight=7" "$(scontrol show node z1 | grep -o 'Weight=7')"
check "--extra" "Extra=rack=3" "$(scontrol show node z1 | grep -o 'Extra=.*' | tr -d ' ')"
check "a dynamic node runs jobs" z1 "$(timeout 20 srun -p dynamic sh -c 'echo $SLURMD_NODENAME' </dev/null 2>&1)"
reread; soon '[ "$(state z1)" = IDLE+DYNAMIC_NORM ]'
becomes "a dynamic node stays after a reconfiguration" IDLE+DYNAMIC_NORM '"$(state z1)"'
stopped slurmctld
start_ctld
soon '[ "$(state z1)" = IDLE+DYNAMIC_NORM ]'
soon '[ "$(grep -c "registered at" "$dir/log/slurmd-z1.log")" -ge 3 ]'
becomes "a dynamic node stays after a restart of slurmctld" IDLE+DYNAMIC_NORM '"$(state z1)"'
scontrol delete NodeName=z1
sleep 1.5     # 1.5 s: its slurmd does not register it again
check "a deleted dynamic node does not come back by itself" "Node z1 not found" "$(scontrol show node z1 2>&1)"
stopped slurmd-z1

slurmd -Flater -N here -f "$SLURM_CONF" -d "$prefix/sbin/slurmstepd" </dev/null >>"$dir/log/start.out" 2>&1
soon '[ "$(state f1)" = IDLE+DYNAMIC_FUTURE ]'
becomes "slurmd -F" IDLE+DYNAMIC_FUTURE '"$(state f1)"'
match "no FUTURE node has the feature" 'fatal: No FUTURE node has this hardware and feature none' \
  "$(slurmd -Fnone -N other -f "$SLURM_CONF" 2>&1 </dev/null)"
kill "$(pid_of slurmd-f1)"

: > "$dir/prologs"
stopped slurmd-n1
(unset SLURM_CONF
slurmd --conf-server "127.0.0.1:$port" -N n1 -d "$prefix/sbin/slurmstepd" </dev/null >>"$dir/log/start.out" 2>&1)
check "the fetched files" "beside.sh more.conf slurm.conf " \
  "$(ls "$dir/spool/n1/conf-cache" | grep -v slurm.key | tr '\n' ' ')"
soon '[ "$(state n1)" = IDLE ]'
check "a command with the fetched files" 0 \
  "$(rc=0; SLURM_CONF=$dir/run/conf/slurm.conf timeout 20 srun -w n1 true </dev/null \
    || rc=$?; echo $rc)"
check "the fetched prolog runs" 1 "$(wc -l < "$dir/prologs")"
printf '#!/bin/bash\necho new >> %s\n' "$dir/prologs" > "$dir/beside.sh"
echo "NodeName=DEFAULT Weight=1" > "$dir/more.conf"
reread
soon 'grep -q new "$dir/spool/n1/conf-cache/beside.sh"'
timeout 20 srun -w n1 true </dev/null
check "a reconfiguration fetches the changed prolog" new "$(tail -1 "$dir/prologs")"
check "a reconfiguration fetches changed included files" "NodeName=DEFAULT Weight=1" \
  "$(cat "$dir/spool/n1/conf-cache/more.conf")"
mkdir "$dir/run2"; from="--conf-server 127.0.0.1:$port"; [ -e /etc/slurm/slurm.conf ] || from=
SLURM_CONF_SERVER=127.0.0.1:$port RUNTIME_DIRECTORY=$dir/run2 timeout 20 env -u SLURM_CONF sackd -D $from </dev/null \
  >"$dir/log/sackd.out" 2>&1 &
sackd=$!
soon '[ -f "$dir/run2/conf/slurm.conf" ]'
check "sackd fetches" "$(cksum < "$SLURM_CONF")" "$(cksum < "$dir/run2/conf/slurm.conf")"
echo "# and more" >> "$dir/more.conf"; scontrol reconfigure; soon 'grep -q more "$dir/run2/conf/more.conf"'
becomes "sackd fetches a change" "# and more" '"$(tail -1 "$dir/run2/conf/more.conf")"'
kill $sackd; wait $sackd 2>/dev/null || true
# A partition is missing for one reconfiguration: its jobs end as in Slurm, each is logged, and they return with it.
cp "$SLURM_CONF" "$dir/whole.conf"
echo "PartitionName=old Nodes=n1" >> "$SLURM_CONF"
cp "$SLURM_CONF" "$dir/old.conf"
scontrol reconfigure
run=$(sbatch --parsable -p old -t 5 -o /dev/null --wrap 'sleep 60')
becomes "a job of the partition runs" RUNNING '"$(squeue -h -o %T -j "$run")"'
held=$(sbatch --parsable -p old -H -o /dev/null --wrap true)
cp "$dir/whole.conf" "$SLURM_CONF"; scontrol reconfigure
becomes "both jobs end" "NODE_FAIL PartitionDown,NODE_FAIL PartitionDown" \
  '"$(squeue -a -h -t all -j "$run,$held" -o "%T %r" | paste -sd,)"'
match "the log names the running job" "error: Killing JobId=$run on defunct partition old" \
  "$(cat "$dir/log/slurmctld.log")"
match "the log names the held job" "error: Invalid partition \(old\) for JobId=$held" "$(cat "$dir/log/slurmctld.log")"
cp "$dir/old.conf" "$SLURM_CONF"; scontrol reconfigure
becomes "the running job runs again" RUNNING '"$(squeue -h -o %T -j "$run")"'
becomes "the held job is held" "PENDING JobHeldUser" '"$(squeue -h -o "%T %r" -j "$held")"'
scancel "$run" "$held"; wait_empty
# All mistakes of slurm.conf are reported at once, each with its line; another cluster's name is refused.
printf 'FooBar=3\nKillWait=abc\n' >> "$SLURM_CONF"
check "two mistakes" 2 "$(scontrol reconfigure 2>&1 | grep -c 'slurm.conf:[0-9]*: ')"
sed 's/^ClusterName=.*/ClusterName=another/' "$dir/whole.conf" > "$SLURM_CONF"
match "another ClusterName" \
  'slurm_reconfigure error: .*slurm.conf:[0-9]+: CLUSTER NAME MISMATCH. slurmctld has been started with "ClusterName=' \
  "$(scontrol reconfigure 2>&1)"
cp "$dir/whole.conf" "$SLURM_CONF"
check "the original file is accepted" 0 "$(scontrol reconfigure >/dev/null 2>&1; echo $?)"
scontrol update nodename=n1 cpubind=core availablefeatures=a,b; scontrol update nodename=n1 activefeatures=b
match "CpuBind and features of a node" 'CpuBind=cores .*AvailableFeatures=a,b ActiveFeatures=b ' \
  "$(scontrol -o show node n1)"
check "active features are a subset of the available ones" \
  "slurm_update error: Active features not subset of available features" \
  "$(scontrol update nodename=n1 activefeatures=c 2>&1)"
sed -i s/enable_configless/node_reg_mem_percent=90/ "$SLURM_CONF"; scontrol reconfigure
match "--conf-server without enable_configless" 'enable_configless is not set' \
  "$(unset SLURM_CONF; slurmd --conf-server "127.0.0.1:$port" -N n1 2>&1 </dev/null)"
