# Sourced by what compares the original Slurm and Muster: needs $work, a directory of its own below /tmp.
# REFERENCE=PREFIX names the installation of the original (PREFIX/bin, PREFIX/sbin); without it Debian's packages are
# the original.
original_bin=${REFERENCE:+$REFERENCE/bin} original_sbin=${REFERENCE:+$REFERENCE/sbin} debian_suffix=
[ -n "${REFERENCE:-}" ] || original_bin=/usr/bin original_sbin=/usr/sbin debian_suffix=-wlm

# whether the original and what its daemons need are installed
original_installed() { [ -x "$original_sbin/slurmctld$debian_suffix" ] && command -v munged >/dev/null; }

# a cluster of either kind: cluster NAME BIN SBIN NODES CPUS PORT; with ONE=1 one process of ours stands for all nodes;
# BEFORE names what is called with the first and third word before slurmctld starts;
# MACHINES stands in place of the nodes and the partition (NODES is 0 then)
cluster() {
  local d=$work/$1 host; host=$(hostname -s 2>/dev/null || hostname)
  mkdir -p "$d"/{run,state,spool,log,sbin}
  echo "$2" > "$d/bin"
  local auth="AuthType=auth/slurm" sbin=$3
  if [ "$1" != muster ]; then
    auth="AuthType=auth/munge
AuthInfo=socket=$d/run/munge.socket
${GATHER-JobAcctGatherType=jobacct_gather/none}
MpiDefault=none"
    # Debian's daemons behave differently when their name is not exactly slurmctld or slurmd
    for p in slurmctld slurmd slurmstepd; do ln -sfn "$3/$p$debian_suffix" "$d/sbin/$p"; done; sbin=$d/sbin
    # from 23.11 on the daemons insist on a choice
    case $("$sbin/slurmctld" -V) in *\ 2[0-2].*|*\ 23.0*) : > "$d/cgroup.conf" ;; *) echo CgroupPlugin=disabled > \
      "$d/cgroup.conf" ;; esac
    dd if=/dev/urandom of="$d/munge.key" bs=1024 count=1 status=none; chmod 400 "$d/munge.key"
    munged --force --key-file="$d/munge.key" --socket="$d/run/munge.socket" --pid-file="$d/run/munged.pid" \
      --log-file="$d/log/munged.log" --seed-file="$d/run/seed"
  fi
  cat > "$d/slurm.conf" <<C
