#!/usr/bin/env bash
# Three slurmctld without a shared file system: each on a host name, an address and a StateSaveLocation of its own.
# The leader is killed under load, stopped and cut off; what was acknowledged stays, and running jobs go on.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
unshare -um true 2>/dev/null || { echo "skipped: no namespaces"; exit 0; }

. "$here/../controllers.bash"
as() { setpriv --reuid=nobody --regid=nogroup --clear-groups env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "$@"; }

start_controllers 2 64 MessageTimeout=30
check "one of three controllers leads" 1 "$(leader | wc -w)"
check "a job" "hello" "$(srun echo hello)"
scontrol ping > ping
check "ping names each controller" 3 "$(grep -c -E '^Slurmctld\((primary|backup1|backup2)\) at c[123] is UP' ping)"
check "ping says what the others lack" 2 "$(grep -c -E 'follows in term [0-9]+, [0-9]+ entries behind' ping)"

# another controller takes over while jobs are submitted
next=$(( $(leader) % 3 ))
check "takeover" 0 "$(scontrol takeover "$next" >takeover.out 2>&1; echo $?)"
check "takeover says nothing" "" "$(cat takeover.out)"
check "the named controller leads" "$((next + 1))" "$(leader)"
check "a job under it" "hello" "$(srun echo hello)"
check "takeover of the leader is done already" 0 "$(scontrol takeover "$next" >/dev/null 2>&1; echo $?)"
check "no such controller" "takeover: invalid backup controller index (3)" "$(scontrol takeover 3 2>&1)"
check "a user may not" "slurm_takeover error: Access/permission denied" \
  "$(as scontrol takeover $(( $(leader) % 3 )) 2>&1)"

# a leader that stands still: commands and nodes go to the next one, and the old one changes nothing when it goes on
still=$(leader)
kill -STOP "$(controller_pid "$still")"
check "a job while the leader stands still" "hello" "$(timeout 25 srun echo hello 2>srun.err)"
check "another controller leads" yes "$(l=$(leader); [ -n "$l" ] && [ "$l" != "$still" ] && echo yes)"
kill -CONT "$(controller_pid "$still")"
soon 'scontrol ping | grep -q "at c$still is UP (follows"'
check "a job after the old leader goes on" "hello" "$(srun echo hello)"

# sbatch in loops while leaders are killed: each acknowledged job runs once and is known afterwards
begin_submissions
for round in 1 2; do
  was=$(leader)
  kill -9 "$(controller_pid "$was")"
  soon '[ -n "$(leader)" ] && [ "$(leader)" != "$was" ]'
  start_controller "$was"
  sleep 2 # 2 s: submissions under the new leader
done
check_submissions 2
