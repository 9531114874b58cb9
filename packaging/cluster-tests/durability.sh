#!/usr/bin/env bash
# kill -9 of slurmctld at random moments under a stream of submissions, jobs running all the while: with an outside ledger,
# nothing acknowledged may be missing, nothing may run twice, no number may be given twice, no running job may be disturbed.
# ROUNDS=50 for the full length.
. "$(dirname "$0")/lib.bash"
rounds=${ROUNDS:-6}
start_cluster 2 4
ledger=$dir/ledger; acks=$dir/acks; : > "$ledger"; : > "$acks"; chmod 666 "$ledger"
cat > job.sh <<J
#!/bin/bash
echo "start \$SLURM_JOB_ID \$1" >> $ledger
echo "end \$SLURM_JOB_ID \$1" >> $ledger
J
chmod +x job.sh
long=$(sbatch --parsable -o /dev/null --wrap "echo long >> $ledger.long; sleep $((rounds * 3)); echo done >> $ledger.long")
submit() { local i=0; while [ ! -e "$dir/stop" ]; do i=$((i+1)); id=$(sbatch --parsable -o /dev/null job.sh "$1-$i" 2>/dev/null) && echo "$id $1-$i" >> "$acks"; done; }
submit a & submit b &
for r in $(seq "$rounds"); do
  sleep "0.$((RANDOM % 9 + 1))"; sleep 0.7
  kill -9 "$(pid_of slurmctld)"
  start_ctld
done
touch "$dir/stop"; wait %1 %2 2>/dev/null || true
wait_empty 180
total=$(wc -l < "$acks")
missing=$(cut -d' ' -f2 "$acks" | sort | comm -23 - <(awk '$1=="end"{print $3}' "$ledger" | sort -u) | wc -l)
twice=$(awk '$1=="start"{print $3}' "$ledger" | sort | uniq -d | wc -l)
reused=$(cut -d' ' -f1 "$acks" | sort | uniq -d | wc -l)
check "acknowledged jobs that are missing ($total acknowledged, $rounds kills)" 0 "$missing"
check "jobs that ran twice" 0 "$twice"
check "numbers given twice" 0 "$reused"
check "the long job ran through undisturbed" "long done" "$(tr '\n' ' ' < "$ledger.long" | sed 's/ $//')"
check "its state" COMPLETED "$(sacct -X -n -P -o State -j "$long")"
[ "$total" -gt "$rounds" ] || { echo "FAIL too few submissions to mean anything"; fails=1; }
