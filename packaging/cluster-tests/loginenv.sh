#!/usr/bin/env bash
# --get-user-env where the node has no login shell for the job's user: the job is held, and requeue_setup_env_fail and
# no_env_cache drain the node.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "skipped: needs root and namespaces of mounts"; exit 0; }
sed -E 's#^(root:.*):[^:]*$#\1:/bin/false#' /etc/passwd > "$dir/passwd"; chmod 644 "$dir/passwd"
start_node() {
  mkdir -p "$dir/spool/$1"
  unshare -m bash -c 'mount --bind "$1/passwd" /etc/passwd
    exec slurmd -f "$SLURM_CONF" -N "$2" -d "$3/sbin/slurmstepd"' sh "$dir" "$1" "$prefix" \
    </dev/null >>"$dir/log/start.out" 2>&1
}
start_cluster 1 2
submit() { SENT=yes sbatch --parsable --get-user-env -o "$dir/work/out" "$@" --wrap 'echo "$SENT"'; }
word() {
  sed -i '/^SchedulerParameters=/d' "$SLURM_CONF"
  echo "SchedulerParameters=$1" >> "$SLURM_CONF"
  reread
  becomes "$1: the node is idle" idle '$(sinfo -h -o %T)'
}

id=$(submit)
becomes "without a login environment the job is held" "PENDING launch failed requeued held" \
  '$(squeue -h -j "$id" -o "%T %r")'
check "without SchedulerParameters the node stays idle" idle "$(sinfo -h -o %T)"
scancel "$id"
for w in requeue_setup_env_fail no_env_cache requeue_setup_env_fail,nohold_on_prolog_fail; do
  word "$w"
  id=$(submit)
  becomes "$w: the job is held" "PENDING launch failed requeued held" '$(squeue -h -j "$id" -o "%T %r")'
  check "$w: the node is drained" "drained Job env setup error" "$(sinfo -h -N -o '%T %E')"
  check "$w: the job has started once" 1 "$(scontrol show job "$id" | grep -o 'Restarts=[0-9]*' | cut -d= -f2)"
  scontrol update nodename=n1 state=resume
  scancel "$id"
  becomes "$w: the resumed node is idle" idle '$(sinfo -h -o %T)'
done
check "a step without --get-user-env runs" ran "$(srun -Q echo ran)"

# A launch in progress while slurmd reads its configuration: a login that takes three seconds.
mkdir -p "$dir/home"; printf 'touch %s/begun\nsleep 3\nexport LOGIN=slow\n' "$dir/home" > "$dir/home/.bash_profile"
sed -E "s#^(root:[^:]*:[^:]*:[^:]*:[^:]*):.*#\1:$dir/home:/bin/bash#" /etc/passwd > "$dir/passwd.new"
cat "$dir/passwd.new" > "$dir/passwd"
word requeue_setup_env_fail
id=$(sbatch --parsable --get-user-env -o "$dir/work/slow" --open-mode=append \
  --wrap 'echo "$LOGIN $SLURM_RESTART_COUNT"')
soon '[ -e "$dir/home/begun" ]'; scontrol reconfigure; scontrol reconfigure
becomes "a job that is launched during a reconfiguration runs" COMPLETED '$(sacct -n -X -j "$id" -o State | xargs)'
check "a job that is launched during a reconfiguration runs once" "slow" "$(xargs < "$dir/work/slow")"
