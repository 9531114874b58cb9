#!/usr/bin/env bash
# The controller is killed at its n-th sync (by strace): whatever it acknowledged before must be there after a restart.
# And: every acknowledgement follows a completed sync. SYNCS="1 2 … 200" for the full length.
. "$(dirname "$0")/lib.bash"
command -v strace >/dev/null || { echo "skipped: needs strace"; exit 0; }
strace -f -o /dev/null true 2>/dev/null || { echo "skipped: strace may not trace here"; exit 0; }
start_cluster 1 4
missing=0; acked=0; fired=0; rounds=0
for n in ${SYNCS:-1 2 3 5 8 13}; do
  kill "$(pid_of slurmctld)" 2>/dev/null || true
  for _ in $(seq 50); do [ -e "$dir/run/slurmctld.pid" ] || break; sleep 0.1; done
  strace -f --seccomp-bpf -o "$dir/strace.$n" -e trace=fdatasync -e inject=fdatasync:signal=KILL:when="$n" \
    slurmctld -D -f "$SLURM_CONF" </dev/null >/dev/null 2>&1 &
  tracer=$!
  : > "$dir/round"
  for _ in $(seq 60); do scontrol ping 2>/dev/null | grep -q UP && break; kill -0 $tracer 2>/dev/null || break; sleep 0.2; done
  for i in $(seq $((n + 20))); do
    kill -0 $tracer 2>/dev/null || break
    id=$(timeout 10 sbatch --parsable -H -o /dev/null --wrap true 2>/dev/null) && echo "$id" >> "$dir/round" || break
  done
  rounds=$((rounds + 1)); sleep 0.1; kill -0 $tracer 2>/dev/null || fired=$((fired + 1))
  for p in $(pgrep -f "slurmctld -D -f $SLURM_CONF"); do kill -9 "$p" 2>/dev/null || true; done
  wait $tracer 2>/dev/null || true
  while pgrep -f "slurmctld -D -f $SLURM_CONF" >/dev/null; do sleep 0.1; done
  rm -f "$dir/run/slurmctld.pid"
  start_ctld
  squeue -h -t all -o %i | sort > "$dir/known"
  lost=$(sort "$dir/round" | comm -23 - "$dir/known" | wc -l)
  acked=$((acked + $(wc -l < "$dir/round"))); missing=$((missing + lost))
done
check "acknowledged and missing after a kill at a sync ($acked acknowledged, $rounds rounds)" 0 "$missing"
check "rounds in which the kill came" "$rounds" "$fired"
# the order of things under strace: the reply is sent after an fdatasync that began after the request came
kill "$(pid_of slurmctld)"; for _ in $(seq 50); do [ -e "$dir/run/slurmctld.pid" ] || break; sleep 0.1; done
strace -f --seccomp-bpf -tt -o "$dir/order" -e trace=fdatasync,write,sendto,recvfrom,read -s 300 slurmctld -D -f "$SLURM_CONF" </dev/null >/dev/null 2>&1 &
for _ in $(seq 100); do scontrol ping 2>/dev/null | grep -q UP && break; sleep 0.2; done
for i in 1 2 3 4 5; do sbatch --parsable -H -o /dev/null --wrap true > /dev/null; done
for p in $(pgrep -f "slurmctld -D -f $SLURM_CONF"); do kill -9 "$p" 2>/dev/null || true; done
sleep 0.5
early=$(awk '/POST \/muster\/v1\/Submit/{open=1; synced=0} /fdatasync.*= 0/{synced=1} /\{\\"jobId\\":[0-9]+\}/{ if (open && !synced) bad++; if (open) seen++; open=0 } END{print bad+0, (seen>=5)}' "$dir/order")
check "replies before their sync, all replies seen" "0 1" "$early"
