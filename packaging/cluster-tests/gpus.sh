#!/usr/bin/env bash
# gres.conf: which variables tell of GPUs, resources that are given only to who asks, GPUs that are found.
# fake_gpus.conf stands for a driver.
. "$(dirname "$0")/lib.bash"
for i in 0 1; do touch "$dir/gpu$i"; done
cat > "$dir/gres.conf" <<C
Name=gpu File=$dir/gpu[0-1] Flags=amd_gpu_env
Name=r2 Flags=explicit,CountOnly
C
cluster() { start_cluster 1 2 "GresTypes=gpu,r1,r2
AccountingStorageTRES=gres/gpu
MaxNodeCount=4
PrologFlags=Alloc
Prolog=$dir/prolog
NodeName=DEFAULT Gres=$1"; }
printf '#!/bin/sh\nenv | grep -E "CUDA|ROCR|ZE_AFF|ORDINAL" > %s/prolog.env\nexit 0\n' "$dir" > "$dir/prolog"
chmod 755 "$dir/prolog"
cluster gpu:2,r1:1,r2:2
seen() {
  env -u CUDA_VISIBLE_DEVICES srun -Q "$@" sh -c \
    'env | grep -E "^(CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|ZE_AFFINITY_MASK|GPU_DEVICE_ORDINAL)=" | sort | paste -sd" "'
}
check "a flag of gres.conf names the variables" "ROCR_VISIBLE_DEVICES=0" "$(seen --gres=gpu:1)"
check "for prologs too" "ROCR_VISIBLE_DEVICES=0" "$(cat "$dir/prolog.env")"
check "by number, whatever the step sees them as" "0,1" "$(srun -Q --gres=gpu:2 printenv SLURM_STEP_GPUS)"
check "as a script's to the shell of an allocation" "0,1 none" \
  "$(salloc -Q -n1 --gres=gpu:2 srun -Q --interactive sh -c 'echo $SLURM_JOB_GPUS ${SLURM_STEP_GPUS-none}')"
check "srun takes --gpus-per-task with --ntasks-per-node" 0 \
  "$(srun -Q --gpus-per-task=1 --ntasks-per-node=1 true >/dev/null 2>&1 && echo 0 || echo 1)"
check "a step's tasks are told what was typed for it" "1 2" \
  "$(salloc -Q -n2 --gpus=2 srun -Q -n1 --gpus=1 --cpus-per-gpu=2 sh -c 'echo $SLURM_GPUS $SLURM_CPUS_PER_GPU')"
check "each task its own, with leave for the others'" "0 1" "$(env -u CUDA_VISIBLE_DEVICES srun -Q -n2 \
    --gres=gpu:2 --gpu-bind=map_gpu:0,1 --gres-flags=allow-task-sharing printenv ROCR_VISIBLE_DEVICES | sort | xargs)"
used() { salloc -Q "$@" scontrol show node n1 -d | sed -n 's/ *GresUsed=//p'; }
check "all of a node, but for what is explicit" "gpu:2(IDX:0-1),r1:1,r2:0" "$(used --exclusive)"
check "GPUs are reserved" "Reservation created: keep" \
  "$(scontrol create reservation=keep user="$(id -un)" starttime=now duration=5 TRES=gres/gpu=1,cpu=1)"
match "and shown" 'CoreCnt=1.*TRES=cpu=1,gres/gpu=1 ' "$(scontrol show reservation keep | xargs)"
check "as JSON" "cpu=1,gres/gpu=1" \
  "$(scontrol --json show reservation keep | grep -o '"tres": "[^"]*' | cut -d'"' -f4 | tr -d "\\\\")"
check "for who has reserved them" "0" "$(srun -Q --reservation=keep --gres=gpu:1 printenv SLURM_STEP_GPUS)"
check "and not for others" "1" "$(srun -Q --gres=gpu:1 printenv SLURM_STEP_GPUS)"
match "who wait for both" "Unable to allocate resources" "$(srun -I1 --gres=gpu:2 true 2>&1 || true)"
scontrol delete reservation=keep
check "without a number of cores all of the node" "CoreCnt=2 TRES=cpu=2,gres/gpu=2" \
  "$(scontrol create reservation=keep user="$(id -un)" starttime=now duration=5 nodes=n1 TRES=gres/gpu=2 >/dev/null; \
    scontrol -o show reservation keep | grep -oE '(CoreCnt|TRES)=[^ ]*' | xargs)"
match "which others have nothing of" "Unable to allocate resources" "$(srun -I1 true 2>&1 || true)"
scontrol delete reservation=keep
# --overcommit: tasks with a GPU each share no CPU.
match "of such tasks nothing is said of CPUs" "Requested node configuration is not available" \
  "$(sbatch -O -n2 --tres-per-task=gres/gpu:1 --wrap true 2>&1 || true)"
check "or each has its own" "2 cpu=1,gres/gpu:1" "$(salloc -Q -O -n2 --tres-per-task=cpu=1,gres/gpu:1 bash -c \
  'echo $SLURM_JOB_CPUS_PER_NODE $(squeue -h -j $SLURM_JOB_ID -O tres-per-task:30)')"
match "a step asks for no more GPUs than its job has" "Unable to create step for job [0-9]+: Invalid generic resource" \
  "$(salloc -Q -n1 --gpus=1 srun -Q --gpus=2 true 2>&1 || true)"
match "only what is tracked is reserved" "Invalid Trackable RESource" \
  "$(scontrol create reservation=r user="$(id -un)" starttime=now duration=5 TRES=gres/r1=1 2>&1 || true)"
check "and with what was asked for of it" "gpu:2(IDX:0-1),r1:1,r2:1" "$(used --exclusive --gres=r2)"
state() { sinfo -h -n n1 -o "%T %E"; }
node() {
  kill "$(pid_of slurmd-n1)"
  while kill -0 "$(pid_of slurmd-n1)" 2>/dev/null; do
    sleep 0.1
  done
  start_node n1
}
wait_empty
printf 'a100|2|(null)|(null)|%s/gpu0|(null)|nvidia_gpu_env\na100|2|(null)|(null)|%s/gpu1|(null)|nvidia_gpu_env\n' \
  "$dir" "$dir" > "$dir/fake_gpus.conf"
printf 'AutoDetect=nvidia\nName=r2 Flags=explicit\n' > "$dir/gres.conf"; node
check "GPUs that are found" "slurmd: Gres Name=gpu Type=(null) Count=1 Index=0 ID=7696487 File=$dir/gpu0 (null)" \
  "$(slurmd -G -N n1 2>&1 | grep -m1 Name=gpu)"
reread; soon '[ "$(state)" = "idle none" ]'
check "and are NVIDIA's" "CUDA_VISIBLE_DEVICES=0,1" "$(seen --gres=gpu:2)"
printf 'a100|2|(null)|(null)|%s/gpu0|GPU-aa|nvidia_gpu_env\na100|2|(null)|(null)|%s/gpu1|GPU-bb|nvidia_gpu_env\n' \
  "$dir" "$dir" > "$dir/fake_gpus.conf"
printf 'Name=gpu File=%s/gpu[0-1] Flags=env_uuid\nName=r2 Flags=explicit\n' "$dir" > "$dir/gres.conf"
node
reread
soon '[ "$(state)" = "idle none" ]'
check "GPUs by their UUIDs" \
  "CUDA_VISIBLE_DEVICES=GPU-aa,GPU-bb GPU_DEVICE_ORDINAL=0,1 ROCR_VISIBLE_DEVICES=GPU-aa,GPU-bb ZE_AFFINITY_MASK=0,1" \
  "$(seen --gres=gpu:2)"
check "of each task" "GPU-aa GPU-bb" \
  "$(env -u CUDA_VISIBLE_DEVICES srun -Q -n2 --gpus-per-task=1 printenv CUDA_VISIBLE_DEVICES | sort | xargs)"
check "prologs" "CUDA_VISIBLE_DEVICES=GPU-aa,GPU-bb" "$(grep CUDA "$dir/prolog.env")"
printf 'AutoDetect=nvidia\nName=gpu File=%s/gpu0 Type=h100\n' "$dir" > "$dir/gres.conf"; node
soon '[ "$(sinfo -h -n n1 -o %T)" = drained ]'
becomes "others than gres.conf says: the node is drained" \
  "drained gres.conf and the GPU $dir/gpu0 differ: Type=h100, but it is a100" '"$(state)"'
head -1 "$dir/fake_gpus.conf" > "$dir/one"
mv "$dir/one" "$dir/fake_gpus.conf"
echo AutoDetect=nvidia > "$dir/gres.conf"
scontrol update NodeName=n1 State=RESUME; node; soon '[ "$(sinfo -h -n n1 -o %T)" = drained ]'
becomes "fewer than slurm.conf says" "drained gres/gpu count reported lower than configured (1 < 2)" '"$(state)"'
: > "$dir/gres.conf"
sed -i "s/^SlurmctldPort=.*/&\nSlurmdPort=$((port + 15))/" "$SLURM_CONF"; scontrol reconfigure
mkdir -p "$dir/spool/extra"
slurmd \
  -Z -N extra -f "$SLURM_CONF" -d "$prefix/sbin/slurmstepd" --conf "Gres=r1:3" </dev/null >>"$dir/log/start.out" 2>&1
soon 'scontrol show node extra 2>/dev/null | grep -q State=IDLE'
becomes "a node that brings its line brings its GPUs" "Gres=r1:3,gpu:a100:1" \
  '"$(scontrol show node extra | grep -o "Gres=.*")"'
match "and says so" "Autodetected Gres for dynamic node extra: gpu:a100:1" "$(cat "$dir/log/slurmd-extra.log")"
