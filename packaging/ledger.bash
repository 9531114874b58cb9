# What kill -9 of the controller costs, counted by an outside ledger: the same measurement for any Slurm-compatible
# installation.
#
#   kill_rounds BIN DIR ROUNDS
# needs SLURM_CONF, DIR/run/slurmctld.pid, and a function start_ctld that starts the controller
#
# Jobs write their begin and end into DIR/ledger; what sbatch acknowledged goes into DIR/acks. Two loops submit jobs
# that run at once and a third submits held ones, all the while; four long jobs run from the first round to the last.
# Sets: acked, rounds_done, missing (acknowledged, never ran to its end, or a held one that is not in the queue), twice
# (ran twice), reused (a number given twice), disturbed (long jobs that did not run through exactly once).
kill_rounds() {
  local bin=$1 d=$2 rounds=$3 r i long=4 submitters
  local ledger=$d/ledger acks=$d/acks held=$d/held
  rm -f "$d/stop"; : > "$ledger"; : > "$acks"; : > "$held"; : > "$ledger.long"; chmod 666 "$ledger" "$ledger.long"
  cat > "$d/job.sh" <<J
#!/bin/bash
echo "start \$SLURM_JOB_ID \$1" >> $ledger
echo "end \$SLURM_JOB_ID \$1" >> $ledger
J
  cat > "$d/long.sh" <<J
#!/bin/bash
echo "begin \$1" >> $ledger.long
while [ ! -e $d/stop ]; do sleep 0.5; done
echo "end \$1" >> $ledger.long
J
  chmod 755 "$d/job.sh" "$d/long.sh"
  for i in $(seq $long); do "$bin/sbatch" --parsable -o /dev/null "$d/long.sh" "long$i" >/dev/null; done
  while [ "$(grep -c begin "$ledger.long")" -lt $long ]; do sleep 0.2; done
  stream() {
    local i=0 id
    while [ ! -e "$d/stop" ]; do
      i=$((i+1))
      id=$("$bin/sbatch" --parsable -o /dev/null "$d/job.sh" "$1-$i" 2>/dev/null) && echo "$id $1-$i" >> "$acks"
      sleep 0.02
    done
  }
  stream_held() {
    local id
    while [ ! -e "$d/stop" ]; do
      id=$("$bin/sbatch" --parsable -H -o /dev/null --wrap=true 2>/dev/null) && echo "$id" >> "$held"
      sleep 0.05
    done
  }
  stream a & submitters=$!; stream b & submitters="$submitters $!"; stream_held & submitters="$submitters $!"
  rounds_done=0
  for r in $(seq "$rounds"); do
    sleep "0.$((RANDOM % 9 + 1))"; sleep 0.5
    kill -9 "$(cat "$d/run/slurmctld.pid")"; sleep 0.1
    start_ctld
    for i in $(seq 100); do "$bin/scontrol" ping 2>/dev/null | grep -q "is UP" && break; sleep 0.1; done
    rounds_done=$r
  done
  touch "$d/stop"; wait $submitters 2>/dev/null || true
  for i in $(seq 900); do
    [ -n "$("$bin/squeue" -h -t PD,R,CG,CF -o '%i %r' 2>/dev/null | grep -v JobHeldUser | head -1)" ] || break
    sleep 0.2
  done
  acked=$(cat "$acks" "$held" | wc -l)
  missing=$(cut -d' ' -f2 "$acks" | sort | comm -23 - <(awk '$1=="end"{print $3}' "$ledger" | sort -u) | wc -l)
  missing=$((missing + $(sort "$held" | comm -23 - <("$bin/squeue" -h -t all -o %i | sort) | wc -l)))
  twice=$(awk '$1=="start"{print $3}' "$ledger" | sort | uniq -d | wc -l)
  reused=$( (cut -d' ' -f1 "$acks"; cat "$held") | sort | uniq -d | wc -l)
  disturbed=0
  for i in $(seq $long); do
    [ "$(grep -w "long$i" "$ledger.long" | tr '\n' ' ')" = "begin long$i end long$i " ] || disturbed=$((disturbed + 1))
  done
}
