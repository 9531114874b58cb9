#!/usr/bin/env bash
# gres.conf: variables of GPUs, explicit resources, detected GPUs. fake_gpus.conf stands for a driver.
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
cat > "$dir/variables" <<'S'
#!/bin/sh
env | grep -E "^(CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|ZE_AFFINITY_MASK|GPU_DEVICE_ORDINAL)=" | sort | paste -sd" "
S
chmod 755 "$dir/variables"
seen() { env -u CUDA_VISIBLE_DEVICES srun -Q "$@" "$dir/variables"; }
check "a flag of gres.conf names the variables" "ROCR_VISIBLE_DEVICES=0" "$(seen --gres=gpu:1)"
check "the prolog has the same variable" "ROCR_VISIBLE_DEVICES=0" "$(cat "$dir/prolog.env")"
check "SLURM_STEP_GPUS has the GPUs by number" "0,1" "$(srun -Q --gres=gpu:2 printenv SLURM_STEP_GPUS)"
check "an interactive step has SLURM_JOB_GPUS and no SLURM_STEP_GPUS" "0,1 none" \
  "$(salloc -Q -n1 --gres=gpu:2 srun -Q --interactive sh -c 'echo $SLURM_JOB_GPUS ${SLURM_STEP_GPUS-none}')"
check "srun takes --gpus-per-task with --ntasks-per-node" 0 \
  "$(srun -Q --gpus-per-task=1 --ntasks-per-node=1 true >/dev/null 2>&1 && echo 0 || echo 1)"
check "a step's tasks have the options of the step in variables" "1 2" \
  "$(salloc -Q -n2 --gpus=2 srun -Q -n1 --gpus=1 --cpus-per-gpu=2 sh -c 'echo $SLURM_GPUS $SLURM_CPUS_PER_GPU')"
check "--gpu-bind with allow-task-sharing" "0 1" "$(env -u CUDA_VISIBLE_DEVICES srun -Q -n2 \
    --gres=gpu:2 --gpu-bind=map_gpu:0,1 --gres-flags=allow-task-sharing printenv ROCR_VISIBLE_DEVICES | sort | xargs)"
used() { salloc -Q "$@" scontrol show node n1 -d | sed -n 's/ *GresUsed=//p'; }
check "--exclusive allocates all resources except explicit resources" "gpu:2(IDX:0-1),r1:1,r2:0" "$(used --exclusive)"
check "GPUs can be reserved" "Reservation created: keep" \
  "$(scontrol create reservation=keep user="$(id -un)" starttime=now duration=5 TRES=gres/gpu=1,cpu=1)"
