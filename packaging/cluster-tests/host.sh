#!/usr/bin/env bash
# The daemons on their host: modes of files, users whose names are numbers, the command service, state directories, a
# node's full disk.
[ "$(id -u)" != 0 ] || [ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare -m --propagation private bash "$0" "$@"
. "$(dirname "$0")/lib.bash"
root() { [ "$(id -u)" = 0 ]; }
full=$dir/spool/n2; mkdir -p "$full"
if root; then
  mount -t tmpfs -o size=1m,mode=755 tmpfs "$full"
  # A user whose name is the number of another user.
  {
    grep -v '^[^:]*:[^:]*:2300[12]:' /etc/passwd
    echo "mtestb:x:23001:23001::/tmp:/bin/sh"
    echo "23001:x:23002:23002::/tmp:/bin/sh"
  } > "$dir/passwd"
  chmod 644 "$dir/passwd"; mount --bind "$dir/passwd" /etc/passwd
  # Command services of this test's own: the services of other tests see another /etc/passwd.
  mount -t tmpfs -o mode=755 tmpfs "$prefix/var/run"
fi
# Mode, kind and name of all files of the daemons, without numbers and hashes.
made() {
  (cd "$dir"
    find state spool log run -mindepth 1 -not -path 'log/start.out*' -not -path 'log/threads*' -printf '%m %y %p\n') \
    | sed -E -e 's/[0-9a-f]{8,}/H/g; s/H(\/H)*/H/g; s/(blobs\/)[0-9a-f]{2}/\1H/; s/job[0-9]+/jobN/g' \
      -e 's/-[0-9]+\.log/-N.log/; s/n[12]/nN/g' \
    | grep -v -e socket.lock -e /launched -e '/job' | sort -u
}
umask 000
printf '#!/bin/sh\nexit 0\n' > "$dir/prolog"; chmod 755 "$dir/prolog"
start_cluster 2 4 "Prolog=$dir/prolog"
umask 022
one() { # a job, until its daemons make no further file
  local before= now
  check "a job" done "$(sbatch -W -w n1 -Q -o out.txt --wrap 'echo done' >/dev/null; cat out.txt; rm -f out.txt)"
  sacct -n >/dev/null
  until now=$(made); [ "$now" = "$before" ]; do before=$now; sleep 1; done
}
one; first=$(made)
check "with umask 000 other users can write no file of a daemon" "" \
  "$(find "$dir"/{state,spool,log,run} -mindepth 1 -perm /022 -not -type s \
    | grep -v -e "$dir/spool/n[12]\$" -e start.out || true)"
check "with umask 000 other users can read no file of the state" "" \
  "$(find "$dir/state" -mindepth 1 -perm /077 || true)"
check "the file of the embedded accounting is among the state" "600 f" \
  "$(find "$dir/state/accounting" -name '*.mv.db' -printf '%m %y\n')"
stopped slurmctld; stopped slurmd-n1
rm -rf "$dir"/state/* "$dir"/log/slurm* "$dir"/run/*; rm -rf "$dir"/spool/n1
(umask 077; start_ctld; start_node n1)
p=$(pgrep -f "slurmd -f $SLURM_CONF -N n2" | head -1)
if [ -n "$p" ]; then kill "$p"; soon '! kill -0 "$p" 2>/dev/null'; fi
(umask 077; start_node n2)
becomes "both nodes are idle again" 2 '$(sinfo -h -N -o %T | grep -c idle)'
one
check "the modes are the same with another umask" "$(echo "$first" | md5sum)" "$(made | md5sum)"
diff <(echo "$first") <(made) || true

# User names that are numbers.
if root; then
  as() { setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"; }
  (cd /tmp; id=$(as 23002 sbatch --parsable -H -o /dev/null --wrap id); echo "$id" > "$dir/digits")
  match "a user name of digits is not a user id" 'UserId=23001\(23002\)' "$(scontrol show job "$(cat "$dir/digits")")"
  check "squeue -u finds the user by the name of digits" "$(cat "$dir/digits")" "$(squeue -h -u 23001 -o %i)"
  check "squeue -u finds the user by the id, which is no name" "$(cat "$dir/digits")" "$(squeue -h -u 23002 -o %i)"
  scancel "$(cat "$dir/digits")"
fi

# PrivateData=nodes: a user reaches the own job, and sees no nodes.
if root; then
  echo PrivateData=nodes >> "$SLURM_CONF"; reread
  mine() { (cd /tmp; as 23002 "$@" 2>&1); }
  check "PrivateData=nodes: sbcast of an own job" "ok" "$(mine salloc \
      -Q -w n1 sh -c "sbcast -f /etc/hostname /tmp/muster-sbcast.$$ && echo ok; rm -f /tmp/muster-sbcast.$$")"
  listpids='srun sleep 3 &
    until squeue -h -s -j $SLURM_JOB_ID -o %j | grep -q sleep; do sleep 0.1; done
    SLURMD_NODENAME=n1 scontrol listpids
    wait'
  match "PrivateData=nodes: scontrol listpids of an own job" 'PID +JOBID' "$(mine salloc -Q -w n1 sh -c "$listpids")"
  wait_empty
  match "PrivateData=nodes: scontrol show node" 'Access/permission denied' "$(mine scontrol show node n1 || true)"
  match "PrivateData=nodes: scontrol getaddrs outside a job" 'Access/permission denied' \
    "$(mine scontrol getaddrs n1 || true)"
  sed -i '/^PrivateData=/d' "$SLURM_CONF"; reread
fi

# The command service.
if root && grep -q '^command_service=' "$prefix/lib/muster/launcher.conf"; then
  at=$prefix/var/run/commands.$(stat -L -c %i /proc/self/ns/net)
  uid=$(sed -n 's/^command_service_uid=//p' "$prefix/lib/muster/launcher.conf")
  check "root owns the directory of the command service" "755 0" "$(stat -c '%a %u' "$prefix/var/run")"
  check "only root may connect to root's command service" "600 0" "$(stat -c '%a %u' "$at.root")"
  becomes "the other command service does not run as root" "$uid" \
    '$(stat -c %u /proc/$(cat $at.lock)/task 2>/dev/null | grep -v "^0$" || ps -o uid= -p $(cat $at.lock) | tr -d " ")'
  match "the other command service does not run as nobody" '^[1-9][0-9]*$' "$(echo "$uid" | grep -v -e 65534 -e 65535)"
  check "other processes of the service's user cannot read its memory" 0 \
    "$(stat -c %u "/proc/$(cat "$at.lock")/environ")"
  java=${JAVA_HOME:-$(sed -n 's/^java_home=//p' "$prefix/lib/muster/launcher.conf")}
  check "jcmd of the service's user does not attach" "" \
    "$(setpriv --reuid="$uid" --regid="$uid" --clear-groups timeout 10 "$java/bin/jcmd" "$(cat "$at.lock")" VM.version \
      2>&1 | grep -i -e openjdk -e 'JDK [0-9]' || true)"
  check "a link in the place of the lock is not followed" "" \
    "$(ln -s "$dir/linked" "$dir/x.lock"; cat "$dir/linked" 2>/dev/null || true)"
  as 23002 squeue -h >/dev/null
  check "commands of users work" 0 $?
fi

# A node whose disk is full.
if root; then
  head -c 2000000 /dev/zero > "$full/filler" 2>/dev/null || true
  a=$(sbatch --parsable -w n2 -o /dev/null --wrap true)
  becomes "a full disk drains the node" drained '$(sinfo -h -n n2 -o %T)'
  match "the node's reason names the full disk" 'No space left on device' "$(scontrol show node n2 | grep Reason)"
  check "the node's job is pending" PENDING "$(squeue -h -j "$a" -o %T)"
  check "the node's job was requeued once" 1 "$(scontrol show job "$a" | grep -c 'Restarts=1')"
  match "the node's job is not held" '^[1-9]' "$(squeue -h -j "$a" -o %Q)"
  check "other jobs run on the other node" n1 \
    "$(sbatch -W -Q -o where.txt --wrap 'echo $SLURMD_NODENAME' >/dev/null; cat where.txt)"
  rm -f "$full/filler"; scontrol update node=n2 state=resume; scontrol update job="$a" starttime=now 2>/dev/null || true
  becomes "the job runs on the resumed node" COMPLETED \
    '$(sacct -n -X -j $a -o State | xargs | tr " " "\n" | tail -1)'
fi

# StateSaveLocation.
keep() { cp "$SLURM_CONF" "$dir/kept.conf"; }; back() { cp "$dir/kept.conf" "$SLURM_CONF"; }
for _ in 1 2 3; do last=$(sbatch --parsable -H -o /dev/null --wrap true); done
soon '[ "$(sacct -n -X -j "$last" -o JobID | wc -l)" = 1 ]'
stopped slurmctld; keep
sed -i 's/^ClusterName=.*/ClusterName=other/' "$SLURM_CONF"
said=$(slurmctld -D -f "$SLURM_CONF" 2>&1 >/dev/null || true); back
match "another cluster's state is refused" \
  'fatal: CLUSTER NAME MISMATCH. slurmctld has been started with "ClusterName=other", but read "test"' "$said"
check "the refusal is printed once" 1 "$(grep -c MISMATCH <<< "$said")"
check "the state is left unchanged" test "$(cat "$dir/state/clustername")"
mkdir "$dir/slurms"
echo x > "$dir/slurms/job_state"
sed -i "s|^StateSaveLocation=.*|StateSaveLocation=$dir/slurms|" "$SLURM_CONF"
match "Slurm's own state is refused" \
  "fatal: StateSaveLocation=$dir/slurms holds the state of Slurm's own slurmctld \(job_state\)" \
  "$(slurmctld -D -f "$SLURM_CONF" 2>&1 || true)"
echo > "$dir/file"; sed -i "s|^StateSaveLocation=.*|StateSaveLocation=$dir/file/state|" "$SLURM_CONF"
match "a StateSaveLocation that cannot be created is named" \
  "fatal: StateSaveLocation=$dir/file/state: cannot create it: (Not a directory|File exists)" \
  "$(slurmctld -D -f "$SLURM_CONF" 2>&1 || true)"
back
start_ctld; sed -i "s|^StateSaveLocation=.*|StateSaveLocation=$dir/fresh|" "$SLURM_CONF"
said=$(slurmctld -D -f "$SLURM_CONF" 2>&1 || true); back
match "a used port is named" \
  "fatal: SlurmctldPort=$port: cannot listen on port $port: Address already in use" "$said"
check "the used port is printed once" 1 "$(grep -c 'Address already' <<< "$said")"
check "slurmctld with a used port logs no start" 0 "$(grep -c 'started on cluster' <<< "$said" || true)"
stopped slurmctld
# The journal of the time before the newest jobs, and accounting with these jobs.
cp -a "$dir/state/journal" "$dir/journal.old"; start_ctld
for _ in 1 2 3; do last=$(sbatch --parsable -H -o /dev/null --wrap true); done
soon '[ "$(sacct -n -X -j "$last" -o JobID | wc -l)" = 1 ]'
stopped slurmctld
rm -rf "$dir/state/journal"
mv "$dir/journal.old" "$dir/state/journal"
: > "$dir/log/slurmctld.log"
start_ctld
match "slurmctld logs that the newest part of the state is missing" "the newest part of the state is missing" \
  "$(cat "$dir/log/slurmctld.log")"
next=$(sbatch --parsable -o /dev/null --wrap true)
check "job ids of the missing part are not used again" yes \
  "$([ "$next" -gt "$last" ] && echo yes || echo "$next after $last")"
check "accounting has the jobs of the missing part" 1 "$(sacct -n -X -j "$last" -o JobID | wc -l)"
! root || umount -l "$full"
