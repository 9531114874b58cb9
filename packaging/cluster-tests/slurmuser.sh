#!/usr/bin/env bash
# slurmctld and slurmdbd that root starts run as SlurmUser: their ids, files and programs, a state directory of root,
# and the command services, which need root.
# shows: SlurmUser
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
[ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare -m --propagation private bash "$0" "$@"
. "$(dirname "$0")/lib.bash"
# users of this test alone
{
  grep -v '^[^:]*:[^:]*:2304[0-9]:' /etc/passwd
  echo "mslurm:x:23040:23041::/nonexistent:/bin/sh"
  echo "mother:x:23042:23042::/tmp:/bin/sh"
} > "$dir/passwd"
{
  grep -v '^[^:]*:[^:]*:2304[0-9]:' /etc/group
  echo "mslurm:x:23041:"
  echo "mextra:x:23043:mslurm"
  echo "mother:x:23042:"
} > "$dir/group"
chmod 644 "$dir/passwd" "$dir/group"; mount --bind "$dir/passwd" /etc/passwd; mount --bind "$dir/group" /etc/group
mount -t tmpfs -o mode=755 tmpfs "$prefix/var/run"      # and command services of its own
user=root
eval "base_$(declare -f write_conf)"
write_conf() { base_write_conf "$1"; sed -i "s/^SlurmUser=.*/SlurmUser=$user/" "$SLURM_CONF"; }
as() { setpriv --reuid="$1" --regid="$2" --clear-groups "${@:3}"; }
other() { (cd /tmp; as 23042 23042 "$@"); }
slurm() { (cd /tmp; as 23040 23041 "$@"); }
# Waits for the end of a process and names it if it does not end.
gone() {
  local process=$1
  soon '! kill -0 "$process" 2>/dev/null' 15
  ! kill -0 "$process" 2>/dev/null || echo "$process is still there"
}
stop() { local p; p=$(pid_of "$1"); kill "$p"; gone "$p"; }
ids() { awk '/^(Uid|Gid|Groups|CapEff):/ {$1=$1; print}' "/proc/$1/status" | xargs; }
as_slurm="Uid: 23040 23040 23040 23040 Gid: 23041 23041 23041 23041 Groups: 23041 23043 CapEff: 0000000000000000"
# Starts a daemon in the foreground; prints its last message and its exit code.
refusal() {
  local out rc=0
  out=$(timeout 20 "$@" 2>&1 </dev/null) || rc=$?
  echo "$(echo "$out" | tail -1 | sed 's/^[^:]*: //') $rc"
}
no_java() { (ulimit -v 400000; "$@" 2>&1); }     # too little for a Java machine: only the command service can answer

mkdir -p "$dir/hooks"; chmod 777 "$dir/hooks"
printf '#!/bin/sh\nid -u > %s/hooks/prolog; id -G >> %s/hooks/prolog\n' "$dir" "$dir" > "$dir/prolog"
printf '#!/bin/sh\nid -u > %s/hooks/mail\n' "$dir" > "$dir/mail"; chmod 755 "$dir/prolog" "$dir/mail"
start_cluster 1 4 "SlurmSchedLogFile=$dir/log/sched.log
SlurmSchedLogLevel=1
PrologSlurmctld=$dir/prolog
MailProg=$dir/mail"
(cd /tmp; sbatch --parsable -H -o /dev/null --wrap true > "$dir/held"); held=$(cat "$dir/held")
stop slurmctld
check "SlurmUser root stays root" "0" "$(stat -c %u "$dir/state/journal")"

# the state of root
echo secret > "$dir/victim"; chmod 600 "$dir/victim"; echo two > "$dir/twin"
ln -s "$dir/victim" "$dir/state/blobs/link"
ln "$dir/twin" "$dir/state/twin"
mkfifo "$dir/state/fifo"
rm -f "$dir/state/fifo"
user=mslurm; sed -i "s/^SlurmUser=.*/SlurmUser=$user/" "$SLURM_CONF"
chmod 700 "$dir/state"
chown mslurm "$dir/log/slurmctld.log"
check "SlurmUser alone cannot use root's state" "fatal: Incorrect permissions on state save loc: $dir/state 1" \
  "$(refusal setpriv --reuid=23040 --regid=23041 --init-groups slurmctld -D -f "$SLURM_CONF")"
chmod 755 "$dir/state"; chown root "$dir/log/slurmctld.log"
start_ctld || { tail -5 "$dir/log/start.out"; exit 1; }
c=$(pid_of slurmctld)
check "slurmctld is SlurmUser, with its groups" "$as_slurm" "$(ids "$c")"
check "each of slurmctld's threads is SlurmUser" "23040" \
  "$(cat /proc/"$c"/task/*/status | awk '/^Uid:/ {print $2; print $3; print $4; print $5}' | sort -u)"
check "slurmctld's process files are SlurmUser's" 23040 "$(stat -c %u "/proc/$c/environ")"
check "owners of logs, pid file and state" "23040:23041 23040:23041 23040:0 23040:23041" \
  "$(stat -c %u:%g "$dir/log/slurmctld.log" "$dir/log/sched.log" "$dir/run/slurmctld.pid" "$dir/state" | xargs)"
check "links and files with two names stay root's" "blobs/link twin" \
  "$(find "$dir/state" -uid 0 -printf '%P\n' | sort | xargs)"
check "the target of a link keeps owner and mode" "0 600" "$(stat -c '%u %a' "$dir/victim")"
check "a file with two names keeps its owner" 0 "$(stat -c %u "$dir/twin")"
match "the log counts the changed files" \
  "StateSaveLocation=$dir/state: [0-9]+ files and directories of root belong to SlurmUser mslurm now" \
  "$(grep 'of root belong' "$dir/log/slurmctld.log")"
match "the log counts the files that stay" 'links, special files or files with several names stay root' \
  "$(grep 'stay root' "$dir/log/slurmctld.log")"
rm -f "$dir/state/twin" "$dir/state/blobs/link"
check "the held job is kept" "$held JobHeldUser" "$(squeue -h -o '%i %r')"
becomes "the node is idle" idle '$(sinfo -h -N -o %T)'
scancel "$held"

# jobs and programs
chmod 777 "$dir/work"
(cd "$dir/work"; as 23042 23042 sbatch -W -Q --mail-type=BEGIN -o "$dir/work/who.txt" --wrap 'id -u' >/dev/null)
check "a job of another user runs" 23042 "$(cat "$dir/work/who.txt")"
check "PrologSlurmctld is SlurmUser" "23040 23041 23043" "$(xargs < "$dir/hooks/prolog")"
becomes "MailProg is SlurmUser" 23040 '$(cat "$dir/hooks/mail")'
check "scontrol reconfigure" 0 "$(scontrol reconfigure; echo $?)"
check "SlurmUser may update a node" 0 "$(slurm scontrol update node=n1 comment=x; echo $?)"
match "another user may not update a node" 'Invalid user id|Access/permission denied' \
  "$(other scontrol update node=n1 comment=y 2>&1 || true)"

# the command services
if grep -q '^command_service=' "$prefix/lib/muster/launcher.conf"; then
  lock=$prefix/var/run/commands.$(stat -L -c %i /proc/self/ns/net).lock \
    root_lock=${prefix}/var/run/commands.$(stat -L -c %i /proc/self/ns/net).root.lock
  fast() {
    becomes "$1: root's commands are served" main '$(no_java sinfo -h -o %R | head -1)'
    becomes "$1: SlurmUser's" main '$(no_java slurm sinfo -h -o %R | head -1)'
    becomes "$1: a user's" main '$(no_java other sinfo -h -o %R | head -1)'
  }
  fast "with slurmctld and slurmd"
  stop slurmd-n1; fast "without slurmd"
  for l in "$lock" "$root_lock"; do
    old=$(cat "$l")
    kill -9 "$old"
    comes "a killed service is started again" '^1$' \
      '$([ "$(cat $l)" != "$old" ] && kill -0 "$(cat $l)" && echo 1 || true)'
  done
  fast "after a kill of the services"
  k=$(pgrep -f "^$prefix/sbin/muster-commands keep" | head -1)
  check "the keeper is root's" 0 "$(awk '/^Uid:/ {print $2}' "/proc/$k/status")"
  check "the keeper's environment" "PATH=/usr/bin:/bin:/usr/sbin:/sbin" "$(tr '\0' ' ' < "/proc/$k/environ" | xargs)"
  # Open files of the keeper: the number of an expected one, number=target of another one.
  open_files() {
    local f target
    ls "/proc/$k/fd" | while read -r f; do
      target=$(readlink "/proc/$k/fd/$f")
      case $f:$target in
        0:socket:*|1:/dev/null|2:pipe:*) echo "$f" ;;
        *:socket:*|*:/memfd:muster-commands*) ;;
        *) echo "$f=$target" ;;
      esac
    done
  }
  check "the keeper holds a socket and a pipe of the daemon only" "0 1 2" "$(open_files | xargs)"
  check "one keeper runs" 1 "$(pgrep -fc "^$prefix/sbin/muster-commands keep")"
  s1=$(cat "$lock") s2=$(cat "$root_lock"); stop slurmctld
  check "the services end with the last daemon" "" "$(gone "$s1"; gone "$s2"; gone "$k")"
  start_ctld; start_node n1; fast "after a new start"
