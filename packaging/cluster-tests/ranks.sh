#!/usr/bin/env bash
# Nodes taken in the order of their blocks, and what runs on when its reservation is over.
. "$(dirname "$0")/lib.bash"
printf 'BlockName=a Nodes=n[2,4]\nBlockName=b Nodes=n[1,3]\nBlockSizes=2\n' > "$dir/topology.conf"
start_cluster 4 1 "TopologyPlugin=topology/block
TopologyParam=BlockAsNodeRank
ResvOverRun=1"
check "nodes of a block are neighbours" "n2 n4" \
  "$(srun -N2 -n2 -l --exclusive sh -c 'echo $SLURMD_NODENAME' | sort | sed 's/.* //' | xargs)"
check "and so are the others" "0: n2|1: n4|2: n1|3: n3|" \
  "$(srun -N4 -n4 -l sh -c 'echo $SLURMD_NODENAME' | sort | tr '\n' '|')"
check "as they are said to be" "n[2,4,1,3]" "$(srun -N4 -n4 printenv SLURM_JOB_NODELIST | uniq)"
# Nodes by the block that they are in, or that another is in, in what commands send.
id=$(sbatch --parsable -H -N2 -w 'block{b}' -x 'blockwith{n2}' --wrap true)
check "nodes of a block are named by it" "ReqNodeList=n[1,3] ExcNodeList=n[2,4]" \
  "$(scontrol show job "$id" | grep -o 'ReqNodeList=.*')"
check "a block that there is not is no node" "Invalid node name specified" \
  "$(sbatch -H -w 'block{c}' --wrap true 2>&1 | sed 's/.*: //')"
check "by srun as well" "n1 n3" "$(srun -N2 -w 'block{b}' sh -c 'echo $SLURMD_NODENAME' | sort | xargs)"
check "and its steps" "n1" \
  "$(salloc -Q -N2 -w 'block{b}' srun -N1 -w 'blockwith{n1}' -x n3 sh -c 'echo $SLURMD_NODENAME')"
scancel "$id"; scontrol update nodename='blockwith{n2}' state=drain reason=x
check "and drained" "n[2,4]" "$(sinfo -h -t drained -o %N)"
scontrol update nodename='block{a}' state=resume
# ResvOverRun=1: a minute beyond its end, and no longer.
me=$(id -un)
scontrol create reservation reservationname=r starttime=now end=now+70 nodes=n1 users="$me" >/dev/null
id=$(sbatch --parsable -o o.txt --reservation=r -t 1 --wrap 'sleep 300'); running "$id"
scontrol update jobid="$id" timelimit=10
scontrol update reservation=r end=now+5 >/dev/null
end=$(date -d "$(scontrol show res r | sed -n 's/.* EndTime=\([^ ]*\).*/\1/p')" +%s)
while [ "$(date +%s)" -lt $((end + 55)) ]; do sleep 1; done
check "in the last minute it still runs, and the reservation is there" "R r" \
  "$(squeue -h -o %t -j "$id") $(scontrol show res | sed -n 's/^ReservationName=\([^ ]*\).*/\1/p')"
late=$(sbatch --parsable -o /dev/null --reservation=r --wrap true 2>&1) || true
sleep 1
check "nobody begins in it then" "" "$([[ "$late" =~ ^[0-9]+$ ]] && squeue -h -t R,CG,CD -o %t -j "$late" 2>/dev/null)"
becomes "then it is over" TIMEOUT '"$(squeue -h -t all -o %T -j "$id")"'
over=$(date -d "$(scontrol show job "$id" | sed -n 's/.* EndTime=\([^ ]*\).*/\1/p')" +%s)
match "a minute after the reservation" '^(59|60|61|62|63)$' "$((over - end))"
becomes "and the reservation gone" "No reservations in the system" '"$(scontrol show res)"'
