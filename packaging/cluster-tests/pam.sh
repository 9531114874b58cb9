#!/usr/bin/env bash
# A PAM session around each step. The test mounts its PAM service file over the machine's in a private mount namespace.
# shows: UsePAM
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 0; }
[ -n "$(find /lib /usr/lib -name pam_exec.so 2>/dev/null | head -1)" ] || { echo "skipped: no pam_exec"; exit 0; }
mkdir -p "$dir/pam.d"
cat > "$dir/hook" <<S
#!/bin/sh
echo "\$PAM_SERVICE \$PAM_TYPE \$PAM_USER" >> $dir/said
[ ! -e $dir/refuse ] || [ "\$PAM_TYPE" != open_session ]
S
chmod 755 "$dir/hook"
cat > "$dir/pam.d/slurm" <<C
auth optional pam_permit.so
account required pam_permit.so
session required pam_exec.so $dir/hook
session required pam_limits.so conf=$dir/limits
C
echo 'root hard nofile 777' > "$dir/limits"
start_node() {
  mkdir -p "$dir/spool/$1"
  unshare -m bash -c \
    'mount --bind "$1/pam.d" /etc/pam.d && exec slurmd -f "$SLURM_CONF" -N "$2" -d "$3/sbin/slurmstepd"' \
    sh "$dir" "$1" "$prefix" </dev/null >>"$dir/log/start.out" 2>&1
}
start_cluster 1 4 "UsePAM=yes
PropagateResourceLimits=NONE"
check "limits of the session are those of the tasks" 777 "$(srun -Q bash -c 'ulimit -Hn')"
wait_empty 30
soon '[ "$(cat $dir/said 2>/dev/null | wc -l)" -ge 2 ]'
becomes "a session is opened and closed as the step's user" "slurm open_session root,slurm close_session root" \
  '"$(paste -sd, "$dir/said")"'
id=$(sbatch --parsable -o "$dir/work/batch.out" --wrap "wc -l < $dir/said"); wait_empty 30
check "a batch job has a session" 3 "$(cat batch.out)"
touch "$dir/refuse"
rc=0; srun -Q true 2> refused || rc=$?
check "a refused session fails the step" yes "$([ "$rc" != 0 ] && echo yes)"
match "the error names pam_open_session" 'UsePAM: pam_open_session: ' "$(cat refused "$dir/log/slurmd-n1.log")"
rm "$dir/refuse"
check "the node still runs steps" 777 "$(timeout 20 srun -Q bash -c 'ulimit -Hn')"
stop_cluster
lib=$(readlink -f "$(ldconfig -p | awk '/libpam\.so\.0 / {print $NF; exit}')")
rc=0
said=$(unshare -m bash -c \
  'mount --bind /dev/null "$1" && exec slurmd -D -f "$SLURM_CONF" -N n1 -d "$2/sbin/slurmstepd"' sh "$lib" "$prefix" \
  </dev/null 2>&1) || rc=$?
check "slurmd does not start without libpam" 1 "$rc"
match "the error names libpam" 'UsePAM: .*libpam.so.0' "$said$(tail -1 "$dir/log/slurmd-n1.log")"
