#!/usr/bin/env bash
# What the daemons make and believe on their host: modes of files, users by number, the command service, state
# directories, a node's full disk.
[ "$(id -u)" != 0 ] || [ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare -m --propagation private bash "$0" "$@"
. "$(dirname "$0")/lib.bash"
root() { [ "$(id -u)" = 0 ]; }
full=$dir/spool/n2; mkdir -p "$full"
if root; then
  mount -t tmpfs -o size=1m,mode=755 tmpfs "$full"
  # a user whose name is another one's number
  {
    grep -v '^[^:]*:[^:]*:2300[12]:' /etc/passwd
    echo "mtestb:x:23001:23001::/tmp:/bin/sh"
    echo "23001:x:23002:23002::/tmp:/bin/sh"
  } > "$dir/passwd"
  chmod 644 "$dir/passwd"; mount --bind "$dir/passwd" /etc/passwd
  # command services of its own: those of other tests see another /etc/passwd
  mount -t tmpfs -o mode=755 tmpfs "$prefix/var/run"
fi
# mode, kind and name of all that the daemons made, numbers and hashes left out
made() {
  (cd "$dir"; \
    find state spool log run -mindepth 1 -not -path 'log/start.out*' -not -path 'log/threads*' -printf '%m %y %p\n') \
    | sed -E \
    's/[0-9a-f]{8,}/H/g; s/H(\/H)*/H/g; s/(blobs\/)[0-9a-f]{2}/\1H/; s/job[0-9]+/jobN/g; s/-[0-9]+\.log/-N.log/; s/n[12]/nN/g' \
    | grep -v -e socket.lock -e /launched -e '/job' | sort -u
}
umask 000
printf '#!/bin/sh\nexit 0\n' > "$dir/prolog"; chmod 755 "$dir/prolog"
start_cluster 2 4 "Prolog=$dir/prolog"
umask 022
one() {
  check "a job" done "$(sbatch -W -w n1 -Q -o out.txt --wrap 'echo done' >/dev/null; cat out.txt; rm -f out.txt)"
  sacct -n >/dev/null
  sleep 1.2
}
one; first=$(made)
check "whatever the umask, others write nothing that a daemon made" "" \
  "$(find "$dir"/{state,spool,log,run} -mindepth 1 -perm /022 -not -type s \
    | grep -v -e "$dir/spool/n[12]\$" -e start.out || true)"
check "nor read anything of the state" "" "$(find "$dir/state" -mindepth 1 -perm /077 || true)"
check "accounting's file is among it" "600 f" "$(find "$dir/state/accounting" -name '*.mv.db' -printf '%m %y\n')"
stop_ctld() { local p; p=$(pid_of slurmctld); kill "$p"; soon '! kill -0 "$p" 2>/dev/null'; }
restart() { (umask "${1:-022}"; start_ctld); }
stop_ctld; p=$(pid_of slurmd-n1); kill "$p"; soon '! kill -0 "$p" 2>/dev/null'
rm -rf "$dir"/state/* "$dir"/log/slurm* "$dir"/run/*; rm -rf "$dir"/spool/n1
(umask 077; start_ctld; start_node n1)
p=$(pgrep -f "slurmd -f $SLURM_CONF -N n2" | head -1)
[ -z "$p" ] || kill "$p"
sleep 0.5
(umask 077; start_node n2)
becomes "both nodes are back" 2 '$(sinfo -h -N -o %T | grep -c idle)'
one
check "and it is the same with another umask" "$(echo "$first" | md5sum)" "$(made | md5sum)"
diff <(echo "$first") <(made) || true

# users are numbers
if root; then
  as() { setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"; }
  (cd /tmp; id=$(as 23002 sbatch --parsable -H -o /dev/null --wrap id); echo "$id" > "$dir/digits")
  match "a name of digits is not the number" 'UserId=23001\(23002\)' "$(scontrol show job "$(cat "$dir/digits")")"
  check "and is found by the name" "$(cat "$dir/digits")" "$(squeue -h -u 23001 -o %i)"
  check "not by its number, which is no name" "$(cat "$dir/digits")" "$(squeue -h -u 23002 -o %i)"
  scancel "$(cat "$dir/digits")"
fi

# with nodes hidden, a user's own job can be reached, and nothing more is told
if root; then
  echo PrivateData=nodes >> "$SLURM_CONF"; reread
  mine() { (cd /tmp; as 23002 "$@" 2>&1); }
  check "sbcast reaches one's own job" "ok" "$(mine salloc \
      -Q -w n1 sh -c "sbcast -f /etc/hostname /tmp/muster-sbcast.$$ && echo ok; rm -f /tmp/muster-sbcast.$$")"
  match "so does scontrol listpids" 'PID +JOBID' \
    "$(mine salloc -Q -w n1 sh -c 'srun sleep 3 & sleep 1; SLURMD_NODENAME=n1 scontrol listpids; wait')"
  wait_empty
  match "nodes are hidden" 'Access/permission denied' "$(mine scontrol show node n1 || true)"
  match "outside of a job also where they are" 'Access/permission denied' "$(mine scontrol getaddrs n1 || true)"
  sed -i '/^PrivateData=/d' "$SLURM_CONF"; reread
fi

# the command service
if root && grep -q '^command_service=' "$prefix/lib/muster/launcher.conf"; then
  at=$prefix/var/run/commands.$(stat -L -c %i /proc/self/ns/net)
  uid=$(sed -n 's/^command_service_uid=//p' "$prefix/lib/muster/launcher.conf")
  check "its place is root's" "755 0" "$(stat -c '%a %u' "$prefix/var/run")"
  check "root's own is root's alone" "600 0" "$(stat -c '%a %u' "$at.root")"
  becomes "the other is not root" "$uid" \
    '$(stat -c %u /proc/$(cat $at.lock)/task 2>/dev/null | grep -v "^0$" || ps -o uid= -p $(cat $at.lock) | tr -d " ")'
  match "nor anybody that others are" '^[1-9][0-9]*$' "$(echo "$uid" | grep -v -e 65534 -e 65535)"
  check "its memory is closed, also to itself" 0 "$(stat -c %u "/proc/$(cat "$at.lock")/environ")"
  check "nothing attaches" "" "$(setpriv --reuid="$uid" --regid="$uid" --clear-groups timeout 10 "${JAVA_HOME:-$(sed \
      -n 's/^java_home=//p' "$prefix/lib/muster/launcher.conf")}/bin/jcmd" "$(cat "$at.lock")" VM.version 2>&1 \
      | grep -i -e openjdk -e 'JDK [0-9]' || true)"
  check "a link in the place of its lock is not followed" "" \
    "$(ln -s "$dir/linked" "$dir/x.lock"; cat "$dir/linked" 2>/dev/null || true)"
  as 23002 squeue -h >/dev/null
  check "commands of users work" 0 $?
fi

# a node whose disk is full
if root; then
  head -c 2000000 /dev/zero > "$full/filler" 2>/dev/null || true
  a=$(sbatch --parsable -w n2 -o /dev/null --wrap true)
  becomes "a full disk drains the node" drained '$(sinfo -h -n n2 -o %T)'
  match "and says why" 'No space left on device' "$(scontrol show node n2 | grep Reason)"
  check "its job waits, and is not held" "PENDING 1" \
    "$(squeue -h -j "$a" -o %T) $(scontrol show job "$a" | grep -c 'Restarts=1')"
  match "not held" '^[1-9]' "$(squeue -h -j "$a" -o %Q)"
  check "others go elsewhere" n1 "$(sbatch -W -Q -o where.txt --wrap 'echo $SLURMD_NODENAME' >/dev/null; cat where.txt)"
  rm -f "$full/filler"; scontrol update node=n2 state=resume; scontrol update job="$a" starttime=now 2>/dev/null || true
  becomes "it goes on there when an administrator says so" COMPLETED \
    '$(sacct -n -X -j $a -o State | xargs | tr " " "\n" | tail -1)'
fi

# state
keep() { cp "$SLURM_CONF" "$dir/kept.conf"; }; back() { cp "$dir/kept.conf" "$SLURM_CONF"; }
for _ in 1 2 3; do last=$(sbatch --parsable -H -o /dev/null --wrap true); done; sleep 1.5
stop_ctld; keep
sed -i 's/^ClusterName=.*/ClusterName=other/' "$SLURM_CONF"
said=$(slurmctld -D -f "$SLURM_CONF" 2>&1 >/dev/null || true); back
match "another cluster's state is refused" \
  'fatal: CLUSTER NAME MISMATCH. slurmctld has been started with "ClusterName=other", but read "test"' "$said"
check "and said once" 1 "$(grep -c MISMATCH <<< "$said")"
check "and left alone" test "$(cat "$dir/state/clustername")"
mkdir "$dir/slurms"
echo x > "$dir/slurms/job_state"
sed -i "s|^StateSaveLocation=.*|StateSaveLocation=$dir/slurms|" "$SLURM_CONF"
match "Slurm's own state is refused" \
  "fatal: StateSaveLocation=$dir/slurms holds the state of Slurm's own slurmctld \(job_state\)" \
  "$(slurmctld -D -f "$SLURM_CONF" 2>&1 || true)"
echo > "$dir/file"; sed -i "s|^StateSaveLocation=.*|StateSaveLocation=$dir/file/state|" "$SLURM_CONF"
match "what cannot be made is named" \
  "fatal: StateSaveLocation=$dir/file/state: cannot create it: (Not a directory|File exists)" \
  "$(slurmctld -D -f "$SLURM_CONF" 2>&1 || true)"
back
start_ctld; sed -i "s|^StateSaveLocation=.*|StateSaveLocation=$dir/fresh|" "$SLURM_CONF"
said=$(slurmctld -D -f "$SLURM_CONF" 2>&1 || true); back
match "a port that is taken is named" \
  "fatal: SlurmctldPort=$port: cannot listen on port $port: Address already in use" "$said"
check "once, and without the line of a start" "1 0" \
  "$(grep -c 'Address already' <<< "$said") $(grep -c 'started on cluster' <<< "$said" || true)"
stop_ctld
# the journal as it was before the newest jobs, beside accounting that knows these
cp -a "$dir/state/journal" "$dir/journal.old"; start_ctld
for _ in 1 2 3; do last=$(sbatch --parsable -H -o /dev/null --wrap true); done; sacct -n >/dev/null; sleep 1.5
stop_ctld
rm -rf "$dir/state/journal"
mv "$dir/journal.old" "$dir/state/journal"
: > "$dir/log/slurmctld.log"
start_ctld
match "a state without its newest part is named" "the newest part of the state is missing" \
  "$(cat "$dir/log/slurmctld.log")"
next=$(sbatch --parsable -o /dev/null --wrap true)
check "and its numbers are not given again" yes "$([ "$next" -gt "$last" ] && echo yes || echo "$next after $last")"
check "rows of before are still there" 1 "$(sacct -n -X -j "$last" -o JobID | wc -l)"
! root || umount -l "$full"
