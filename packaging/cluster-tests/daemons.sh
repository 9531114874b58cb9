#!/usr/bin/env bash
# The daemons as processes: names, pid files, signals, logs, the system's log, sackd.
# shows: DebugFlags, LogTimeFormat, SlurmctldDebug, SlurmctldPidFile, SlurmctldSyslogDebug, SlurmdPidFile
# shows: SlurmdSyslogDebug
# shows: StateSaveLocation
. "$(dirname "$0")/lib.bash"
mkdir -p "$dir/log"
syslog=
if [ "$(id -u)" = 0 ] && [ ! -e /dev/log ] && command -v perl >/dev/null; then
  perl -MIO::Socket::UNIX -e 'use Socket;
    my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => "/dev/log") or exit 1;
    chmod 0666, "/dev/log"; $| = 1;
    my $b; while (defined $s->recv($b, 4096)) { print "$b\n" }' > "$dir/log/syslog" 2>/dev/null &
  syslog=$!; soon '[ -e /dev/log ]'
else echo "skipped: the system's log (needs root, perl and a free /dev/log)"; fi
trap '[ -z "$syslog" ] || { kill "$syslog"; rm -f /dev/log; }; finish' EXIT
start_cluster 1 2 "SlurmctldSyslogDebug=info
SlurmdSyslogDebug=info
LogTimeFormat=rfc5424_ms
SlurmctldDebug=debug"

ctld=$(pid_of slurmctld)
check "slurmctld's name" slurmctld "$(cat "/proc/$ctld/comm")"
check "slurmctld's command line" "slurmctld -f $SLURM_CONF" "$(tr '\0' ' ' < "/proc/$ctld/cmdline" | sed 's/ $//')"
check "slurmctld's program" "$(readlink -f "$prefix/sbin/slurmctld")" "$(readlink "/proc/$ctld/exe")"
check "slurmd's program" "$(readlink -f "$prefix/sbin/slurmd")" "$(readlink "/proc/$(pid_of slurmd-n1)/exe")"
match "the log's times" '^\[[0-9]{4}-[0-9-]+T[0-9:]{8}\.[0-9]{3}[+-][0-9:]+\] ' "$(head -1 "$dir/log/slurmctld.log")"
if [ -n "$syslog" ]; then
  comes "the system's log has slurmctld's name and pid" "slurmctld\[$ctld\]: slurmctld version" \
    '"$(cat "$dir/log/syslog")"'
  comes "the system's log has slurmd's name and pid" "slurmd\[[0-9]+\]: slurmd version" '"$(cat "$dir/log/syslog")"'
  check "the system's log has no message below its level" 0 "$(grep -c 'debug:' "$dir/log/syslog" || true)"
fi
scontrol setdebugflags +Steps,TraceJobs; scontrol setdebug verbose
id=$(sbatch --parsable -o /dev/null --wrap true); wait_empty; scontrol setdebugflags -TraceJobs
check "scontrol setdebugflags" "Steps" "$(scontrol show config | sed -n 's/^DebugFlags *= //p')"
check "scontrol setdebug" "verbose" "$(scontrol show config | sed -n 's/^SlurmctldDebug *= //p')"
match "DebugFlags=Steps" "STEPS: StepId=$id.batch is over" "$(cat "$dir/log/slurmctld.log")"
match "DebugFlags=TraceJobs" "TRACEJOBS: JobId=$id State=COMPLETED NodeCnt=0" "$(cat "$dir/log/slurmctld.log")"
check "an unknown debug flag is refused" "1|invalid debug flag: +nosuch" \
  "$(rc=0; e=$(scontrol setdebugflags +nosuch 2>&1) || rc=$?; echo "$rc|$(tail -1 <<< "$e")")"
mv "$dir/log/slurmctld.log" "$dir/log/rotated"; kill -USR2 "$ctld"
soon '[ -e "$dir/log/slurmctld.log" ]'
check "USR2 opens the log again" yes "$([ -e "$dir/log/slurmctld.log" ] && echo yes)"
sed -i 's/^KillWait=5/KillWait=7/' "$SLURM_CONF"; kill -HUP "$ctld"
becomes "HUP reads the configuration" "7 sec" '"$(scontrol show config | sed -n '\''s/^KillWait *= //p'\'')"'
sed -i 's/^KillWait=7/KillWait=soon/' "$SLURM_CONF"; kill -HUP "$ctld"
soon 'grep -q "slurm.conf.*[0-9].*KillWait" "$dir/log/slurmctld.log"'
sed -i 's/^KillWait=soon/KillWait=7/' "$SLURM_CONF"
check "an invalid slurm.conf changes nothing" "7 sec" "$(scontrol show config | sed -n 's/^KillWait *= //p')"
match "the log names the line of the mistake" 'slurm.conf.*[0-9].*KillWait' \
  "$(grep -i killwait "$dir/log/slurmctld.log")"
check "a second controller is refused" 1 "$(timeout 20 slurmctld -f "$SLURM_CONF" >/dev/null 2>&1 </dev/null; echo $?)"
check "the first controller goes on" "UP" "$(scontrol ping | grep -o UP)"

# A host without slurmd and slurmctld: sackd authenticates its callers.
mkdir -p "$dir/login/run"; cp "$dir/state/slurm.key" "$dir/login/slurm.key" 2>/dev/null || true
sed -e "s|^SlurmctldPidFile=.*|SlurmctldPidFile=$dir/login/run/slurmctld.pid|" \
  -e "s|^SlurmdPidFile=.*|SlurmdPidFile=$dir/login/run/slurmd.pid|" \
  -e "s|^StateSaveLocation=.*|StateSaveLocation=$dir/login/state|" "$SLURM_CONF" > "$dir/login/slurm.conf"
chmod 600 "$dir/login/slurm.key"
check "sackd without its configuration" 1 "$(timeout 20 sackd -f /nonexistent >/dev/null 2>&1 </dev/null; echo $?)"
match "SACKD_PORT is refused" "SACKD_PORT: sackd asks slurmctld for changes and listens on no port" \
  "$(SACKD_PORT=1 timeout 20 sackd -f "$dir/login/slurm.conf" 2>&1 </dev/null || true)"
match "an unknown SACKD_DEBUG is refused" "SACKD_DEBUG invalid: loud" \
  "$(SACKD_DEBUG=loud timeout 20 sackd -D -f "$dir/login/slurm.conf" 2>&1 </dev/null || true)"
sackd -f "$dir/login/slurm.conf" </dev/null >/dev/null 2>&1
sack=$(pgrep -f "sackd -f $dir/login/slurm.conf" | head -1)
check "sackd's name" sackd "$(cat "/proc/$sack/comm")"
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$dir/login" "$dir/login/run"
  id=$(cd /tmp && SLURM_CONF=$dir/login/slurm.conf setpriv \
    --reuid=nobody --clear-groups "$prefix/bin/sbatch" --parsable -o /dev/null --wrap true)
  wait_empty
  check "sackd authenticates a command of another user" nobody "$(sacct -X -n -P -o User -j "$id")"
fi
kill "$sack"; soon '! kill -0 "$sack" 2>/dev/null'
check "sackd deletes its socket when it ends" "" "$(ls "$dir/login/run")"

kill "$ctld"; soon '! [ -e "$dir/run/slurmctld.pid" ]'
check "TERM removes the pid file" no "$([ -e "$dir/run/slurmctld.pid" ] && echo yes || echo no)"
