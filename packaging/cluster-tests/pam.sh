#!/usr/bin/env bash
# A PAM session around each step; the service's file is laid over the machine's in a mount namespace of the test's own.
# shows: UsePAM
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 0; }
[ -n "$(find /lib /usr/lib -name pam_exec.so 2>/dev/null | head -1)" ] || { echo "skipped: no pam_exec"; exit 0; }
mkdir -p "$dir/pam.d"
printf '#!/bin/sh\necho "$PAM_SERVICE $PAM_TYPE $PAM_USER" >> %s/said\n[ ! -e %s/refuse ] || [ "$PAM_TYPE" != open_session ]\n' "$dir" \
  "$dir" > "$dir/hook"
chmod 755 "$dir/hook"
printf 'auth optional pam_permit.so\naccount required pam_permit.so\nsession required pam_exec.so %s/hook\nsession required pam_limits.so conf=%s/limits\n' \
  "$dir" "$dir" > "$dir/pam.d/slurm"
echo 'root hard nofile 777' > "$dir/limits"
start_node() {
  mkdir -p "$dir/spool/$1"
  unshare -m bash -c \
    'mount --bind "$1/pam.d" /etc/pam.d && exec slurmd -f "$SLURM_CONF" -N "$2" -d "$3/sbin/slurmstepd"' sh "$dir" \
    "$1" "$prefix" \
    </dev/null >>"$dir/log/start.out" 2>&1
}
start_cluster 1 4 "UsePAM=yes
PropagateResourceLimits=NONE"
check "limits of the session are those of the tasks" 777 "$(srun -Q bash -c 'ulimit -Hn')"
wait_empty 30
soon '[ "$(cat $dir/said 2>/dev/null | wc -l)" -ge 2 ]'
becomes "it is opened before and closed after, as the step's user" "slurm open_session root,slurm close_session root" \
  '"$(paste -sd, "$dir/said")"'
id=$(sbatch --parsable -o "$dir/work/batch.out" --wrap "wc -l < $dir/said"); wait_empty 30
check "a batch job has one" 3 "$(cat batch.out)"
touch "$dir/refuse"
rc=0; srun -Q true 2> refused || rc=$?
check "a session that is refused costs the step" yes "$([ "$rc" != 0 ] && echo yes)"
match "and says so" 'UsePAM: pam_open_session: ' "$(cat refused "$dir/log/slurmd-n1.log")"
rm "$dir/refuse"
check "not the node" 777 "$(timeout 20 srun -Q bash -c 'ulimit -Hn')"
stop_cluster
lib=$(readlink -f "$(ldconfig -p | awk '/libpam\.so\.0 / {print $NF; exit}')")
rc=0
said=$(unshare -m bash -c \
  'mount --bind /dev/null "$1" && exec slurmd -D -f "$SLURM_CONF" -N n1 -d "$2/sbin/slurmstepd"' sh "$lib" "$prefix" \
  </dev/null 2>&1) || rc=$?
check "where libpam cannot be had slurmd does not start" 1 "$rc"
match "and says why" 'UsePAM: .*libpam.so.0' "$said$(tail -1 "$dir/log/slurmd-n1.log")"
