#!/usr/bin/env bash
# cgroup.conf: memory, CPUs and devices that a job may use. Needs root and control groups of version 1 with devices,
# cpuset and memory; otherwise it is skipped.
# shows: GresTypes, ProctrackType, TaskPlugin
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] && mkdir /sys/fs/cgroup/devices/muster-test-$$ 2>/dev/null \
  && rmdir /sys/fs/cgroup/devices/muster-test-$$ || { echo "skipped: no writable control groups of version 1"; exit 0; }
mknod "$dir/dev0" c 1 5; mknod "$dir/dev1" c 1 7; chmod 666 "$dir"/dev[01]
cat > "$dir/gres.conf" <<C
Name=gpu File=$dir/dev[0-1]
C
cat > "$dir/cgroup.conf" <<C
CgroupPlugin=autodetect
ConstrainCores=yes
ConstrainDevices=yes
ConstrainRAMSpace=yes
ConstrainSwapSpace=yes
AllowedRAMSpace=150
MinRAMSpace=30
C
start_cluster 1 2 "GresTypes=gpu
PrologFlags=Contain
NodeName=DEFAULT Gres=gpu:2"
sed -i "s|^TaskPlugin=.*|TaskPlugin=task/cgroup,task/affinity|; s|^ProctrackType=.*|ProctrackType=proctrack/cgroup|" \
  "$SLURM_CONF"
reread
soon '[ "$(sinfo -h -o %T)" = idle ]'
suffix=$(ls -t -d /sys/fs/cgroup/cpuset/slurm_n1_* | head -1 | sed 's/.*_//')
run() { timeout 30 srun -Q "$@" </dev/null 2>&1; }
group() { echo "sed -n 's/^[0-9]*:$1://p' /proc/self/cgroup"; }

check "the soft limit is the requested memory" $((70 << 20)) \
  "$(run --mem=70M sh -c "cat /sys/fs/cgroup/memory\$($(group memory))/memory.soft_limit_in_bytes")"
check "AllowedRAMSpace" $((105 << 20)) \
  "$(run --mem=70M sh -c "cat /sys/fs/cgroup/memory\$($(group memory))/memory.limit_in_bytes")"
check "ConstrainSwapSpace" $((105 << 20)) \
  "$(run --mem=70M sh -c "cat /sys/fs/cgroup/memory\$($(group memory))/memory.memsw.limit_in_bytes")"
check "MinRAMSpace" $((30 << 20)) \
  "$(run --mem=1M sh -c "cat /sys/fs/cgroup/memory\$($(group memory))/memory.limit_in_bytes")"
one=$(run -n1 --cpu-bind=none sh -c "cat /sys/fs/cgroup/cpuset\$($(group cpuset))/cpuset.cpus")
match "ConstrainCores" '^[0-9]+$' "$one"
match "a task cannot leave its CPUs" '^[0-9]+$' \
  "$(run -n1 sh -c 'taskset -pc 0-1023 $$ >/dev/null 2>&1; sed -n "s/^Cpus_allowed_list:\t//p" /proc/self/status')"
check "a job of all CPUs has all CPUs of the node" 2 \
  "$(run -n2 -l sh -c "cat /sys/fs/cgroup/cpuset\$($(group cpuset))/cpuset.effective_cpus" \
    | grep -c "$(cat /sys/fs/cgroup/cpuset/cpuset.effective_cpus)")"
look='for d in 0 1; do head -c1 '$dir'/dev$d >/dev/null 2>&1 && echo -n yes, || echo -n no,; done'
look+='; echo $CUDA_VISIBLE_DEVICES'
check "a job without GPUs reaches no device" "no,no," "$(run sh -c "$look")"
check "a job with one GPU reaches one device, counted from 0" "yes,no,0" "$(run --gres=gpu:1 sh -c "$look")"
check "a job with two GPUs reaches both devices" "yes,yes,0,1" "$(run --gres=gpu:2 sh -c "$look")"
cat > dev.sh <<S
#!/bin/bash
srun --gres=gpu:1 -n1 -Q --exact sh -c 'touch first; until [ -e second ]; do sleep 0.1; done; $look' &
until [ -e first ]; do sleep 0.1; done
srun --gres=gpu:1 -n1 -Q --exact sh -c 'touch second; $look'
wait
S
sbatch -n2 -o "$dir/work/dev" --gres=gpu:2 dev.sh >/dev/null
wait_empty
check "two steps at once reach a device each" "no,yes,0|yes,no,0|" "$(sort "$dir/work/dev" | tr '\n' '|')"
check "the extern step is in its group" 1 \
  "$(timeout 20 srun sh -c 'ls -d /sys/fs/cgroup/memory/slurm_n1_*/job_$SLURM_JOB_ID/step_extern' </dev/null | wc -l)"
rc=0; timeout 60 srun -Q --mem=40M python3 -c 'x = b"x" * (200 << 20)' </dev/null >"$dir/work/oom" 2>&1 || rc=$?
match "srun reports the out-of-memory event" \
  'oom_kill event in StepId=[0-9]+\.0\. Some of the step tasks have been OOM Killed' "$(cat "$dir/work/oom")"
soon '[ -n "$(sacct -X -n -P -o state | grep OUT)" ]'
match "the job's state is OUT_OF_MEMORY" OUT_OF_MEMORY "$(sacct -n -P -o state | sort -u | tr '\n' ' ')"
two() {
  timeout 60 srun -Q -n2 --mem=60M --kill-on-bad-exit=0 \
    "$@" sh -c 'if [ $SLURM_PROCID = 0 ]; then python3 -c "x = b\"x\" * (200 << 20)"; else sleep 2; echo survived; fi' \
    </dev/null 2>/dev/null || true
}
check "the other tasks of the step go on" survived "$(two)"
check "--oom-kill-step ends the other tasks" "" "$(two --oom-kill-step)"
wait_empty
becomes "no control group of a job stays behind" "" \
  '"$(find /sys/fs/cgroup -type d -path "*/slurm_n1_$suffix/job_*" 2>/dev/null)"'
