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
sleep 1    # 1 s: slurmctld must not end while fewer messages than MaxDBDMsgs wait
check "slurmctld runs while fewer messages than MaxDBDMsgs wait" up "$(is_up)"
scancel "${id}_[0-10199]" >/dev/null 2>&1 || true
soon '[ "$(is_up)" = gone ]'
becomes "slurmctld ends when more messages wait" "gone MaxDBDMsgs" \
  '"$(is_up) $(grep -o MaxDBDMsgs "$dir/log/slurmctld.log" | tail -1)"'
start_ctld || true
soon '[ "$(is_up)" = gone ]'
becomes "slurmctld ends again after a start" gone '"$(is_up)"'
start_dbd; start_ctld
known() { echo $(($(sacct -X -n -P -o state -j "$id" | grep -c CANCELLED || true) + $(squeue -h -r -o %i | wc -l))); }
soon '[ "$(known)" = 10201 ]'
becomes "with slurmdbd slurmctld starts and sends every message" "up 10201" '"$(is_up) $(known)"'
# With max_dbd_msg_action=discard jobs are accepted, and further messages are discarded.
kill "$(pid_of slurmctld)"; soon '[ "$(is_up)" = gone ]'
sed -i 's/max_dbd_msg_action=exit/max_dbd_msg_action=discard/' "$SLURM_CONF"; start_ctld
soon 'squeue -h >/dev/null 2>&1'
kill -9 "$(pid_of slurmdbd)"
id=$(sbatch --parsable -H --array=0-10200 --wrap true)
scancel "${id}_[0-10199]" >/dev/null 2>&1 || true
soon 'grep -q "MaxDBDMsgs is reached" "$dir/log/slurmctld.log"'
becomes "messages are discarded" 1 '"$(grep -c -m 1 "MaxDBDMsgs is reached" "$dir/log/slurmctld.log")"'
match "jobs are accepted" "^up [0-9]+$" "$(is_up) $(sbatch --parsable -H --wrap true 2>&1)"
seen=$(grep -c 'the database answers again' "$dir/log/slurmctld.log" || true)
start_dbd; soon '[ "$(grep -c "the database answers again" "$dir/log/slurmctld.log")" -gt "$seen" ]'
# Until the waiting messages have gone out, more may be discarded.
cancelled="CANCELLED by $(id -u)"
new_job_is_stored() { # submits and cancels a job, and looks at its row for 10 times 0.1 s
  local last n=0
  last=$(sbatch --parsable -H --wrap true)
  scancel "$last"
  until state=$(timeout 10 sacct -X -n -P -o state -j "$last" || true); [ "$state" = "$cancelled" ]; do
    [ $((n+=1)) -lt 10 ] || return 1
    sleep 0.1
  done
}
soon new_job_is_stored
check "later changes are stored" "$cancelled" "$state"
