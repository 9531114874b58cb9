#!/usr/bin/env bash
# slurmctld and slurmdbd that root starts become SlurmUser: their ids, files and programs, the state of a predecessor that ran as root, and the
# command services, which need root.
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
gone() { for _ in $(seq 150); do kill -0 "$1" 2>/dev/null || return 0; sleep 0.1; done; echo "$1 is still there"; }
stop() { local p; p=$(pid_of "$1"); kill "$p"; gone "$p"; }
ids() { awk '/^(Uid|Gid|Groups|CapEff):/ {$1=$1; print}' "/proc/$1/status" | xargs; }
as_slurm="Uid: 23040 23040 23040 23040 Gid: 23041 23041 23041 23041 Groups: 23041 23043 CapEff: 0000000000000000"
# The end of what a start in the foreground says, and its exit code.
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
check "SlurmUser alone cannot use it" "fatal: Incorrect permissions on state save loc: $dir/state 1" \
  "$(chmod 700 "$dir/state"
  chown mslurm "$dir/log/slurmctld.log"
  refusal setpriv --reuid=23040 --regid=23041 --init-groups slurmctld -D -f "$SLURM_CONF")"
chmod 755 "$dir/state"; chown root "$dir/log/slurmctld.log"
start_ctld || { tail -5 "$dir/log/start.out"; exit 1; }
c=$(pid_of slurmctld)
check "slurmctld is SlurmUser, with its groups" "$as_slurm" "$(ids "$c")"
check "every thread of it" "23040" \
  "$(cat /proc/"$c"/task/*/status | awk '/^Uid:/ {print $2; print $3; print $4; print $5}' | sort -u)"
check "its process is its user's, as are core files" 23040 "$(stat -c %u "/proc/$c/environ")"
check "the logs, the pid file and the state are its" "23040:23041 23040:23041 23040:0 23040:23041" \
  "$(stat -c %u:%g "$dir/log/slurmctld.log" "$dir/log/sched.log" "$dir/run/slurmctld.pid" "$dir/state" | xargs)"
check "nothing of the state is root's but links and files with two names" "blobs/link twin" \
  "$(find "$dir/state" -uid 0 -printf '%P\n' | sort | xargs)"
check "what a link leads to stays as it was" "0 600 0" "$(stat -c '%u %a' "$dir/victim") $(stat -c %u "$dir/twin")"
match "the log tells of it" \
  "StateSaveLocation=$dir/state: [0-9]+ files and directories of root belong to SlurmUser mslurm now" \
  "$(grep 'of root belong' "$dir/log/slurmctld.log")"
match "and of what stays" 'links, special files or files with several names stay root' \
  "$(grep 'stay root' "$dir/log/slurmctld.log")"
rm -f "$dir/state/twin" "$dir/state/blobs/link"
check "the job is still there" "$held JobHeldUser" "$(squeue -h -o '%i %r')"
becomes "so is the node" idle '$(sinfo -h -N -o %T)'
scancel "$held"

# jobs and programs
chmod 777 "$dir/work"
check "a job of another user runs" 23042 "$(cd "$dir/work"; as 23042 23042 sbatch -W -Q --mail-type=BEGIN \
    -o "$dir/work/who.txt" --wrap 'id -u' >/dev/null; cat "$dir/work/who.txt")"
check "PrologSlurmctld is SlurmUser" "23040 23041 23043" "$(xargs < "$dir/hooks/prolog")"
becomes "MailProg is SlurmUser" 23040 '$(cat "$dir/hooks/mail")'
check "scontrol reconfigure" 0 "$(scontrol reconfigure; echo $?)"
check "SlurmUser may what root may" 0 "$(slurm scontrol update node=n1 comment=x; echo $?)"
match "another may not" 'Invalid user id|Access/permission denied' \
  "$(other scontrol update node=n1 comment=y 2>&1 || true)"

# the command services
if grep -q '^command_service=' "$prefix/lib/muster/launcher.conf"; then
  lock=$prefix/var/run/commands.$(stat -L -c %i /proc/self/ns/net).lock \
    root_lock=${prefix}/var/run/commands.$(stat -L -c %i /proc/self/ns/net).root.lock
  fast() { becomes "$1: root's commands are served" main '$(no_java sinfo -h -o %R | head -1)'
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
  fast "after that"
  k=$(pgrep -f "^$prefix/sbin/muster-commands keep" | head -1)
  check "the keeper is root's, its environment is its own" "0 PATH=/usr/bin:/bin:/usr/sbin:/sbin" \
    "$(awk '/^Uid:/ {print $2}' "/proc/$k/status") $(tr '\0' ' ' < "/proc/$k/environ" | xargs)"
  check "it holds nothing of the daemon but a socket and a pipe" "0 1 2" \
    "$(ls "/proc/$k/fd" | while read -r f; do t=$(readlink "/proc/$k/fd/$f")
    case $f:$t in 0:socket:*|1:/dev/null|2:pipe:*) echo "$f" ;; *:socket:*|*:/memfd:muster-commands*) ;; *) echo \
      "$f=$t" ;; esac
  done | xargs)"
  check "the daemon's programs do not hold the keeper" 1 "$(pgrep -fc "^$prefix/sbin/muster-commands keep")"
  s1=$(cat "$lock") s2=$(cat "$root_lock"); stop slurmctld
  check "the end of the last daemon ends them" "" "$(gone "$s1"; gone "$s2"; gone "$k")"
  start_ctld; start_node n1; fast "after a new start"
