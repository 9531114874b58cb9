#!/usr/bin/env bash
# topology/block: BlockAsNodeRank and nodes named by their block. ResvOverRun: a job beyond its reservation's end.
. "$(dirname "$0")/lib.bash"
printf 'BlockName=a Nodes=n[2,4]\nBlockName=b Nodes=n[1,3]\nBlockSizes=2\n' > "$dir/topology.conf"
start_cluster 4 1 "TopologyPlugin=topology/block
TopologyParam=BlockAsNodeRank
ResvOverRun=1"
check "nodes of a block are neighbours" "n2 n4" \
  "$(srun -N2 -n2 -l --exclusive sh -c 'echo $SLURMD_NODENAME' | sort | sed 's/.* //' | xargs)"
check "ranks follow the blocks" "0: n2|1: n4|2: n1|3: n3|" \
  "$(srun -N4 -n4 -l sh -c 'echo $SLURMD_NODENAME' | sort | tr '\n' '|')"
check "SLURM_JOB_NODELIST is in the order of ranks" "n[2,4,1,3]" "$(srun -N4 -n4 printenv SLURM_JOB_NODELIST | uniq)"
# block{b} names the nodes of a block, blockwith{n2} those of a node's block.
id=$(sbatch --parsable -H -N2 -w 'block{b}' -x 'blockwith{n2}' --wrap true)
check "sbatch -w block{}, -x blockwith{}" "ReqNodeList=n[1,3] ExcNodeList=n[2,4]" \
  "$(scontrol show job "$id" | grep -o 'ReqNodeList=.*')"
check "an unknown block" "Invalid node name specified" \
  "$(sbatch -H -w 'block{c}' --wrap true 2>&1 | sed 's/.*: //')"
check "srun -w block{}" "n1 n3" "$(srun -N2 -w 'block{b}' sh -c 'echo $SLURMD_NODENAME' | sort | xargs)"
check "a step with -w blockwith{}" "n1" \
  "$(salloc -Q -N2 -w 'block{b}' srun -N1 -w 'blockwith{n1}' -x n3 sh -c 'echo $SLURMD_NODENAME')"
scancel "$id"; scontrol update nodename='blockwith{n2}' state=drain reason=x
check "scontrol update nodename=blockwith{}" "n[2,4]" "$(sinfo -h -t drained -o %N)"
scontrol update nodename='block{a}' state=resume
# ResvOverRun=1: a job may run a minute beyond the end of its reservation.
me=$(id -un)
scontrol create reservation reservationname=r starttime=now end=now+70 nodes=n1 users="$me" >/dev/null
id=$(sbatch --parsable -o o.txt --reservation=r -t 1 --wrap 'sleep 300'); running "$id"
scontrol update jobid="$id" timelimit=10
scontrol update reservation=r end=now+5 >/dev/null
end=$(date -d "$(scontrol show res r | sed -n 's/.* EndTime=\([^ ]*\).*/\1/p')" +%s)
sleep $((end + 55 - $(date +%s)))     # until 55 s after the reservation's end: the job runs over
check "the job runs in the minute of ResvOverRun" R "$(squeue -h -o %t -j "$id")"
check "the reservation stays for that minute" r "$(scontrol show res | sed -n 's/^ReservationName=\([^ ]*\).*/\1/p')"
late=$(sbatch --parsable -o /dev/null --reservation=r --wrap true 2>&1) || true
sleep 1     # 1 s: the job does not start
check "no job starts in that minute" "" \
  "$([[ "$late" =~ ^[0-9]+$ ]] && squeue -h -t R,CG,CD -o %t -j "$late" 2>/dev/null)"
becomes "after that minute the job ends" TIMEOUT '"$(squeue -h -t all -o %T -j "$id")"'
over=$(date -d "$(scontrol show job "$id" | sed -n 's/.* EndTime=\([^ ]*\).*/\1/p')" +%s)
match "the job ends a minute after the reservation" '^(59|60|61|62|63)$' "$((over - end))"
becomes "the reservation is removed" "No reservations in the system" '"$(scontrol show res)"'
