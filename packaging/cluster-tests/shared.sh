#!/usr/bin/env bash
# Two slurmctld that share one StateSaveLocation, as sites of Slurm have them. The leader is killed under load, stopped
# and told to stop; what was acknowledged stays, and running jobs go on.
# shows: SlurmctldTimeout
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
unshare -um true 2>/dev/null || { echo "skipped: no namespaces"; exit 0; }

controllers=2
. "$here/../controllers.bash"

start_controllers 2 64 "MessageTimeout=30
SlurmctldTimeout=3"
check "the first SlurmctldHost leads" 1 "$(leader)"
check "a job" "hello" "$(srun echo hello)"
becomes "ping names both" 2 '"$(scontrol ping | grep -c -E "^Slurmctld\((primary|backup)\) at c[12] is UP")"'
becomes "the other one stands by" 1 '"$(scontrol ping | grep -c -F "follows in term 1, 0 entries behind")"'

# one backup: takeover without an index
check "takeover" 0 "$(scontrol takeover >takeover.out 2>&1; echo $?)"
check "takeover says nothing" "" "$(cat takeover.out)"
check "the backup leads" 2 "$(leader)"
check "a job under it" "hello" "$(srun echo hello)"
check "the primary takes over again" "0 1" "$(scontrol takeover 0 >/dev/null 2>&1; echo "$? $(leader)")"

# a leader that stands still loses its lease, and acknowledges nothing when it goes on
kill -STOP "$(controller_pid 1)"; at=$(date +%s%3N)
soon '[ "$(leader)" = 2 ]'
ms=$(( $(date +%s%3N) - at ))
check "not before SlurmctldTimeout" yes "$([ "$ms" -ge 2750 ] && echo yes || echo "$ms ms")"
check "a job while the leader stands still" "hello" "$(timeout 28 srun echo hello 2>srun.err)"
check "the backup leads" 2 "$(leader)"
kill -CONT "$(controller_pid 1)"
soon 'scontrol ping | grep -q "at c1 is UP (follows"'
check "a job after the old leader goes on" "hello" "$(srun echo hello)"

# triggers of controllers
printf '#!/bin/sh\necho "$*" >> %s/fired\n' "$PWD" > fired.sh; chmod 755 fired.sh
for event in primary_slurmctld_failure primary_slurmctld_resumed_operation backup_slurmctld_failure \
  backup_slurmctld_resumed_operation backup_slurmctld_assumed_control primary_slurmctld_resumed_control; do
  strigger --set --$event --program="$PWD/fired.sh $event" >/dev/null
done
fired() { sort fired 2>/dev/null | cut -d' ' -f1 | xargs; }

# an orderly stop: the other one leads at once
at=$(date +%s%3N)
kill "$(controller_pid 2)"
soon '[ "$(leader)" = 1 ]'
echo "     the primary led $(( $(date +%s%3N) - at )) ms after the backup was told to stop"
soon 'fired | grep -q backup_slurmctld_failure'
soon '[ -z "$(controller_pid 2)" ]'
start_controller 2
soon 'scontrol ping | grep -q "at c2 is UP (follows"'
becomes "triggers of the primary that leads again and of the backup's failure and return" \
  "backup_slurmctld_failure backup_slurmctld_resumed_operation primary_slurmctld_resumed_control" '$(fired | tr " " "\n" |
  grep -v primary_slurmctld_resumed_operation | xargs)'

# sbatch in loops while leaders are killed: each acknowledged job runs once and is known afterwards
begin_submissions
for round in 1 2 3; do
  was=$(leader) at=$(date +%s%3N)
  kill -9 "$(controller_pid "$was")"
  soon '[ -n "$(leader)" ] && [ "$(leader)" != "$was" ]'
  echo "     another one led $(( $(date +%s%3N) - at )) ms after kill -9"
  start_controller "$was"
  soon 'scontrol ping | grep -q "at c$was is UP (follows"'
  sleep 2 # 2 s: submissions under the new leader
done
check_submissions 3

# hosts that do not share the directory: the second one refuses to lead, and to run
kill "$(controller_pid 1)"; soon '[ "$(leader)" = 2 ]'
becomes "triggers of the primary's failure and the backup's control" "yes" \
  '$(fired | grep -q "backup_slurmctld_assumed_control.*primary_slurmctld_failure" && echo yes)'
mkdir -p apart c1/ctl; : > start.out
unshare -um bash -c "hostname c1; mount --bind $dir/c1/ctl $dir/ctl; mount --bind $PWD/apart $dir/state
  slurmctld -D -f $SLURM_CONF; echo \$? > $PWD/apart.rc" </dev/null >/dev/null 2>&1 &
becomes "a host with another directory says so" 1 \
  '"$(grep -c "is not the directory of c2:" "$dir/c1/ctl/slurmctld.log" 2>/dev/null | xargs)"'
becomes "and stops" "1" '"$(cat apart.rc 2>/dev/null)"'
check "the leader goes on" "hello" "$(srun echo hello)"

# one of the two goes on alone with their journal
kill "$(controller_pid 2)"; soon '[ -z "$(controller_pid 2)" ]'
sed -i '/^SlurmctldHost=c2/d' "$SLURM_CONF"
start_controller 1
soon '[ "$(leader)" = 1 ]'
match "a single controller has the jobs of both" "JobState=COMPLETED" "$(scontrol -o show job "$long" 2>&1)"
soon '[ "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" = 2 ]'
check "and runs more" "hello" "$(srun echo hello)"
