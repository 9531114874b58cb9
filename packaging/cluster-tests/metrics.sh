#!/usr/bin/env bash
# slurmctld's /metrics pages: their OpenMetrics format, and that their figures equal the figures of the commands, for
# jobs of two users in every state, nodes in every state, partitions and the scheduler. tokens.sh tests the right to
# read the pages.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
for i in 0 1; do touch "$dir/gpu$i"; done
echo "NodeName=n3 Name=gpu File=$dir/gpu[0-1]" > "$dir/gres.conf"
here=$(cd "$(dirname "$0")" && pwd)
start_cluster 4 4 "MetricsType=metrics/openmetrics
GresTypes=gpu
AccountingStorageTRES=gres/gpu"
line=$(grep '^NodeName=n\[' "$SLURM_CONF"); sed -i '/^NodeName=n\[/d' "$SLURM_CONF"
for i in 1 2 3 4; do
  sed "s/n\[1-4\]/n$i/; s/Port=[^ ]*/Port=$((port + i))/; s/\$/$([ $i != 3 ] || echo ' Gres=gpu:2')/" <<< "$line" >> \
    "$SLURM_CONF"
done
echo "PartitionName=few Nodes=n[3-4] MaxTime=60" >> "$SLURM_CONF"; reread
chmod 777 "$dir/work"
as() { setpriv --reuid="$1" --regid=nogroup --clear-groups -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "${@:2}"; }
becomes "the GPUs are there" 2 '$(scontrol show node n3 | grep -o "Gres=gpu:[0-9]*" | cut -d: -f2)'
sbatch -Q -A phys -o /dev/null --wrap true; sbatch -Q -A phys -o /dev/null --wrap 'exit 3'
becomes "two jobs have ended" 2 '$(squeue -h -t CD,F -o %i | wc -l)'
sbatch -Q -A phys -w n1 -n2 --mem=100 -o /dev/null --wrap 'sleep 300'
as nobody sbatch -Q -A bio -p few -w n3 --gres=gpu:1 --mem=200 -o /dev/null --wrap 'sleep 300'
stopped=$(sbatch --parsable -w n2 -n4 --mem=50 -o /dev/null --wrap 'sleep 300')
running "$stopped" 0.2
becomes "three jobs run" 3 '$(squeue -h -t R -o %i | wc -l)'
scontrol suspend "$stopped"
as nobody sbatch -Q -A bio -p few,main -N4 --exclusive --array=1-5 -o /dev/null --wrap true
sbatch -Q -H -A phys -o /dev/null --wrap true
scancel "$(sbatch --parsable -H --wrap true)"
scontrol update nodename=n4 state=drain reason=test; scontrol update nodename=n3 state=drain reason=test
sleep 3     # 3 s: no event marks the end of the scheduler's passes, which change the figures that metrics.py compares
check "/metrics names its pages" 5 "$(curl -s "http://127.0.0.1:$port/metrics" | grep -c ' /metrics/')"
/usr/bin/python3 "$here/metrics.py" "$port" || fails=$((fails+1))
for daemon in "$port" $((port+1)); do for path in livez readyz healthz; do
  check "/$path at $((daemon - port))" "200" \
    "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$daemon/$path")"
done; done
