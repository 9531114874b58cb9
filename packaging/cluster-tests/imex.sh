#!/usr/bin/env bash
# Channels of an NVIDIA IMEX domain: a job sees the device of its own channel on all its nodes, and no other device. No
# driver has the number of the device: no test opens it.
# shows: SwitchType, SwitchParameters
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: devices are made by root alone"; exit 0; }
printf 'BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n' > "$dir/topology.conf"
start_cluster 4 2 "SwitchType=switch/nvidia_imex
SwitchParameters=imex_channel_count=3,imex_dev_major=4
TopologyPlugin=topology/block"
at=/dev/nvidia-caps-imex-channels
seen() { srun --quiet "$@" ls $at | sort | uniq -c | xargs; }
check "all nodes of a job have the same channel" "4 channel0" "$(seen -N4)"
wait_empty
check "unique-channel-per-segment: each segment has a channel" "2 channel0 2 channel1" \
  "$(seen -N4 --segment=2 --network=unique-channel-per-segment)"
wait_empty
check "the device belongs to the job's user" "crw------- 4 0 $(id -un)" \
  "$(srun --quiet -N1 stat -c '%A %Hr %Lr %U' $at/channel0)"
wait_empty
id=$(sbatch --parsable -N1 -o "$dir/out" --wrap "ls $at; srun --quiet ls $at; sleep 60")
soon '[ "$(cat "$dir/out" 2>/dev/null | wc -l)" = 2 ]'
check "the script and the steps of a job have the same channel" "channel0 channel0" "$(xargs < "$dir/out")"
check "another job has another channel" "1 channel1" "$(seen -N1)"
more="$(sbatch --parsable -N1 --wrap "sleep 60") $(sbatch --parsable -N1 --wrap "sleep 60")"
soon '[ "$(squeue -h -t R -o %i | wc -l)" = 3 ]'
last=$(sbatch --parsable -N1 -o "$dir/last" --wrap "ls $at")
becomes "a job without a free channel is pending" "PD Resources" '"$(squeue -h -j "$last" -o "%t %r")"'
scancel "$id"; soon '[ -s "$dir/last" ]'
check "the pending job gets the freed channel" "channel0" "$(cat "$dir/last")"
check "the host has no channel" "" "$(ls $at)"
scancel $more
match "--network of another switch plugin is refused" "needs an HPE Slingshot network" \
  "$(srun -N1 --network=job_vni true 2>&1)"
