#!/usr/bin/env bash
# SlurmctldParameters=max_dbd_msg_action=exit: slurmctld ends when too much waits for slurmdbd, and goes on where it
# had been when that is back.
. "$(dirname "$0")/lib.bash"
prepare_dbd
start_dbd
sacctmgr -i add cluster test >/dev/null
start_cluster 1 4 "$accounting
MaxDBDMsgs=10000
MaxJobCount=30000
MaxArraySize=20000
SlurmctldParameters=max_dbd_msg_action=exit"
is_up() { kill -0 "$(cat "$dir/run/slurmctld.pid")" 2>/dev/null && echo up || echo gone; }
kill -9 "$(pid_of slurmdbd)"
id=$(sbatch --parsable -H --array=0-10200 --wrap true)
check "less may wait" up "$(sleep 1; is_up)"
scancel "${id}_[0-10199]" >/dev/null 2>&1 || true
soon '[ "$(is_up)" = gone ]'
becomes "more may not" "gone MaxDBDMsgs" '"$(is_up) $(grep -o MaxDBDMsgs "$dir/log/slurmctld.log" | tail -1)"'
start_ctld || true
soon '[ "$(is_up)" = gone ]'
becomes "nor after a start" gone '"$(is_up)"'
start_dbd; start_ctld
known() { echo $(($(sacct -X -n -P -o state -j "$id" | grep -c CANCELLED || true) + $(squeue -h -r -o %i | wc -l))); }
soon '[ "$(known)" = 10201 ]'
becomes "with slurmdbd it starts, and nothing is lost" "up 10201" '"$(is_up) $(known)"'
# With discard jobs are taken all the same, and what waits is thrown away.
kill "$(pid_of slurmctld)"; soon '[ "$(is_up)" = gone ]'
sed -i 's/max_dbd_msg_action=exit/max_dbd_msg_action=discard/' "$SLURM_CONF"; start_ctld; sleep 1
kill -9 "$(pid_of slurmdbd)"
id=$(sbatch --parsable -H --array=0-10200 --wrap true)
scancel "${id}_[0-10199]" >/dev/null 2>&1 || true
soon 'grep -q "MaxDBDMsgs is reached" "$dir/log/slurmctld.log"'
becomes "something is thrown away" 1 '"$(grep -c -m 1 "MaxDBDMsgs is reached" "$dir/log/slurmctld.log")"'
match "and jobs are taken" "^up [0-9]+$" "$(is_up) $(sbatch --parsable -H --wrap true 2>&1)"
seen=$(grep -c 'the database answers again' "$dir/log/slurmctld.log" || true)
start_dbd; soon '[ "$(grep -c "the database answers again" "$dir/log/slurmctld.log")" -gt "$seen" ]'
# until what was kept has gone out more may be thrown away
anew() {
  local last
  last=$(sbatch --parsable -H --wrap true)
  scancel "$last"
  sleep 1
  timeout 10 sacct -X -n -P -o state -j "$last"
}
for _ in $(seq 15); do state=$(anew || true); [ "$state" != "CANCELLED by $(id -u)" ] || break; done
check "what comes later is in the tables" "CANCELLED by $(id -u)" "$state"
