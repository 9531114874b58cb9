#!/usr/bin/env bash
# Corner cases of srun and of the configuration: labels in output files, input of sattach, sampling, defaults from
# slurm.conf, privacy.
# shows: AllowSpecResourcesUsage, BcastExclude, BcastParameters, KillOnBadExit, PrivateData, SelectType
# shows: VSizeFactor, WaitTime
. "$(dirname "$0")/lib.bash"
start_cluster 2 4 "JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=30
KillOnBadExit=1
MessageTimeout=20
BcastParameters=DestDir=$dir/bcast
BcastExclude=/lib,/usr/lib,/lib64,/usr/lib64,/nowhere
VSizeFactor=200"
conf() {
  sed -i "/^${1%%=*}=/d" "$SLURM_CONF"
  echo "$1" >> "$SLURM_CONF"
  reread
  soon '[ "$(sinfo -h -N -o %t | grep -cE "^(idle|mix|alloc)$")" = 2 ]'
}

srun -Q -l -N2 -n12 -O -o "$dir/work/n%n" sh -c 'echo hello; printf end' </dev/null
check "a file for each node has every line" 24 "$(cat "$dir"/work/n0 "$dir"/work/n1 | wc -l)"
check "a file for each node has labels" 24 "$(cat "$dir"/work/n[01] | grep -cE '^( [0-9]|1[01]): (hello|end)$')"
srun -Q -l -n2 -o "$dir/work/t%t" sh -c 'echo out; echo err >&2' </dev/null
check "labels in a file for each task" "0: out 0: err 1: out 1: err" "$(cat "$dir"/work/t0 "$dir"/work/t1 | xargs)"

printf '#!/bin/bash\nsrun sh -c "echo ready; read line; echo got \\$line" < <(sleep 60)\n' > "$dir/work/job"
id=$(sbatch --parsable -o "$dir/work/o" "$dir/work/job")
soon 'grep -q ready "$dir/work/o" 2>/dev/null'
check "sattach passes input on" "got trigger" "$(printf trigger | timeout 20 sattach "$id.0" | grep got)"
scancel "$id"
wait_empty
check "--acctg-freq beyond JobAcctGatherFrequency" \
  "srun: error: Unable to allocate resources: Invalid accounting frequency requested" \
  "$(srun --acctg-freq=31 true 2>&1)"
check "--acctg-freq=x" "255 srun: error: Invalid --acctg-freq specification: x" \
  "$(rc=0; out=$(srun --acctg-freq=x true 2>&1) || rc=$?; echo $rc "$out")"
check "--acctg-freq" "0" "$(rc=0; srun -Q --acctg-freq=task=3 true || rc=$?; echo $rc)"
s=$(date +%s); srun -Q -n2 sh -c '[ $SLURM_PROCID = 0 ] && exit 3; sleep 30' >/dev/null 2>&1 || true
check "KillOnBadExit" yes "$([ $(($(date +%s) - s)) -lt 15 ] && echo yes)"
s=$(date +%s); srun -Q -K0 -n2 sh -c '[ $SLURM_PROCID = 0 ] && exit 3; sleep 3' >/dev/null 2>&1 || true
check "-K0 overrides KillOnBadExit" yes "$([ $(($(date +%s) - s)) -ge 3 ] && echo yes)"
check "VSizeFactor" $((200 * 1024)) "$(srun -Q --mem=100 sh -c 'ulimit -v')"
mkdir "$dir/bcast"; chmod 777 "$dir/bcast"; echo content > "$dir/work/f"
check "BcastParameters=DestDir" content \
  "$(salloc -Q -N1 sbcast "$dir/work/f" copied >/dev/null 2>&1; cat "$dir/bcast/copied" 2>&1)"
chmod 640 "$dir/work/f"
sent() {
  salloc -Q -N1 sbcast -f "$@" "$dir/work/f" "$dir/bcast/sent" 2>&1
  stat -c %a "$dir/bcast/sent"
  cat "$dir/bcast/sent"
}
check "sbcast keeps the file's mode and warns about an invalid size" \
  "size specification is invalid, ignored 640 content" "$(sent -s x -t 20 | tr '\n' ' ' | sed 's/ $//')"
refused() { salloc -Q -N1 -w n1 sh -c "sbcast $dir/work/f $1; echo \$?" 2>&1 </dev/null | xargs; }
check "sbcast of a file that exists" "sbcast: error: REQUEST_FILE_BCAST(n1): File exists 17" \
  "$(refused "$dir/bcast/sent")"
check "sbcast to a missing directory" "sbcast: error: REQUEST_FILE_BCAST(n1): No such file or directory 2" \
  "$(refused /nodir/x)"