ClusterName=${CLUSTERNAME:-$1}
SlurmctldHost=$host(127.0.0.1)
$auth
${PRIORITY-PriorityType=priority/basic}
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$6
StateSaveLocation=$d/state
SlurmdSpoolDir=$d/spool/%n
SlurmctldPidFile=$d/run/slurmctld.pid
SlurmdPidFile=$d/run/slurmd-%n.pid
SlurmctldLogFile=$d/log/slurmctld.log
SlurmdLogFile=$d/log/slurmd-%n.log
SlurmctldDebug=error
SlurmdDebug=error
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MaxJobCount=${MAXJOBS:-50000}
MaxArraySize=10001
MinJobAge=${MINJOBAGE:-10}
${PARAMETERS-SchedulerParameters=batch_sched_delay=0,sched_min_interval=50000,default_queue_depth=1000,\
partition_job_depth=0,bf_interval=${BF_INTERVAL:-300}${MORE_PARAMETERS:-}}
SlurmdParameters=config_overrides
${MACHINES:-NodeName=n[1-$4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$(($6+1))-$(($6+$4))] CPUs=$5 RealMemory=4000
PartitionName=main Nodes=n[1-$4] Default=YES MaxTime=INFINITE State=UP}
${EXTRA:-}
C
  ${BEFORE:-:} "$1" "$3"
  "$sbin/slurmctld" -f "$d/slurm.conf" </dev/null >/dev/null 2>&1
  if [ -n "${ONE:-}" ]; then
    "$sbin/slurmd" -f "$d/slurm.conf" -N "n[1-$4]" -d "$sbin/slurmstepd" </dev/null >/dev/null 2>&1
  fi
  [ -n "${ONE:-}" ] || for i in $(seq "$4"); do
    mkdir -p "$d/spool/n$i"
    "$sbin/slurmd" -f "$d/slurm.conf" -N "n$i" -d "$sbin/slurmstepd" </dev/null >/dev/null 2>&1
  done
  for _ in $(seq 150); do
    [ "$(SLURM_CONF=$d/slurm.conf "$2/sinfo" -h -N -o %T 2>/dev/null | grep -c idle)" -ge "$4" ] && return
    sleep 0.2
  done
  echo "the $1 cluster did not come up"; exit 1
}
# Ends all jobs by their own cluster, then the daemons by their pids.
clean() {
  local d f p; local -a pids=()
  for d in "$work"/*/; do
    [ -s "$d/bin" ] || continue
    for p in $(SLURM_CONF=$d/slurm.conf timeout 10 "$(cat "$d/bin")/squeue" -h -t R,S,CG -o %A 2>/dev/null \
        | sort -u); do
      SLURM_CONF=$d/slurm.conf timeout 10 "$(cat "$d/bin")/scancel" -f -s KILL "$p" 2>/dev/null || true
    done
  done
  for f in "$work"/*/run/*.pid; do [ ! -s "$f" ] || pids+=("$(cat "$f")"); done
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
  for p in "${pids[@]}"; do
    for _ in $(seq 50); do kill -0 "$p" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$p" 2>/dev/null || true
  done
  rm -rf "$work"
}

# Both with a slurmdbd: accounting_of muster|original BIN SBIN PORT [LINES]; what the original keeps goes into a MariaDB
# server of its own, on PORT + 1.
accounting_of() {
  local k=$1 bin=$2 sbin=$3 port=$4 sql=$work/sql pass= ; mkdir -p "$work/$k"/{run,log}
  if [ "$k" != muster ]; then
    mkdir -p "$sql/run"; pass="AccountingStoragePass=$work/$k/run/munge.socket"
    mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$sql/data" --tmpdir="$sql" \
      --auth-root-authentication-method=normal --skip-test-db </dev/null >"$sql/log" 2>&1
    mariadbd --no-defaults --user="$(id -un)" --datadir="$sql/data" --tmpdir="$sql" --socket="$sql/s" \
      --port=$((port + 1)) --bind-address=127.0.0.1 \
      --innodb-lock-wait-timeout=900 --pid-file="$sql/run/mariadbd.pid" </dev/null >>"$sql/log" 2>&1 &
    for _ in $(seq 100); do
      mariadb --no-defaults -S "$sql/s" -u root -e 'select 1' </dev/null >/dev/null 2>&1 && break
      sleep 0.2
    done
    mariadb --no-defaults -S "$sql/s" -u root \
      -e "create user 'pair'@'127.0.0.1' identified by 'pair'; grant all on *.* to 'pair'@'127.0.0.1'" </dev/null
  else head -c 64 /dev/urandom > "$work/$k/slurm.key"; chmod 600 "$work/$k/slurm.key"; fi
  {
    if [ "$k" != muster ]; then
      printf 'AuthType=auth/munge\nAuthInfo=socket=%s\nStorageType=accounting_storage/mysql\n' \
        "$work/$k/run/munge.socket"
      printf 'StorageHost=127.0.0.1\nStoragePort=%s\nStorageUser=pair\nStoragePass=pair\nStorageLoc=%s\n' \
        $((port + 1)) "$k"
    else printf 'AuthType=auth/slurm\nStorageType=accounting_storage/embedded\nStorageLoc=%s\n' "$work/$k/db"; fi
    printf 'DbdHost=localhost\nDbdPort=%s\nSlurmUser=root\nTrackWCKey=yes\nLogFile=%s\nPidFile=%s\n' $((port + 2)) \
      "$work/$k/log/dbd.log" "$work/$k/run/slurmdbd.pid"; } > "$work/$k/slurmdbd.conf"
  chmod 600 "$work/$k/slurmdbd.conf"
  CLUSTERNAME=c1 PRIORITY= GATHER= BF_INTERVAL=1 MINJOBAGE=300 BEFORE=dbd_of \
    EXTRA="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 2))
$pass
JobAcctGatherType=jobacct_gather/linux
$5" cluster "$k" "$bin" "$sbin" 4 8 $((port + 10))
}
dbd_of() { # of accounting_of: slurmctld wants it to be there
  local d=$work/$1
  if [ "$1" != muster ]; then
    mkdir -p "$d/sbin"
    ln -sfn "$original_sbin/slurmdbd" "$d/sbin/slurmdbd"
    SLURM_CONF=$d/slurm.conf "$d/sbin/slurmdbd" </dev/null >>"$d/log/dbd.out" 2>&1
  else "$2/slurmdbd" -f "$d/slurmdbd.conf" </dev/null >>"$d/log/dbd.out" 2>&1; fi
  for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$(sed -n 's/^DbdPort=//p' "$d/slurmdbd.conf")") 2>/dev/null && break
    sleep 0.2
  done
}
