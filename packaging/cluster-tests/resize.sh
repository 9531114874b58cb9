#!/usr/bin/env bash
# A running job gives up nodes.
. "$(dirname "$0")/lib.bash"
start_cluster 3 2
cat > job.sh <<'S'
#!/bin/bash
srun -l hostname | wc -l
srun -n 3 -N 3 sleep 50 &
for i in $(seq 100); do squeue -h -s -j $SLURM_JOB_ID -o %i | grep -q '\.1$' && break; sleep 0.1; done
sleep 0.5
scontrol update JobId=$SLURM_JOB_ID NumNodes=1
. ./slurm_job_${SLURM_JOB_ID}_resize.sh
echo "now $SLURM_NNODES on $SLURM_JOB_NODELIST tasks <$SLURM_NTASKS>"
srun --overlap -l hostname | wc -l
while [ ! -e go ]; do sleep 0.2; done
scontrol show job $SLURM_JOB_ID
scontrol update JobId=$SLURM_JOB_ID NumNodes=3
pkill -P $$ srun
S
id=$(sbatch --parsable -N 3 -n 3 -o out.txt job.sh)
soon '[ "$(sinfo -h -N -t idle -o %N | xargs)" = "n2 n3" ]'
check "the nodes given up are free" "n2 n3" "$(sinfo -h -N -t idle -o %N | xargs)"
touch go
wait_empty 40
check "tasks before and after the change" "3 1" "$(grep -x '[0-9]*' out.txt | xargs)"
match "the resize script sets the environment" 'now 1 on n1 tasks <>' "$(cat out.txt)"
match "scontrol names the resize script" '  For bash or sh shells:  . ./slurm_job_'"$id"'_resize.sh' "$(cat out.txt)"
match "scontrol shows one node" 'NumNodes=1 ' "$(cat out.txt)"
check "accounting has a row for each size" "RESIZING 3 COMPLETED 1" \
  "$(sacct -n -X -P -j "$id" -o State,NNodes | tr '|\n' '  ' | sed 's/ $//')"
check "the second row begins when the first ends" "$(sacct -n -X -P -D -j "$id" -o End | head -1)" \
  "$(sacct -n -X -P -j "$id" -o Start | tail -1)"
check "steps belong to the row of the size they began in" 2 \
  "$(sacct -n -P -D -j "$id" -o JobID,NNodes | grep -cE "^$id\.[01]\|3")"
first=$(sacct -n -X -P -D -j "$id" -o SLUID | head -1)
second=$(sacct -n -X -P -j "$id" -o SLUID | tail -1)
check "the first row's SLUID" "$first|3" "$(sacct -n -X -P -j "$first" -o OriginalSLUID,NNodes)"
check "the second row's SLUID" "$first|1" "$(sacct -n -X -P -j "$second" -o OriginalSLUID,NNodes)"
match "a job cannot grow" 'Expanding a running job is not supported' "$(cat out.txt)"
