#!/usr/bin/env bash
# Channels of an NVIDIA IMEX domain: each job sees the device of its own, on all of its nodes, and no other. The
# device is made of a number that
# has no driver: nothing is opened. shows: SwitchType, SwitchParameters
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: devices are made by root alone"; exit 0; }
printf 'BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n' > "$dir/topology.conf"
start_cluster 4 2 "SwitchType=switch/nvidia_imex
SwitchParameters=imex_channel_count=3,imex_dev_major=4
TopologyPlugin=topology/block"
at=/dev/nvidia-caps-imex-channels
seen() { srun --quiet "$@" ls $at | sort | uniq -c | xargs; }
check "one for all nodes of a job" "4 channel0" "$(seen -N4)"
wait_empty
check "one for each segment" "2 channel0 2 channel1" "$(seen -N4 --segment=2 --network=unique-channel-per-segment)"
wait_empty
check "of the job's user alone" "crw------- 4 0 $(id -un)" "$(srun --quiet -N1 stat -c '%A %Hr %Lr %U' $at/channel0)"
wait_empty
id=$(sbatch --parsable -N1 -o "$dir/out" --wrap "ls $at; srun --quiet ls $at; sleep 60")
soon '[ "$(cat "$dir/out" 2>/dev/null | wc -l)" = 2 ]'
check "scripts and steps of a job have the same" "channel0 channel0" "$(xargs < "$dir/out")"
check "other jobs have others" "1 channel1" "$(seen -N1)"
more="$(sbatch --parsable -N1 --wrap "sleep 60") $(sbatch --parsable -N1 --wrap "sleep 60")"; sleep 0.5
last=$(sbatch --parsable -N1 -o "$dir/last" --wrap "ls $at"); sleep 1
check "whoever finds none waits" "PD (Resources)" "$(squeue -h -j "$last" -o '%t %r' | sed 's/ \(.*\)/ (\1)/')"
scancel "$id"; soon '[ -s "$dir/last" ]'
check "until one is free" "channel0" "$(cat "$dir/last")"
check "the node itself has none" "" "$(ls $at)"
scancel $more
match "words of another network are refused" "needs an HPE Slingshot network" "$(srun -N1 --network=job_vni true 2>&1)"
