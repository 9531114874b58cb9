#!/usr/bin/env bash
# --get-user-env where the node has no login for the job's user: the job is held, and with some words the node drained.
# requeue_setup_env_fail, no_env_cache.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "skipped: needs root and namespaces of mounts"; exit 0; }
sed -E 's#^(root:.*):[^:]*$#\1:/bin/false#' /etc/passwd > "$dir/passwd"; chmod 644 "$dir/passwd"
start_node() {
  mkdir -p "$dir/spool/$1"
  unshare \
    -m bash -c 'mount --bind "$1/passwd" /etc/passwd && exec slurmd -f "$SLURM_CONF" -N "$2" -d "$3/sbin/slurmstepd"' \
    sh "$dir" "$1" "$prefix" </dev/null >>"$dir/log/start.out" 2>&1
}
start_cluster 1 2
submit() { SENT=yes sbatch --parsable --get-user-env -o "$dir/work/out" "$@" --wrap 'echo "$SENT"'; }
word() {
  sed -i '/^SchedulerParameters=/d' "$SLURM_CONF"
  echo "SchedulerParameters=$1" >> "$SLURM_CONF"
  reread
  becomes "$1: the node is there" idle '$(sinfo -h -o %T)'
}

id=$(submit)
becomes "it is held" "PENDING launch failed requeued held" '$(squeue -h -j "$id" -o "%T %r")'
check "and its node goes on" idle "$(sinfo -h -o %T)"
scancel "$id"
for w in requeue_setup_env_fail no_env_cache requeue_setup_env_fail,nohold_on_prolog_fail; do
  word "$w"
  id=$(submit)
  becomes "$w" "PENDING launch failed requeued held" '$(squeue -h -j "$id" -o "%T %r")'
  check "$w: the node" "drained Job env setup error" "$(sinfo -h -N -o '%T %E')"
  check "$w: it has begun once" 1 "$(scontrol show job "$id" | grep -o 'Restarts=[0-9]*' | cut -d= -f2)"
  scontrol update nodename=n1 state=resume
  scancel "$id"
  becomes "$w: the node is back" idle '$(sinfo -h -o %T)'
done
check "who needs no environment runs" ran "$(srun -Q echo ran)"

# a launch in flight while slurmd reads its configuration anew: a login that takes three seconds
mkdir -p "$dir/home"; printf 'touch %s/begun\nsleep 3\nexport LOGIN=slow\n' "$dir/home" > "$dir/home/.bash_profile"
sed -E "s#^(root:[^:]*:[^:]*:[^:]*:[^:]*):.*#\1:$dir/home:/bin/bash#" /etc/passwd > "$dir/passwd.new"
cat "$dir/passwd.new" > "$dir/passwd"
word requeue_setup_env_fail
id=$(sbatch \
  --parsable --get-user-env -o "$dir/work/slow" --open-mode=append --wrap 'echo "$LOGIN $SLURM_RESTART_COUNT"')
soon '[ -e "$dir/home/begun" ]'; scontrol reconfigure; scontrol reconfigure
becomes "a job that was being launched at a reconfiguration runs" COMPLETED '$(sacct -n -X -j "$id" -o State | xargs)'
check "once" "slow" "$(xargs < "$dir/work/slow")"
