#!/usr/bin/env bash
# slurmctld is killed at its n-th sync, before it (odd n) or right after it (even n). Every acknowledged job must be
# there after a restart, and every acknowledgement must follow a completed sync. SYNCS="1 2 … 200" for the full length.
. "$(dirname "$0")/lib.bash"
command -v gcc >/dev/null || { echo "skipped: needs gcc"; exit 0; }
cat > "$dir/killer.c" <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int calls;
int fdatasync(int fd)
{
    const char *at = getenv("KILL_AT_SYNC");
    int n = at ? atoi(at) : 0, call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (n && call == n && n % 2)
        kill(getpid(), SIGKILL);
    long rc = syscall(SYS_fdatasync, fd);
    if (n && call == n)
        kill(getpid(), SIGKILL);
    return (int)rc;
}
C
gcc -shared -fPIC -O1 -o "$dir/killer.so" "$dir/killer.c"
start_cluster 1 4 "MaxJobCount=1000000"
# A zombie counts as dead.
alive() { [ -n "$1" ] && grep -qv ') Z ' "/proc/$1/stat" 2>/dev/null; }
gone() {
  local process=$1
  soon '! alive "$process"'
  ! alive "$process" || { echo "process $process did not end"; exit 1; }
}
missing=0; acked=0; fired=0; rounds=0
for n in ${SYNCS:-1 2 3 5 8 13}; do
  rounds=$((rounds + 1))
  ctld=$(pid_of slurmctld); kill "$ctld" 2>/dev/null || true; gone "$ctld"
  : > "$dir/round"
  rm -f "$dir/run/slurmctld.pid"
  KILL_AT_SYNC=$n LD_PRELOAD=$dir/killer.so start_ctld || true
  ctld=$(pid_of slurmctld)
  for i in $(seq $((n + 20))); do
    id=$(timeout 3 sbatch --parsable -H -o /dev/null --wrap true 2>"$dir/err") && echo "$id" >> "$dir/round" || {
      rc=$?
      echo "round $n: $rc $(cat "$dir/err")" >> "$dir/ends"
      break
    }
  done
  soon '! alive "$ctld"' 3
  alive "$ctld" || fired=$((fired + 1))
  [ -z "$ctld" ] || { kill -9 "$ctld" 2>/dev/null || true; gone "$ctld"; }
  rm -f "$dir/run/slurmctld.pid"
  start_ctld
  squeue -h -t all -o %i | sort > "$dir/known"
  lost=$(sort "$dir/round" | comm -23 - "$dir/known" | wc -l)
  acked=$((acked + $(wc -l < "$dir/round"))); missing=$((missing + lost))
done
check "acknowledged jobs missing after a kill at a sync ($acked acknowledged, $rounds rounds)" 0 "$missing"
check "rounds in which the kill came" "$rounds" "$fired"
# Under strace: each reply is sent after an fdatasync that began after the request came.
strace -f -o /dev/null true 2>/dev/null || { echo "skipped: strace may not trace here"; exit 0; }
ctld=$(pid_of slurmctld); kill "$ctld"; gone "$ctld"
strace -f -tt -o "$dir/order" -e trace=fdatasync,write,sendto,recvfrom,read -s 300 \
  slurmctld -D -f "$SLURM_CONF" </dev/null >/dev/null 2>&1 & tracer=$!
soon 'scontrol ping 2>/dev/null | grep -q UP'
for i in 1 2 3 4 5; do sbatch --parsable -H -o /dev/null --wrap true > /dev/null; done
for p in $(pgrep -f "slurmctld -D -f $SLURM_CONF"); do kill -9 "$p" 2>/dev/null || true; done
wait $tracer || true
early=$(awk '/POST \/muster\/v1\/Submit/{open=1; synced=0} /fdatasync.*= 0/{synced=1}
  /\{\\"jobId\\":[0-9]+\}/{ if (open && !synced) bad++; if (open) seen++; open=0 } END{print bad+0, (seen>=5)}' \
    "$dir/order")
check "replies before their sync, all replies seen" "0 1" "$early"