match "scontrol shows the reserved GPUs" 'CoreCnt=1.*TRES=cpu=1,gres/gpu=1 ' "$(scontrol show reservation keep | xargs)"
check "scontrol --json shows the reserved GPUs" "cpu=1,gres/gpu=1" \
  "$(scontrol --json show reservation keep | grep -o '"tres": "[^"]*' | cut -d'"' -f4 | tr -d "\\\\")"
check "a job of the reservation gets the reserved GPU" "0" \
  "$(srun -Q --reservation=keep --gres=gpu:1 printenv SLURM_STEP_GPUS)"
check "a job outside the reservation gets the other GPU" "1" "$(srun -Q --gres=gpu:1 printenv SLURM_STEP_GPUS)"
match "a job outside the reservation does not get both GPUs" "Unable to allocate resources" \
  "$(srun -I1 --gres=gpu:2 true 2>&1 || true)"
scontrol delete reservation=keep
scontrol create reservation=keep user="$(id -un)" starttime=now duration=5 nodes=n1 TRES=gres/gpu=2 >/dev/null
check "a reservation of GPUs without cores has all cores of the node" "CoreCnt=2 TRES=cpu=2,gres/gpu=2" \
  "$(scontrol -o show reservation keep | grep -oE '(CoreCnt|TRES)=[^ ]*' | xargs)"
match "a job outside the reservation gets no core of the node" "Unable to allocate resources" \
  "$(srun -I1 true 2>&1 || true)"
scontrol delete reservation=keep
# --overcommit: tasks with a GPU each share no CPU.
match "--overcommit with a GPU per task and no CPU per task is refused" \
  "Requested node configuration is not available" "$(sbatch -O -n2 --tres-per-task=gres/gpu:1 --wrap true 2>&1 || true)"
check "--overcommit with a CPU and a GPU per task" "2 cpu=1,gres/gpu:1" \
  "$(salloc -Q -O -n2 --tres-per-task=cpu=1,gres/gpu:1 bash \
    -c 'echo $SLURM_JOB_CPUS_PER_NODE $(squeue -h -j $SLURM_JOB_ID -O tres-per-task:30)')"
match "a step that requests more GPUs than its job is refused" \
  "Unable to create step for job [0-9]+: Invalid generic resource" \
  "$(salloc -Q -n1 --gpus=1 srun -Q --gpus=2 true 2>&1 || true)"
match "a resource outside AccountingStorageTRES cannot be reserved" "Invalid Trackable RESource" \
  "$(scontrol create reservation=r user="$(id -un)" starttime=now duration=5 TRES=gres/r1=1 2>&1 || true)"
check "--exclusive allocates requested explicit resources" "gpu:2(IDX:0-1),r1:1,r2:1" "$(used --exclusive --gres=r2)"
state() { sinfo -h -n n1 -o "%T %E"; }
node() { stopped slurmd-n1; start_node n1; }
wait_empty
printf 'a100|2|(null)|(null)|%s/gpu0|(null)|nvidia_gpu_env\na100|2|(null)|(null)|%s/gpu1|(null)|nvidia_gpu_env\n' \
  "$dir" "$dir" > "$dir/fake_gpus.conf"
printf 'AutoDetect=nvidia\nName=r2 Flags=explicit\n' > "$dir/gres.conf"; node
check "slurmd -G lists detected GPUs" \
  "slurmd: Gres Name=gpu Type=(null) Count=1 Index=0 ID=7696487 File=$dir/gpu0 (null)" \
  "$(slurmd -G -N n1 2>&1 | grep -m1 Name=gpu)"
reread; soon '[ "$(state)" = "idle none" ]'
check "detected GPUs of NVIDIA set CUDA_VISIBLE_DEVICES" "CUDA_VISIBLE_DEVICES=0,1" "$(seen --gres=gpu:2)"
printf 'a100|2|(null)|(null)|%s/gpu0|GPU-aa|nvidia_gpu_env\na100|2|(null)|(null)|%s/gpu1|GPU-bb|nvidia_gpu_env\n' \
  "$dir" "$dir" > "$dir/fake_gpus.conf"
printf 'Name=gpu File=%s/gpu[0-1] Flags=env_uuid\nName=r2 Flags=explicit\n' "$dir" > "$dir/gres.conf"
node
reread
soon '[ "$(state)" = "idle none" ]'
check "GPUs by their UUIDs" \
  "CUDA_VISIBLE_DEVICES=GPU-aa,GPU-bb GPU_DEVICE_ORDINAL=0,1 ROCR_VISIBLE_DEVICES=GPU-aa,GPU-bb ZE_AFFINITY_MASK=0,1" \
  "$(seen --gres=gpu:2)"
check "GPUs by their UUIDs for each task" "GPU-aa GPU-bb" \
  "$(env -u CUDA_VISIBLE_DEVICES srun -Q -n2 --gpus-per-task=1 printenv CUDA_VISIBLE_DEVICES | sort | xargs)"
check "GPUs by their UUIDs in the prolog" "CUDA_VISIBLE_DEVICES=GPU-aa,GPU-bb" "$(grep CUDA "$dir/prolog.env")"
printf 'AutoDetect=nvidia\nName=gpu File=%s/gpu0 Type=h100\n' "$dir" > "$dir/gres.conf"; node
soon '[ "$(sinfo -h -n n1 -o %T)" = drained ]'
becomes "a detected GPU that differs from gres.conf drains the node" \
  "drained gres.conf and the GPU $dir/gpu0 differ: Type=h100, but it is a100" '"$(state)"'
head -1 "$dir/fake_gpus.conf" > "$dir/one"
mv "$dir/one" "$dir/fake_gpus.conf"
echo AutoDetect=nvidia > "$dir/gres.conf"
scontrol update NodeName=n1 State=RESUME; node; soon '[ "$(sinfo -h -n n1 -o %T)" = drained ]'
becomes "fewer detected GPUs than in slurm.conf drain the node" \
  "drained gres/gpu count reported lower than configured (1 < 2)" '"$(state)"'
: > "$dir/gres.conf"
sed -i "s/^SlurmctldPort=.*/&\nSlurmdPort=$((port + 15))/" "$SLURM_CONF"; scontrol reconfigure
mkdir -p "$dir/spool/extra"
slurmd -Z -N extra -f "$SLURM_CONF" \
  -d "$prefix/sbin/slurmstepd" --conf "Gres=r1:3" </dev/null >>"$dir/log/start.out" 2>&1
soon 'scontrol show node extra 2>/dev/null | grep -q State=IDLE'
becomes "a dynamic node registers with its detected GPUs" "Gres=r1:3,gpu:a100:1" \
  '"$(scontrol show node extra | grep -o "Gres=.*")"'
match "a dynamic node logs its detected GPUs" "Autodetected Gres for dynamic node extra: gpu:a100:1" \
  "$(cat "$dir/log/slurmd-extra.log")"