fi

# a crash
c=$(pid_of slurmctld); kill -9 "$c"; gone "$c"; start_ctld
check "slurmctld is SlurmUser after kill -9 and a start by root" "$as_slurm" "$(ids "$(pid_of slurmctld)")"
check "no file of the state is root's" "" "$(find "$dir/state" -uid 0)"
stop slurmctld
check "the pid file is empty after the end" "" "$(cat "$dir/run/slurmctld.pid" 2>/dev/null || true)"
: > "$dir/run/slurmctld.pid"

# another user starts it
sed "s#$dir/log/slurmctld.log#/tmp/$(basename "$dir").log#" "$SLURM_CONF" > "$dir/other.conf"
touch "/tmp/$(basename "$dir").log"
chmod 666 "/tmp/$(basename "$dir").log"
check "slurmctld of another user" "fatal: Failed to set GID to 23041 1" \
  "$(refusal setpriv --reuid=23042 --regid=23042 --clear-groups slurmctld -D -f "$dir/other.conf")"
check "slurmctld of another user with SlurmUser's group" \
  "fatal: Can not set uid to SlurmUser(23040): Operation not permitted 1" \
  "$(refusal setpriv --reuid=23042 --regid=23041 --clear-groups slurmctld -D -f "$dir/other.conf")"
