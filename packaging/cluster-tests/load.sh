#!/usr/bin/env bash
# Callers without a credential: idle connections beyond the limit of descriptors, slow and long bodies, garbage on every
# port. Authenticated callers are answered meanwhile.
. "$(dirname "$0")/lib.bash"
here=$(cd "$(dirname "$0")/.." && pwd)
start_ctld() { (ulimit -n 600; slurmctld -f "$SLURM_CONF" </dev/null >>"$dir/log/start.out" 2>&1); }
start_node() {
  mkdir -p "$dir/spool/$1"
  (ulimit -n 600; slurmd -f "$SLURM_CONF" -N "$1" -d "$prefix/sbin/slurmstepd" </dev/null >>"$dir/log/start.out" 2>&1)
}
prepare_dbd; (ulimit -n 600; start_dbd)
start_cluster 2 4 "$accounting
SlurmdTimeout=30"
attack() { python3 "$here/attack.py" "$@" >> "$dir/attack.out" 2>&1 & attackers+=($!); }
attackers=()
ports=("$port" "$((port + 1))" "$((port + 2))" "$dbd_port")
id=$(sbatch --parsable --wrap 'sleep 60')
running "$id" 0
pids() { for f in slurmctld slurmd-n1 slurmd-n2 slurmdbd; do pid_of "$f"; done; }
before=$(pids)
answered() { # what, command: within ten seconds
  local rc=0; shift; timeout 10 "$@" >/dev/null 2>>"$dir/answered.err" || rc=$?; echo "$rc"
}
for p in "${ports[@]}"; do
  attack idle "$p" 700 12
  attack slow "$p" 20 12
  attack big "$p" 1 12
  attack garbage "$p" 20 12
done
connections() { # to all ports
  awk -v ports="$(printf ':%04X ' "${ports[@]}")" '
    $4 == "01" && index(ports, substr($2, length($2) - 4) " ")' /proc/net/tcp /proc/net/tcp6 | wc -l
}
soon '[ "$(connections)" -ge 1000 ]' 3
for i in 1 2 3; do
  check "squeue is answered under load ($i)" 0 "$(answered squeue squeue)"
  check "srun runs on the first node ($i)" 0 "$(answered srun srun -w n1 -n1 true)"
  check "srun runs on the second node ($i)" 0 "$(answered srun srun -w n2 -n1 true)"
  check "sacct is answered ($i)" 0 "$(answered sacct sacct)"
done
for a in "${attackers[@]}"; do wait "$a" || true; done
check "no node went down" "idle mixed" "$(sinfo -h -N -o %T | sort -u | tr '\n' ' ' | sed 's/ $//')"
check "the job was not requeued" "RUNNING 0" \
  "$(scontrol show job "$id" | grep -oP 'JobState=\K\w+|Restarts=\K\d+' | tr '\n' ' ' | sed 's/ $//')"
check "all daemons are the same processes" "$before" "$(pids)"
for p in "${ports[@]}"; do
  check "port $p is open" open "$( (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null && echo open)"
done
match "slurmctld logs the unauthenticated connections" "without an authenticated caller|cannot accept" \
  "$(cat "$dir/log/slurmctld.log")"
check "the logs have no exception" 0 "$(cat "$dir"/log/*.log | grep -ciE 'exception|fatal|OutOfMemory' || true)"
scancel "$id"
