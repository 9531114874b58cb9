#!/usr/bin/env bash
# What single tasks of a step used most and least, and where: seen while they ran, and said by the kernel at their end.
. "$(dirname "$0")/lib.bash"
start_cluster 2 2 "JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1"
cat > work.sh <<'W'
#!/bin/bash
case $SLURM_PROCID in
  1) head -c 30000000 /dev/zero > /dev/null; sleep 5 ;;
  2) (perl -e 'my @a; push @a, q(x) x 1048576 for 1..60; sleep 5' & perl -e 'my @a; push @a, q(x) x 1048576 for 1..60; sleep 5'; wait) ;;
  3) sleep 4; perl -e '$e = time + 1; 1 while time <= $e' ;;
  *) sleep 5 ;;
esac
W
chmod +x work.sh
srun -N2 -n4 -m block ./work.sh
n=0; until [ "$(sacct -n -P -j 1.0 -o state)" = COMPLETED ] || [ $((n+=1)) -gt 50 ]; do sleep 0.2; done
row() { sacct -nP -j 1.0 --noconvert -o "$1"; }
match "how fast its CPUs ran" "^[0-9.]+[KMG]\|Unknown" "$(row AveCPUFreq,ReqCPUFreqMax)"
check "the task with the most memory, and its node" "2|n2" "$(row MaxRSSTask,MaxRSSNode)"
rss=$(row MaxRSS)
check "both of its processes count" yes "$([ "$rss" -gt 120000000 ] && echo yes)"
check "others have less" yes "$([ "$(row AveRSS)" -lt $((rss / 2)) ] && echo yes)"
check "virtual memory is seen as well" "2 yes" \
  "$(row MaxVMSizeTask) $([ "$(row MaxVMSize)" -gt 120000000 ] && echo yes)"
check "who reads and writes most" "1|n1|1|n1" "$(row MaxDiskReadTask,MaxDiskReadNode,MaxDiskWriteTask,MaxDiskWriteNode)"
match "and where each is told" "cpu=3,fs/disk=1,mem=2,pages=[0-3],vmem=2" "$(row TRESUsageInMaxTask)"
match "the least" "cpu=[012],fs/disk=[0-3],mem=[013],pages=[0-3],vmem=[013]" "$(row TRESUsageInMinTask)"
check "the one that counts is not the one with the least CPU time" yes "$([ "$(row MinCPUTask)" != 3 ] && echo yes)"
