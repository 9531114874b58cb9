# Sourced by each test: a private cluster under a temporary directory, checks and waits.
#   start_cluster [NODES [CPUS [EXTRA-CONF]]], stop_cluster
set -euo pipefail
prefix=$(cd "${1:?PREFIX}" && pwd)
dir=$(mktemp -d /tmp/muster-test-XXXXXX)
chmod 755 "$dir"
export SLURM_CONF=$dir/slurm.conf PATH=$prefix/bin:$prefix/sbin:$PATH
fails=0
limit_s=${MUSTER_TEST_LIMIT_S:-300}

# Ends a test that hangs: prints its processes, the stacks of its Java machines and the ends of its logs, kills its
# processes, and fails it.
watch() {
  local p
  set +e +o pipefail
  sleep "$limit_s"     # the time limit of the test
  echo "FAIL it has not ended after $limit_s s"
  ps -eo pid,ppid,stat,etimes,args --forest | grep -E "$dir|$prefix|sbatch|srun|salloc|scancel|scontrol" \
    | grep -v grep | cut -c1-200 | tail -60
  timeout 3 squeue -o '%i %T %r %N' </dev/null 2>&1
  timeout 3 scontrol show job </dev/null 2>&1
  for p in $(pgrep -f "$prefix|$dir" || true); do
    [[ "$(readlink "/proc/$p/exe")" = */bin/java || -n "$(grep -l libjvm "/proc/$p/maps" 2>/dev/null)" ]] || continue
    echo "--- $p $(tr '\0' ' ' < "/proc/$p/cmdline" | cut -c1-150)"
    timeout 10 "${JAVA_HOME:-/usr}/bin/jcmd" "$p" Thread.print 2>&1 | awk -v RS= '/dev.muster/' | grep -v '^$' \
      | head -100
    : > "$dir/log/threads.$p"; chmod 666 "$dir/log/threads.$p"
    timeout 10 "${JAVA_HOME:-/usr}/bin/jcmd" "$p" Thread.dump_to_file -overwrite "$dir/log/threads.$p" >/dev/null 2>&1 \
      && awk -v RS= '/virtual/ && /dev.muster/' "$dir/log/threads.$p" | head -60
  done
  tail -n 15 "$dir"/log/*.log
  kill "$1"; for p in $(descendants "$1"); do [ "$p" = "$BASHPID" ] || kill -9 "$p" 2>/dev/null || true; done
}
descendants() { local c; for c in $(pgrep -P "$1" || true); do descendants "$c"; echo "$c"; done; }
(watch $$ & echo $! > "$dir/watch.pid")     # not a child of this shell: "wait" waits for children of the test only

free_port() {
  local p=$((20000 + RANDOM % 12700)) q ok   # below the ephemeral ports
  while :; do
    ok=1
    for q in $(seq "$p" $((p + 20))); do if (exec 3<>"/dev/tcp/127.0.0.1/$q") 2>/dev/null; then ok=0; fi; done
    [ $ok = 1 ] && { echo "$p"; return; }
    p=$((p + 25))
  done
}

start_cluster() {
  nodes=${1:-2} cpus=${2:-4}
  local extra=${3:-} host me
  host=$(hostname -s 2>/dev/null || hostname); me=$(id -un)
  mkdir -p "$dir"/{run,log,state,spool,work}
  local try
  for try in 1 2 3 4 5; do      # another program may take the port between the probe and the start
    port=$(free_port); write_conf "$extra"
    start_ctld && break
    [ "$try" -lt 5 ] || { echo "slurmctld did not start"; cat "$dir"/log/*; exit 1; }
  done
  local i; for i in $(seq "$nodes"); do start_node "n$i"; done
  local n=0
  while [ "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" -lt "$nodes" ]; do
    n=$((n+1)); [ $n -lt 150 ] || { echo "the cluster did not come up"; cat "$dir"/log/*; exit 1; }; sleep 0.2
  done
  cd "$dir/work"
}

write_conf() { # replaces @port+N@ in the extra lines by slurmctld's port + N
  local more=$1
  while [[ $more =~ @port\+([0-9]+)@ ]]; do more=${more//"${BASH_REMATCH[0]}"/$((port + BASH_REMATCH[1]))}; done
  cat > "$SLURM_CONF" <<C
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/slurm
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=10
MinJobAge=600
KillWait=5
ReturnToService=2
SlurmdParameters=config_overrides
$more
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port+1))-$((port+nodes))] CPUs=$cpus \
  RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP
C
}
start_ctld() { slurmctld -f "$SLURM_CONF" </dev/null >>"$dir/log/start.out" 2>&1; }
start_node() {
  mkdir -p "$dir/spool/$1"
  slurmd -f "$SLURM_CONF" -N "$1" -d "$prefix/sbin/slurmstepd" </dev/null >>"$dir/log/start.out" 2>&1
}
# slurmdbd with its embedded tables, before the cluster: sets dbd_port and accounting, lines for slurm.conf.
prepare_dbd() {
  head -c 64 /dev/urandom > "$dir/slurm.key"; chmod 600 "$dir/slurm.key"
  dbd_port=$(free_port)
  cat > "$dir/slurmdbd.conf" <<C
AuthType=auth/slurm
DbdHost=localhost
DbdPort=$dbd_port
SlurmUser=$(id -un)
StorageType=accounting_storage/embedded
StorageLoc=$dir/db
LogFile=$dir/log/slurmdbd.log
PidFile=$dir/run/slurmdbd.pid
C
  chmod 600 "$dir/slurmdbd.conf"; mkdir -p "$dir/log" "$dir/run"
  accounting="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$dbd_port"
  printf 'ClusterName=test\nSlurmctldHost=localhost\nAuthType=auth/slurm\n%s\n' "$accounting" > "$SLURM_CONF"
}
start_dbd() { slurmdbd -f "$dir/slurmdbd.conf" </dev/null >>"$dir/log/start.out" 2>&1; }
# Ends a daemon by SIGKILL or SIGTERM, and waits until its process is gone: killed slurmctld; stopped slurmd-n1.
killed() { ended_by KILL "$1"; }
stopped() { ended_by TERM "$1"; }
ended_by() { local daemon; daemon=$(pid_of "$2"); kill "-$1" "$daemon"; soon '! kill -0 "$daemon" 2>/dev/null'; }
pid_of() { cat "$dir/run/$1.pid" 2>/dev/null || true; }
stop_cluster() {
  local f p
  for f in "$dir"/run/*.pid; do [ -s "$f" ] && kill "$(cat "$f" 2>/dev/null)" 2>/dev/null || true; done
  for f in "$dir"/run/*.pid; do
    p=$(cat "$f" 2>/dev/null || true)
    for _ in $(seq 50); do [ -n "$p" ] && kill -0 "$p" 2>/dev/null || break; sleep 0.1; done
  done
  for p in $(pgrep -f "$dir/" || true); do kill -9 "$p" 2>/dev/null || true; done
}
# Kills the processes that work below the test's directory, but for the test itself: after a failed check, job scripts
# may wait forever for a file.
kill_leftovers() {
  local p
  disown -a      # no message about a killed background command
  for p in $(find /proc/[0-9]*/cwd -maxdepth 0 -lname "$dir/*" 2>/dev/null | cut -d/ -f3); do
    [ "$p" = $$ ] || kill -9 "$p" 2>/dev/null || true
  done
}
finish() {
  local rc=$? w
  w=$(cat "$dir/watch.pid" 2>/dev/null || true)
  [ -z "$w" ] || kill "$w" $(pgrep -P "$w") 2>/dev/null || true
  stop_cluster
  kill_leftovers
  if [ $rc = 0 ] && [ "$fails" = 0 ]; then rm -rf "$dir"; else echo "kept: $dir"; exit 1; fi
}
trap finish EXIT
check() { # what, expected, actual
  if [ "$2" = "$3" ]; then echo "ok   $1"; else echo "FAIL $1: expected '$2', got '$3'"; fails=$((fails+1)); fi
}
match() { # what, pattern, actual
  if [[ "$3" =~ $2 ]]; then echo "ok   $1"; else echo "FAIL $1: '$3' does not match '$2'"; fails=$((fails+1)); fi
}
# Prints how often the running slurmd daemons have registered, by their logs.
registered() {
  local n s=0 pid said
  for n in "$dir"/run/slurmd-*.pid; do
    pid=$(cat "$n" 2>/dev/null) && kill -0 "$pid" 2>/dev/null || continue
    n=${n##*/}
    said=$(grep -c 'registered at' "$dir/log/${n%.pid}.log" 2>/dev/null || true)
    s=$((s + ${said:-0}))
  done
  echo "$s"
}
# Prints how many slurmd daemons run.
lively() {
  local n s=0
  for n in "$dir"/run/slurmd-*.pid; do kill -0 "$(cat "$n" 2>/dev/null)" 2>/dev/null && s=$((s+1)) || true; done
  echo "$s"
}
# scontrol reconfigure; waits until all running slurmd daemons have read their configuration and registered again.
reread() {
  local want n=0
  want=$(($(registered) + $(lively)))
  scontrol reconfigure
  until [ "$(registered)" -ge "$want" ] || [ $((n+=1)) -ge 50 ]; do sleep 0.1; done
  sleep 0.2     # 0.2 s: slurmctld handles the registration that slurmd has logged
}
# Waits until a job runs, and 0.5 s or the given seconds longer.
running() {
  local n=0
  until [ -n "$(squeue -h -j "$1" -t R -o %i 2>/dev/null)" ] || [ $((n+=1)) -ge 100 ]; do sleep 0.1; done
  sleep "${2:-0.5}"     # the job's processes start after its state is RUNNING
}
# Waits until a condition holds, for at most 30 s or the given seconds. If it does not hold then, the check that follows
# fails.
soon() {
  local end=$((SECONDS + ${2:-30}))
  until eval "$1"; do
    [ "$SECONDS" -lt "$end" ] || { echo "not within ${2:-30} s: $1" >&2; return 0; }
    sleep 0.1
  done
}
# check and match of a value that is reached within 15 s: the third argument, in single quotes, is evaluated repeatedly.
becomes() {
  local got n=0
  while eval "got=$3" || true; [ "$2" != "$got" ] && [ $((n+=1)) -lt 75 ]; do sleep 0.2; done
  check "$1" "$2" "$got"
}
comes() {
  local got n=0
  while eval "got=$3" || true; ! [[ "$got" =~ $2 ]] && [ $((n+=1)) -lt 75 ]; do sleep 0.2; done
  match "$1" "$2" "$got"
}
# Waits until the queue is empty, for at most 60 s or the given seconds; fails the test if it is not.
wait_empty() {
  local n=0
  while [ -n "$(squeue -h 2>/dev/null)" ]; do
    n=$((n+1))
    [ $n -lt $((${1:-60} * 5)) ] || { echo "the queue did not empty"; squeue; fails=$((fails+1)); return; }
    sleep 0.2
  done
}
