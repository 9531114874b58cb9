#!/usr/bin/env bash
# Maximum and minimum usage of a step's tasks, and their nodes: sampled while the tasks run and read from the kernel at
# their end.
. "$(dirname "$0")/lib.bash"
start_cluster 2 2 "JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1"
cat > work.sh <<'W'
#!/bin/bash
case $SLURM_PROCID in
  1) head -c 30000000 /dev/zero > /dev/null; sleep 5 ;;
  2) eat='my @a; push @a, q(x) x 1048576 for 1..60; sleep 5'
     (perl -e "$eat" & perl -e "$eat"; wait) ;;
  3) sleep 4; perl -e '$e = time + 1; 1 while time <= $e' ;;
  *) sleep 5 ;;
esac
W
chmod +x work.sh
srun -N2 -n4 -m block ./work.sh
soon '[ "$(sacct -n -P -j 1.0 -o state)" = COMPLETED ]'
row() { sacct -nP -j 1.0 --noconvert -o "$1"; }
match "how fast its CPUs ran" "^[0-9.]+[KMG]\|Unknown" "$(row AveCPUFreq,ReqCPUFreqMax)"
check "the task with the most memory, and its node" "2|n2" "$(row MaxRSSTask,MaxRSSNode)"
rss=$(row MaxRSS)
check "both processes of the task count" yes "$([ "$rss" -gt 120000000 ] && echo yes)"
check "the average is less than half of the maximum" yes "$([ "$(row AveRSS)" -lt $((rss / 2)) ] && echo yes)"
check "the task with the most virtual memory" 2 "$(row MaxVMSizeTask)"
check "virtual memory is counted" yes "$([ "$(row MaxVMSize)" -gt 120000000 ] && echo yes)"
check "the task with the most reads and writes" "1|n1|1|n1" \
  "$(row MaxDiskReadTask,MaxDiskReadNode,MaxDiskWriteTask,MaxDiskWriteNode)"
match "the tasks of TRESUsageInMaxTask" "cpu=3,fs/disk=1,mem=2,pages=[0-3],vmem=2" "$(row TRESUsageInMaxTask)"
match "the tasks of TRESUsageInMinTask" "cpu=[012],fs/disk=[0-3],mem=[013],pages=[0-3],vmem=[013]" \
  "$(row TRESUsageInMinTask)"
check "the busy task has not the least CPU time" yes "$([ "$(row MinCPUTask)" != 3 ] && echo yes)"