check "sbcast -v" "block_size = 3
timeout    = 20" "$(sent -v -s 3 -t 20 | grep -oE '(block_size|timeout) .*')"
if command -v gcc >/dev/null; then
  mkdir "$dir/lib" "$dir/sent"; chmod 777 "$dir/sent"
  echo 'int six(void) { return 6; }' | gcc -xc -shared -fPIC -o "$dir/lib/libsix.so" -
  echo 'int six(void); int main(void) { return six(); }' | gcc -xc -o "$dir/prog" - -L"$dir/lib" -lsix
  out=$(export LD_LIBRARY_PATH=$dir/lib; \
    rc=0; srun -Q -n1 --bcast="$dir/sent/prog" --send-libs "$dir/prog" || rc=$?; echo "$rc")
  check "srun --bcast --send-libs: the program runs with its libraries" 6 "$out"
  check "--send-libs sends no library of the system" libsix.so "$(ls "$dir/sent/prog_libs")"
  (export LD_LIBRARY_PATH=$dir/lib; salloc -Q -N1 sbcast \
    -f --send-libs=yes --exclude="$dir/lib,/lib,/usr/lib,/lib64" "$dir/prog" "$dir/sent/two" >/dev/null 2>&1) || true
  check "sbcast --exclude" "two
no" "$(cd "$dir/sent"; ls -d two; [ -e two_libs ] || echo no)"
fi
conf KillOnBadExit=0; conf WaitTime=1
s=$(date +%s); srun -Q -n2 sh -c '[ $SLURM_PROCID = 0 ] && exit 0; sleep 30' >/dev/null 2>&1 || true
check "WaitTime" yes "$([ $(($(date +%s) - s)) -lt 15 ] && echo yes)"
wait_empty
sed -i 's/^SelectTypeParameters=.*/SelectTypeParameters=CR_Memory/' "$SLURM_CONF"; conf SelectType=select/linear
check "SelectType=select/linear" 4 "$(srun -Q -n1 printenv SLURM_CPUS_ON_NODE)"
sed -i 's/^SelectTypeParameters=.*/SelectTypeParameters=CR_Core_Memory/' "$SLURM_CONF"; conf SelectType=select/cons_tres
if [ "$(id -u)" = 0 ]; then
  conf PrivateData=jobs,nodes,partitions
  other() { setpriv --reuid=65534 --regid=65534 --clear-groups env "$@"; }
  id=$(sbatch --parsable -n1 -o /dev/null --wrap 'sleep 30'); soon '[ "$(squeue -h -j $id -o %T)" = RUNNING ]'
  check "PrivateData: root sees its job" "$id" "$(squeue -h -o %A)"
  check "PrivateData=jobs: squeue" 0 "$(other squeue -h | wc -l)"
  check "PrivateData=jobs: show job" "slurm_load_jobs error: Invalid job id specified" \
    "$(other scontrol show job "$id" 2>&1)"
  check "PrivateData=jobs: show slurmd" "no yes" "$(for w in other env; do $w scontrol show slurmd n1 2>/dev/null \
      | grep -qw "$id" && echo yes || echo no; done | xargs)"
  check "PrivateData=jobs: sacct" 0 "$(other sacct -nX -j "$id" | wc -l)"
  check "PrivateData=nodes" "slurm_load_node error: Access/permission denied" "$(other scontrol show node n1 2>&1)"
  check "PrivateData=partitions" "slurm_load_partitions error: Access/permission denied" \
    "$(other scontrol show partition main 2>&1)"
  own=$(cd /tmp && other sbatch --parsable -n1 -o /dev/null --wrap 'sleep 30')
  check "PrivateData: a user sees an own job" "$own" "$(other squeue -h -o %A)"
  check "sinfo with private partitions and nodes" "slurm_load_partitions: Access/permission denied" \
    "$(other sinfo 2>&1)"
  conf PrivateData=jobs,nodes
  check "sinfo with private nodes" "slurm_load_node: Access/permission denied" "$(other sinfo 2>&1)"
  scancel "$id" "$own"; wait_empty; conf MCSPlugin=mcs/user; conf MCSParameters=ondemand,select,privatedata
  id=$(sbatch --parsable -n1 --mcs-label="$(id -un)" -o /dev/null --wrap 'sleep 30')
  open=$(sbatch --parsable -n1 -w n2 -o /dev/null --wrap 'sleep 30')
  soon '[ "$(squeue -h -t R -o %i | wc -l)" = 2 ]'
  check "mcs/user: other users see jobs without a label" "$open" "$(other squeue -h -o %A)"
  check "mcs/user: other users see nodes without a labelled job" "n2" "$(other sinfo -h -N -o %N)"
  conf MCSPlugin=mcs/label
  check "mcs/label: other users see all jobs" "$id $open" "$(other squeue -h -S i -o %A | xargs)"
  check "mcs/label: other users see all nodes" "n1 n2" "$(other sinfo -h -N -o %N | xargs)"
  scancel "$id" "$open"; wait_empty; sed -i '/^MCS/d' "$SLURM_CONF"; conf PrivateData=none
  check "PrivateData=none" 0 "$(other scontrol show node n1 >/dev/null 2>&1; echo $?)"
  # Without EnforcePartLimits a job of a user outside AllowGroups is pending.
  scontrol create partitionname=grp nodes=ALL allowgroups=root,nosuchgroup
  id=$(cd /tmp; other sbatch --parsable -p grp -o /dev/null --wrap 'sleep 1')
  becomes "AllowGroups" "PENDING PartitionConfig" '"$(squeue -h -j "$id" -o "%T %r")"'
  scontrol update partitionname=grp allowgroups="$(id -gn 65534)"
  becomes "a job runs when AllowGroups includes a group of its user" COMPLETED '"$(squeue -h -t all -j "$id" -o %T)"'
  # The groups of the present count, and not those at the time of the submission.
  if command -v gpasswd >/dev/null && groupadd mustercorner 2>/dev/null; then
    scontrol create partitionname=late nodes=ALL allowgroups=mustercorner
    id=$(cd /tmp; other sbatch --parsable -p late -o /dev/null --wrap true)
    becomes "AllowGroups with a group without members" "PENDING PartitionConfig" '"$(squeue -h -j "$id" -o "%T %r")"'
    gpasswd -a "$(id -un 65534)" mustercorner >/dev/null 2>&1
    scontrol update partitionname=late allowgroups=mustercorner
    becomes "a job runs when its user joins the group" COMPLETED '"$(squeue -h -t all -j "$id" -o %T)"'
    gpasswd -d "$(id -un 65534)" mustercorner >/dev/null 2>&1; groupdel mustercorner
    scontrol delete partitionname=late
  else echo "skipped: groups cannot be made here"; fi
  conf EnforcePartLimits=ALL; scontrol create partitionname=grp nodes=ALL allowgroups=root
  check "EnforcePartLimits refuses a job of a user outside AllowGroups" \
    "sbatch: error: Batch job submission failed: User's group not permitted to use this partition" \
    "$(cd /tmp; other sbatch -p grp --wrap true 2>&1)"
  sed -i "/^EnforcePartLimits/d" "$SLURM_CONF"; reread
