#!/usr/bin/env bash
# What a loss of the leading controller costs: rounds of it under 8 loops of sbatch and with running jobs.
#   failover.sh PREFIX [ROUNDS [kill | stop | takeover [RUNNING]]]
# Prints how long submissions were not answered (from the loss to the first job acknowledged after it), and compares the
# loops' list of acknowledged jobs with what ran: lost, twice, wrong exit codes, disturbed.
set -u
rounds=${2:-10} way=${3:-kill} busy=${4:-200}
here=$(cd "$(dirname "$0")" && pwd)
export MUSTER_TEST_LIMIT_S=$((300 + 60 * rounds))
. "$here/cluster-tests/lib.bash"; . "$here/controllers.bash"
[ "$(id -u)" = 0 ] || { echo "needs root, for namespaces"; exit 1; }
start_controllers 2 $((busy + 56)) MessageTimeout=30

cat > once.sh <<'S'
#!/bin/bash
echo "$SLURM_JOB_ID" >> ran
exit 3
S
long=$(sbatch --parsable --array="1-$busy" -o /dev/null -J long --wrap 'while [ ! -e done ]; do sleep 1; done')
soon '[ "$(squeue -h -t R -n long | wc -l)" = "$busy" ]' 120
submit() {
  local id
  while [ ! -e done ]; do
    id=$(sbatch --parsable -o /dev/null once.sh 2>>refused) && echo "$id $(date +%s%3N)" >> "acknowledged.$1"
  done
}
loops=; for i in $(seq 8); do submit "$i" & loops="$loops $!"; done
sleep 3 # 3 s: submissions before the first loss
for round in $(seq "$rounds"); do
  was=$(leader); lost=$(controller_pid "$was"); ms=$(date +%s%3N)
  case $way in
    kill) kill -9 "$lost" ;;
    stop) kill -STOP "$lost" ;;
    takeover) scontrol takeover $((was % 3)) || echo "round $round: takeover failed" ;;
  esac
  soon 'now=$(cat acknowledged.* | sort -k2n | awk -v t="$ms" "\$2 > t + 20 { print \$2; exit }"); [ -n "$now" ]' 60
  soon 'l=$(leader); [ -n "$l" ] && [ "$l" != "$was" ]' 30
  case $way in kill) start_controller "$was" ;; stop) kill -CONT "$lost" ;; esac
  echo "$ms" >> losses
  sleep 2 # 2 s: submissions under the new leader
done
: > done; wait $loops
soon '[ "$(squeue -h | wc -l)" = 0 ]' 300

cat acknowledged.* > all
sort -k2n all | awk -v rounds="$rounds" '
  FNR == NR { loss[NR] = $1; next }
  { ack[++n] = $2 }
  END {
    for (i = 1; i <= rounds; i++) {
      # the longest time without an answer that the loss began: answers under way may still come
      gap = 0; before = loss[i]
      for (k = 1; k <= n; k++) if (ack[k] >= loss[i] && ack[k] <= loss[i] + 60000) {
        if (ack[k] - before > gap) gap = ack[k] - before
        before = ack[k]
        if (before > loss[i] + 15000 || (i < rounds && before > loss[i + 1])) break
      }
      print gap
    }
  }' losses - | sort -n > gaps
ids=$(cut -d' ' -f1 all | sort -n)
printf '%s rounds (%s), %s jobs acknowledged\n' "$rounds" "$way" "$(wc -l < all)"
printf 'not answered: median %s ms, longest %s ms\n' "$(awk '{a[NR]=$1} END{print a[int((NR+1)/2)]}' gaps)" \
  "$(tail -1 gaps)"
check "acknowledged jobs lost" 0 "$(comm -23 <(sort <<<"$ids") <(sort ran) | wc -l)"
check "ids given twice" 0 "$(uniq -d <<<"$ids" | wc -l)"
check "jobs started twice" 0 "$(sort ran | uniq -d | wc -l)"
check "wrong exit codes" 0 "$(( $(wc -l < all) - $(comm -12 <(sort <<<"$ids") <(scontrol -o show job |
  sed -n 's/^JobId=\([0-9]*\) .*JobState=FAILED .*ExitCode=3:0.*/\1/p' | sort) | wc -l) ))"
check "running jobs disturbed" 0 "$(( busy - $(scontrol -o show job "$long" |
  grep -c 'JobState=COMPLETED .*Restarts=0 .*ExitCode=0:0') ))"
check "requests refused" 0 "$(wc -l < refused)"
