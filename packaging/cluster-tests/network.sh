#!/usr/bin/env bash
# Where jobs are placed: topologies of topology.yaml, one for each partition, and MCS labels that separate jobs.
. "$(dirname "$0")/lib.bash"
cat > "$dir/topology.yaml" <<'Y'
---
- topology: plain
  flat: True
- topology: net
  cluster_default: True
  tree:
    switches:
      - switch: top
        children: s[1-2]
      - switch: s1
        nodes: n[1-2]
      - switch: s2
        nodes: n[3-4]
- topology: blk
  cluster_default: True
  block:
    block_sizes:
      - 2
    blocks:
      - block: b1
        nodes: n[1,3]
      - block: b2
        nodes: n[2,4]
- topology: rng
  ring:
    rings:
      - ring: r1
        nodes: n[1,3,2,4]
Y
start_cluster 4 2 "SchedulerParameters=max_switch_wait=3
MCSPlugin=mcs/user
MCSParameters=ondemand,ondemandselect
$(for t in blk rng plain; do echo "PartitionName=$t Nodes=n[1-4] Topology=$t MaxTime=INFINITE State=UP"; done)"
where() { timeout 30 srun -Q "$@" sh -c '[ $SLURM_PROCID != 0 ] || echo $SLURM_JOB_NODELIST' </dev/null 2>&1; }
check "the first of two cluster_default topologies is shown" \
  "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[1-2]" "$(scontrol show topology | head -1)"
check "the topology of a partition, for a node" "BlockName=b2 BlockIndex=1 Nodes=n[2,4] BlockSize=2" \
  "$(scontrol show topology blk node=n4)"
check "the switch of two nodes" "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[1-2]" \
  "$(scontrol show topology 'n[2-3]')"
check "a flat topology has no lines" "" "$(scontrol show topology plain)"
scontrol show topoconf > conf.yaml
check "topoconf" "net plain blk rng" "$(sed -n 's/^- topology: //p' conf.yaml | xargs)"
check "blocks" "n[1,3]" "$(where -p blk -N2)"
ranks() {
  timeout 30 srun -Q -l -p blk -N4 -n4 "$@" printenv SLURMD_NODENAME </dev/null | sort -n | sed 's/.*: //' | xargs
}
check "tasks are distributed block by block" "n1 n3 n2 n4" "$(ranks)"
check "tasks are distributed block by block with -m block" "n1 n3 n2 n4" "$(ranks -m block)"
check "--spread-segments" "n[1-2]" "$(where -p blk -N2 --segment=1 --spread-segments)"
check "3 nodes in segments of 2" "srun: error: Unable to allocate resources: Node count specification invalid" \
  "$(where -p blk -N3 --segment=2 || true)"
check "--spread-segments with switches" \
  "srun: error: Unable to allocate resources: --spread-segments needs TopologyPlugin=topology/block" \
  "$(where -N2 --spread-segments || true)"
scontrol create res reservationname=x start=now dur=5 nodes=n[1,4] user=nobody >/dev/null
check "a ring" "n[2-3]" "$(where -p rng -N2)"
scontrol delete reservationname=x
a=$(sbatch --parsable -o /dev/null -p blk -N1 --exclusive=topo --wrap 'sleep 60'); running "$a"
check "a job with --exclusive=topo" n1 "$(squeue -h -j "$a" -o %N)"
check "another job goes to another block" n2 "$(where -p blk -N1)"
scancel "$a"; wait_empty
scontrol create res reservationname=x start=now dur=5 nodes=n[2,4] user=nobody >/dev/null
a=$(sbatch --parsable -o sw.txt -N2 --switches=1 --wrap 'echo $SLURM_JOB_NODELIST')
sleep 1     # 1 s: the job does not start at once
check "a job waits for its number of switches" "PD" "$(squeue -h -j "$a" -o %t)"
becomes "the job starts after max_switch_wait without an event" "n[1,3]" '"$(cat sw.txt)"'
scontrol delete reservationname=x
check "no such topology" "slurm_update error: Requested topology configuration is not available" \
  "$(scontrol update partitionname=blk topology=nosuch 2>&1)"

# Labels.
check "another user's label" "sbatch: error: Batch job submission failed: Invalid mcs_label specified" \
  "$(sbatch --mcs-label=nobody --wrap true 2>&1)"
check "a job without a label" "N/A" "$(srun -Q sh -c 'scontrol -o show job $SLURM_JOB_ID' | grep -o 'MCS_label=[^ ]*' \
    | cut -d= -f2)"
a=$(sbatch --parsable -o /dev/null --mem=10 -w n1 --exclusive=mcs --wrap 'sleep 60'); running "$a"
me=$(id -un)
check "--exclusive=mcs: the label is the user" "$me n1" "$(squeue -h -j "$a" -O mcslabel:20,nodelist:20 | xargs)"
check "the node shows the label" "MCS_label=$me" "$(scontrol -o show node n1 | grep -o 'MCS_label=[^ ]*')"
check "a job without the label goes to another node" n2 "$(where --mem=10)"
check "a job with the label shares the node" n1 "$(where --mem=10 --exclusive=mcs -w n1)"
scancel "$a"; wait_empty