fi

# a crash
c=$(pid_of slurmctld); kill -9 "$c"; gone "$c"; start_ctld
check "after kill -9 root starts it again" "$as_slurm" "$(ids "$(pid_of slurmctld)")"
check "nothing is left of root" "" "$(find "$dir/state" -uid 0)"
stop slurmctld
check "the pid file names nothing afterwards" "" "$(cat "$dir/run/slurmctld.pid" 2>/dev/null || true)"
: > "$dir/run/slurmctld.pid"

# another user starts it
sed "s#$dir/log/slurmctld.log#/tmp/$(basename "$dir").log#" "$SLURM_CONF" > "$dir/other.conf"
touch "/tmp/$(basename "$dir").log"
chmod 666 "/tmp/$(basename "$dir").log"
check "another user" "fatal: Failed to set GID to 23041 1" \
  "$(refusal setpriv --reuid=23042 --regid=23042 --clear-groups slurmctld -D -f "$dir/other.conf")"
check "another user with SlurmUser's group" "fatal: Can not set uid to SlurmUser(23040): Operation not permitted 1" \
  "$(refusal setpriv --reuid=23042 --regid=23041 --clear-groups slurmctld -D -f "$dir/other.conf")"
rm -f "/tmp/$(basename "$dir").log"
mkdir "$dir/empty"; sed "s#^StateSaveLocation=.*#StateSaveLocation=$dir/empty#" "$SLURM_CONF" > "$dir/empty.conf"
check "an empty directory of root" "fatal: Incorrect permissions on state save loc: $dir/empty 1" \
  "$(refusal slurmctld -D -f "$dir/empty.conf")"
check "stays root's" 0 "$(stat -c %u "$dir/empty")"
chown root "$dir"/state/journal/*; chmod 600 "$dir"/state/journal/*
match "one file of root in the state" 'cannot read and write .*/journal/.*chown -R mslurm .* 1$' \
  "$(refusal setpriv --reuid=23040 --regid=23041 --init-groups slurmctld -D -f "$SLURM_CONF")"
(umask 077; head -c 64 /dev/urandom > "$dir/slurm.key")
start_ctld; stop slurmd-n1; start_node n1
becomes "root's start gives it; a key that is root's alone is read before" idle '$(sinfo -h -N -o %T)'
match "the log tells what a change of it needs" "slurm.key cannot be read by SlurmUser.*chown mslurm" \
  "$(grep 'cannot be read by SlurmUser' "$dir/log/slurmctld.log" | tail -1)"
check "and is still known after a reconfiguration" 0 "$(reread; other sinfo -h >/dev/null; echo $?)"
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
check "so are its files" "23040 23040 23040 23040" \
  "$(stat -c %u "$dir/db" "$dir/db/accounting.mv.db" "$dir/log/slurmdbd.log" "$dir/run/slurmdbd.pid" | xargs)"
port=$(sed -n 's/^DbdPort=//p' "$dir/slurmdbd.conf")
printf 'AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort=%s\n' "$port" \
  >> "$SLURM_CONF"
check "and it serves" "" "$(sacctmgr -nP list cluster 2>&1)"
stop slurmdbd
check "another user" "fatal: slurmdbd.conf owned by 23042 not SlurmUser(23040) or root 1" \
  "$(chown 23042 "$dir/slurmdbd.conf"
  refusal setpriv --reuid=23042 --regid=23042 --clear-groups slurmdbd -D -f "$dir/slurmdbd.conf")"
chown root:mother "$dir/slurmdbd.conf"
chmod 640 "$dir/slurmdbd.conf"
sed -i "s#^LogFile=.*#LogFile=/tmp/$(basename "$dir").dbd#" "$dir/slurmdbd.conf"
touch "/tmp/$(basename "$dir").dbd"; chmod 666 "/tmp/$(basename "$dir").dbd"
check "one that may read it" "fatal: Failed to set GID to 23041 1" \
  "$(refusal setpriv --reuid=23042 --regid=23042 --clear-groups slurmdbd -D -f "$dir/slurmdbd.conf")"
rm -f "/tmp/$(basename "$dir").dbd"