rm -f "/tmp/$(basename "$dir").log"
mkdir "$dir/empty"; sed "s#^StateSaveLocation=.*#StateSaveLocation=$dir/empty#" "$SLURM_CONF" > "$dir/empty.conf"
check "an empty state directory of root is refused" "fatal: Incorrect permissions on state save loc: $dir/empty 1" \
  "$(refusal slurmctld -D -f "$dir/empty.conf")"
check "an empty state directory stays root's" 0 "$(stat -c %u "$dir/empty")"
chown root "$dir"/state/journal/*; chmod 600 "$dir"/state/journal/*
match "a file of root in the state is refused" 'cannot read and write .*/journal/.*chown -R mslurm .* 1$' \
  "$(refusal setpriv --reuid=23040 --regid=23041 --init-groups slurmctld -D -f "$SLURM_CONF")"
(umask 077; head -c 64 /dev/urandom > "$dir/slurm.key")
start_ctld; stop slurmd-n1; start_node n1
becomes "root's start gives the files to SlurmUser and reads a key of root" idle '$(sinfo -h -N -o %T)'
match "the log tells how SlurmUser may read the key" "slurm.key cannot be read by SlurmUser.*chown mslurm" \
  "$(grep 'cannot be read by SlurmUser' "$dir/log/slurmctld.log" | tail -1)"
check "the key is known after a reconfiguration" 0 "$(reread; other sinfo -h >/dev/null; echo $?)"
stop slurmctld; stop slurmd-n1

# slurmdbd
cat > "$dir/slurmdbd.conf" <<C
AuthType=auth/slurm
DbdHost=localhost
DbdPort=$(free_port)
SlurmUser=root
StorageType=accounting_storage/embedded
StorageLoc=$dir/db
LogFile=$dir/log/slurmdbd.log
PidFile=$dir/run/slurmdbd.pid
C
chmod 600 "$dir/slurmdbd.conf"
start_dbd
check "slurmdbd of root" 0 "$(stat -c %u "$dir/db/accounting.mv.db")"
stop slurmdbd
sed -i 's/^SlurmUser=.*/SlurmUser=mslurm/' "$dir/slurmdbd.conf"
start_dbd
check "slurmdbd is SlurmUser" "$as_slurm" "$(ids "$(pid_of slurmdbd)")"
check "owners of files of slurmdbd" "23040 23040 23040 23040" \
  "$(stat -c %u "$dir/db" "$dir/db/accounting.mv.db" "$dir/log/slurmdbd.log" "$dir/run/slurmdbd.pid" | xargs)"
port=$(sed -n 's/^DbdPort=//p' "$dir/slurmdbd.conf")
cat >> "$SLURM_CONF" <<C
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$port
C
check "slurmdbd answers" "" "$(sacctmgr -nP list cluster 2>&1)"
stop slurmdbd
chown 23042 "$dir/slurmdbd.conf"
check "slurmdbd of another user" "fatal: slurmdbd.conf owned by 23042 not SlurmUser(23040) or root 1" \
  "$(refusal setpriv --reuid=23042 --regid=23042 --clear-groups slurmdbd -D -f "$dir/slurmdbd.conf")"
chown root:mother "$dir/slurmdbd.conf"
chmod 640 "$dir/slurmdbd.conf"
sed -i "s#^LogFile=.*#LogFile=/tmp/$(basename "$dir").dbd#" "$dir/slurmdbd.conf"
touch "/tmp/$(basename "$dir").dbd"; chmod 666 "/tmp/$(basename "$dir").dbd"
check "slurmdbd of another user that may read slurmdbd.conf" "fatal: Failed to set GID to 23041 1" \
  "$(refusal setpriv --reuid=23042 --regid=23042 --clear-groups slurmdbd -D -f "$dir/slurmdbd.conf")"
rm -f "/tmp/$(basename "$dir").dbd"
