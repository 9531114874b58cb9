#!/usr/bin/env bash
# kill -9 of slurmctld at random moments under a stream of submissions, while jobs run. By an outside ledger no
# acknowledged job may be missing, no job may run twice, no id may be used twice, no running job may be disturbed.
# ROUNDS=50 for the full length; `packaging/bench.sh PREFIX durability` runs the same on Debian's Slurm beside it.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/../ledger.bash"
start_cluster 2 8
kill_rounds "$prefix/bin" "$dir" "${ROUNDS:-5}"
check "acknowledged jobs that are missing ($acked acknowledged, $rounds_done kills)" 0 "$missing"
check "jobs that ran twice" 0 "$twice"
check "job ids used twice" 0 "$reused"
check "long jobs that did not run through undisturbed" 0 "$disturbed"
check "the long jobs' states" "COMPLETED" \
  "$(sacct -n -P -X -o JobName,State | awk -F'|' '$1=="long.sh"{print $2}' | sort -u)"
[ "$acked" -gt "$rounds_done" ] || { echo "FAIL fewer submissions than kills"; fails=1; }

# kill -9 of slurmd while jobs end: every exit code is exact
: > "$dir/codes"
for i in $(seq 1 "${ENDS:-24}"); do
  echo "$(sbatch --parsable -o /dev/null --wrap "sleep 0.$((RANDOM % 9)); sleep $((RANDOM % 4)); exit $i") $i" \
    >> "$dir/codes"
done
for i in 1 2 3 4; do
  sleep "0.$((RANDOM % 9 + 1))"    # 0.1 to 0.9 s: the kill comes at a random moment
  kill -9 "$(pid_of slurmd-n1)" "$(pid_of slurmd-n2)"
  sleep 0.3    # 0.3 s: jobs end while no slurmd runs
  start_node n1
  start_node n2
  sleep 0.4    # 0.4 s: slurmd finds its jobs again before the next kill
done
scancel -n wrap -t PD -H 2>/dev/null || true
squeue -h -o '%i %r' | awk '/JobHeldUser/{print $1}' | xargs -r scancel
wait_empty 60
wrong=0
while read -r id code; do
  got=$(sacct -X -n -P -o State,ExitCode -j "$id")
  [ "$got" = "FAILED|$code:0" ] || { wrong=$((wrong+1)); echo "job $id: expected FAILED|$code:0, got $got"; }
done < "$dir/codes"
check "wrong exit codes of $(wc -l < "$dir/codes") jobs over 4 kills of both slurmd" 0 "$wrong"
