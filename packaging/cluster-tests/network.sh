#!/usr/bin/env bash
# Networks of topology.yaml, each for a partition of its own, and jobs of labels that keep apart from others: where jobs land.
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
check "the first that is the cluster's default" "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[1-2]" \
  "$(scontrol show topology | head -1)"
check "another" "BlockName=b2 BlockIndex=1 Nodes=n[2,4] BlockSize=2" "$(scontrol show topology blk node=n4)"
check "what has both" "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[1-2]" \
  "$(scontrol show topology 'n[2-3]')"
check "nothing of a flat one" "" "$(scontrol show topology plain)"
scontrol show topoconf > conf.yaml
check "topoconf" "net plain blk rng" "$(sed -n 's/^- topology: //p' conf.yaml | xargs)"
check "blocks" "n[1,3]" "$(where -p blk -N2)"
ranks() {
  timeout 30 srun -Q -l -p blk -N4 -n4 "$@" printenv SLURMD_NODENAME </dev/null | sort -n | sed 's/.*: //' | xargs
}
check "tasks go over nodes block by block, however they go" "n1 n3 n2 n4 | n1 n3 n2 n4" "$(ranks) | $(ranks -m block)"
check "segments apart" "n[1-2]" "$(where -p blk -N2 --segment=1 --spread-segments)"
check "segments that do not add up" "srun: error: Unable to allocate resources: Node count specification invalid" \
  "$(where -p blk -N3 --segment=2 || true)"
check "not with switches" \
  "srun: error: Unable to allocate resources: --spread-segments needs TopologyPlugin=topology/block" \
  "$(where -N2 --spread-segments || true)"
check "a ring" "n[2-3]" "$(scontrol create res reservationname=x start=now dur=5 nodes=n[1,4] user=nobody >/dev/null
    where -p rng -N2; scontrol delete reservationname=x)"
a=$(sbatch --parsable -o /dev/null -p blk -N1 --exclusive=topo --wrap 'sleep 60'); running "$a"
check "a block to itself" "n1 n2" "$(squeue -h -j "$a" -o %N) $(where -p blk -N1)"
scancel "$a"; wait_empty
scontrol create res reservationname=x start=now dur=5 nodes=n[2,4] user=nobody >/dev/null
a=$(sbatch --parsable -o sw.txt -N2 --switches=1 --wrap 'echo $SLURM_JOB_NODELIST'); sleep 1
check "few switches are waited for" "PD" "$(squeue -h -j "$a" -o %t)"
becomes "for a while, though nothing happens then" "n[1,3]" '"$(cat sw.txt)"'
scontrol delete reservationname=x
check "no such topology" "slurm_update error: Requested topology configuration is not available" \
  "$(scontrol update partitionname=blk topology=nosuch 2>&1)"

# Labels.
check "somebody else's label" "sbatch: error: Batch job submission failed: Invalid mcs_label specified" \
  "$(sbatch --mcs-label=nobody --wrap true 2>&1)"
check "none" "N/A" "$(srun -Q sh -c 'scontrol -o show job $SLURM_JOB_ID' | grep -o 'MCS_label=[^ ]*' | cut -d= -f2)"
a=$(sbatch --parsable -o /dev/null --mem=10 -w n1 --exclusive=mcs --wrap 'sleep 60'); running "$a"
me=$(id -un)
check "its user's" "$me n1" "$(squeue -h -j "$a" -O mcslabel:20,nodelist:20 | xargs)"
check "the node says so" "MCS_label=$me" "$(scontrol -o show node n1 | grep -o 'MCS_label=[^ ]*')"
check "others go elsewhere" n2 "$(where --mem=10)"
check "but for those of that label" n1 "$(where --mem=10 --exclusive=mcs -w n1)"
scancel "$a"; wait_empty