fi
check "-S with --thread-spec" "sbatch: fatal: -S/--core-spec and --thred-spec options are mutually exclusive" \
  "$(sbatch --thread-spec=1 -S1 --wrap=true 2>&1)"
check "--core-spec without AllowSpecResourcesUsage" \
  "sbatch: error: Ignoring -S since it's not allowed by configuration (AllowSpecResourcesUsage = No)" \
  "$(sbatch -S1 --wrap=true 2>&1 >/dev/null)"
check "--core-spec without AllowSpecResourcesUsage, and an invalid --gres" \
  "sbatch: error: Ignoring -S since it's not allowed by configuration (AllowSpecResourcesUsage = No)
sbatch: error: Invalid generic resource (gres) specification" "$(sbatch -S1 --gres=none:1 --wrap=true 2>&1 >/dev/null)"
conf AllowSpecResourcesUsage=yes
check "an option overrides its variable" "0" \
  "$(rc=0; SLURM_CORE_SPEC=99 srun -Q --thread-spec=1 true || rc=$?; echo $rc)"
check "--thread-spec" "3 ThreadSpec=1" "$(srun -Q --thread-spec=1 sh \
    -c 'echo $SLURM_CPUS_ON_NODE; scontrol show job $SLURM_JOB_ID | grep -o "ThreadSpec=[0-9]" | head -1' | xargs)"
id=$(sbatch --parsable -H --tres-bind=gres/gpu:map:0 --wrap true)
check "TresBind" "TresBind=gres/gpu:mask:0x1" \
  "$(scontrol update jobid="$id" TresBind=gres/gpu:mask:0x1; scontrol show job "$id" | grep -o 'TresBind=.*')"
check "an invalid --tres-bind is refused" "255 sbatch: error: Invalid --tres-bind argument: gres/gpu:map:0x0" \
  "$(rc=0; out=$(sbatch --tres-bind=gres/gpu:map:0x0 --wrap true 2>&1) || rc=$?; echo $rc "$out")"
scancel "$id"
