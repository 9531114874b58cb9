#!/usr/bin/env bash
# Benchmarks, each beside the reference in the same run where Debian's Slurm is installed (packages slurm-wlm, munge).
#   bench.sh PREFIX commands | tls | bigstep | manynodes [NODES] | emulated [NODES [JOBS [PARTS]]] | throughput
#   bench.sh PREFIX durability | queue [JOBS] | plan [JOBS [NODES [MIXES]]] (HEAP=16g for a million)
#   bench.sh PREFIX limits [JOBS [NODES]] | journal | small [save] | sacct [JOBS] | rest [JOBS [NODES]]
#   bench.sh PREFIX page [ENDED [WAITING [NODES]]]
#   bench.sh PREFIX submit [JOBS [NODES]] | long [JOBS] | queries [JOBS] | latency
#     (scale.bash; SUBMIT_LIB=a program that submits through libslurm)
set -euo pipefail
prefix=$(cd "$1" && pwd); what=${2:-commands}
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d /tmp/muster-bench-XXXXXX); chmod 755 "$work"
java="${JAVA_HOME:?}/bin/java"

benchmarks_cp() { # the benchmarks and every room, as compiled here
  local m j
  for m in benchmarks json model config core scheduler journal lua transport daemon controller node accounting cli; do
    printf '%s:' "$here/$m/target/classes"
  done
  for j in "$here"/benchmarks/target/lib/*.jar; do case $j in */muster-*) ;; *) printf '%s:' "$j" ;; esac; done
}

. "$here/packaging/pair.bash"; . "$here/packaging/scale.bash"
flow=; trap '[ -z "$flow" ] || kill $flow; clean' EXIT
debian() { [ -x /usr/sbin/slurmctld-wlm ] && command -v munged >/dev/null; }
now() { date +%s%N; }
med() { sort -n | awk '{a[NR]=$1} END{print a[int((NR+1)/2)]}'; }

# The small benchmarks (JMH) beside the figures of the last release that has some; "small save" writes this release's.
small() {
  local release figures=$here/benchmarks/figures last new=$work/figures.csv
  release=$(sed -n 's|.*<version>\(.*\)</version>.*|\1|p' "$here/pom.xml" | head -1)
  "$java" -Xmx4g -XX:+UseSerialGC -cp "$(benchmarks_cp)" org.openjdk.jmh.Main -f "${FORKS:-2}" -wi 4 -i 5 -w 1 -r 1 \
    -rf csv -rff "$new" ${ONLY:+"$ONLY"} > "$work/jmh.log" || {
    tail -30 "$work/jmh.log"
    return 1
  }
  [ "$1" != save ] || {
    mkdir -p "$figures"
    cp "$new" "$figures/$release.csv"
    echo "written: benchmarks/figures/$release.csv"
    return
  }
  last=$(ls -v "$figures"/*.csv | tail -1)
  echo "beside $(basename "$last" .csv):"
  "$java" -cp "$(benchmarks_cp)" dev.muster.benchmarks.ReleaseComparison "$last" "$new"
}

# one call in microseconds: timed KIND COMMAND...
timed() {
  local k=$1 bin=/usr/bin s e; shift; [ $k = muster ] && bin=$prefix/bin
  s=$(now); SLURM_CONF=$work/$k/slurm.conf "$bin"/$* </dev/null >/dev/null 2>&1 || true; e=$(now); echo $(((e-s)/1000))
}

# a line of the table; the two take turns, so that whatever else the machine does falls on both
compare() {
  local c=$1 k; : > "$work/muster.us"; : > "$work/debian.us"
  for _ in $(seq "${RUNS:-21}"); do
    for k in muster debian; do [ -d "$work/$k" ] && timed $k "$c" >> "$work/$k.us"; done
  done
  awk -v c="$c" -v m="$(med < "$work/muster.us")" -v d="$(med < "$work/debian.us")" \
    'BEGIN{printf "%-34s %10.1f %10.1f %8.2f\n", c, m/1000, d/1000, d ? m/d : 0}'
}

# the long path, beside a Java program that does nothing
cold() {
  local conf=$prefix/lib/muster/launcher.conf
  cp "$conf" "$work/launcher.conf"; sed -i '/^command_service=/d' "$conf"
  printf 'public class Empty { public static void main(String[] a) {} }\n' > "$work/Empty.java"
  "$java"c -d "$work" "$work/Empty.java"
  : > "$work/cold.us"; : > "$work/empty.us"
  for _ in $(seq "${RUNS:-21}"); do
    timed muster squeue >> "$work/cold.us"
    s=$(now); "$java" -cp "$work" Empty >/dev/null 2>&1; e=$(now); echo $(((e-s)/1000)) >> "$work/empty.us"
  done
  cp "$work/launcher.conf" "$conf"
  awk -v m="$(med < "$work/cold.us")" -v d="$(med < "$work/empty.us")" \
    'BEGIN{printf "%-34s %10.1f %10.1f %8.2f\n", "squeue, long path | empty Java", m/1000, d/1000, m/d}'
}

commands() {
  cluster muster "$prefix/bin" "$prefix/sbin" 2 8 31817
  debian && cluster debian /usr/bin /usr/sbin 2 8 32817
  sleep 2
  printf '%-34s %10s %10s %8s\n' command muster_ms debian_ms ratio
  for k in muster debian; do [ -d "$work/$k" ] && timed $k "sbatch -H -o /dev/null --wrap=true" >/dev/null; done
  for c in "squeue" "sinfo" "sbatch -H -o /dev/null --wrap=true" "scontrol show job 1" "scancel 1" "srun true" \
    "srun -n 8 true"; do
    compare "$c"
  done
  cold
  for k in muster debian; do
    [ -d "$work/$k" ] || continue
    bin=/usr/bin; [ $k = muster ] && bin=$prefix/bin
    s=$(now)
    for _ in 1 2 3 4 5 6 7 8; do
      (for _ in $(seq 50); do SLURM_CONF=$work/$k/slurm.conf "$bin/sbatch" -H -o /dev/null --wrap=true >/dev/null
          done) &
    done
    wait
    e=$(now)
    awk -v k=$k -v t=$(((e-s)/1000000)) 'BEGIN{printf "8 parallel sbatch loops, %s: %.0f jobs/s\n", k, 400000/t}'
  done
}

# What TLS costs: the same commands to a plain cluster and to one with TLS, by the command service and without it, in
# turns; then the CPU time of slurmctld.
tls() {
  local d=$work/secure k c ticks
  command -v openssl >/dev/null || { echo "openssl is needed"; exit 1; }
  mkdir -p "$d"
  {
    openssl ecparam -out "$d/ca_key.pem" -name prime256v1 -genkey
    openssl req -x509 -key "$d/ca_key.pem" -out "$d/ca_cert.pem" -subj /CN=ca -days 2
    for k in ctld slurmd; do
      openssl ecparam -out "$d/${k}_cert_key.pem" -name prime256v1 -genkey; chmod 600 "$d/${k}_cert_key.pem"
      openssl req -new -key "$d/${k}_cert_key.pem" -out "$d/csr" -subj "/CN=$k"
      openssl x509 -req -in "$d/csr" -CA "$d/ca_cert.pem" -CAkey "$d/ca_key.pem" -CAcreateserial -days 2 \
        -out "$d/${k}_cert.pem"
    done; } 2>/dev/null
  cluster plain "$prefix/bin" "$prefix/sbin" 2 8 33817
  EXTRA=TLSType=tls/s2n cluster secure "$prefix/bin" "$prefix/sbin" 2 8 34817
  one() {
    local s e
    s=$(now)
    SLURM_CONF=$work/$1/slurm.conf "$prefix/bin"/$2 </dev/null >/dev/null 2>&1 || true
    e=$(now)
    echo $(((e-s)/1000))
  }
  line() { # title command
    : > "$work/plain.us"; : > "$work/secure.us"
    for _ in $(seq "${RUNS:-21}"); do for k in plain secure; do one $k "$2" >> "$work/$k.us"; done; done
    awk -v c="$1" -v m="$(med < "$work/plain.us")" -v d="$(med < "$work/secure.us")" \
      'BEGIN{printf "%-34s %10.1f %10.1f %8.2f\n", c, m/1000, d/1000, d/m}'
  }
  printf '%-34s %10s %10s %8s\n' command plain_ms tls_ms ratio
  for _ in 1 2 3 4 5; do for k in plain secure; do one $k squeue >/dev/null; done; done
  for c in squeue sinfo "sbatch -H -o /dev/null --wrap=true" "srun true"; do line "$c" "$c"; done
  cp "$prefix/lib/muster/launcher.conf" "$work/launcher.conf"
  sed -i '/^command_service=/d' "$prefix/lib/muster/launcher.conf"
  line "squeue, long path" squeue; line "sbatch, long path" "sbatch -H -o /dev/null --wrap=true"
  ticks() { awk '{print $14 + $15}' "/proc/$(cat "$work/$1/run/slurmctld.pid")/stat"; }
  for k in plain secure; do
    c=$(ticks $k); for _ in $(seq 50); do one $k squeue >/dev/null; done
    echo "$k: slurmctld used $((($(ticks $k) - c) * 1000 / $(getconf CLK_TCK) / 50)) ms of CPU for each connection"
  done
  cp "$work/launcher.conf" "$prefix/lib/muster/launcher.conf"
}

# One step of 512 tasks over 8 slurmds, in turns; every line must come once.
bigstep() {
  tasks=${TASKS:-512}
  cluster muster "$prefix/bin" "$prefix/sbin" 8 64 29817
  debian && cluster debian /usr/bin /usr/sbin 8 64 30817
  sleep "${SETTLE:-8}"      # the daemons of both have come to rest
  # the first three are not counted; what a step leaves to be tidied up must not fall on the next one
  for run in $(seq -2 "${RUNS:-11}"); do for k in muster debian; do
    [ -d "$work/$k" ] || continue
    bin=/usr/bin; [ $k = muster ] && bin=$prefix/bin
    for how in "" -l; do
      sleep 0.7
      s=$(now)
      SLURM_CONF=$work/$k/slurm.conf "$bin/srun" -Q -N 8 -n "$tasks" $how sh -c 'echo $SLURM_PROCID' </dev/null \
        >"$work/$k.out" 2>"$work/$k.err" || cat "$work/$k.err"
      e=$(now)
      [ "$run" -lt 1 ] || echo $(((e-s)/1000)) >> "$work/$k$how.us"
      [ "$(sed 's/.*: //' "$work/$k.out" | sort -n | uniq | wc -l)/$(wc -l < "$work/$k.out")" = "$tasks/$tasks" ] \
        || echo "$k: lines are missing or doubled"
    done
  done; done
  for how in "" -l; do
    [ -d "$work/debian" ] || : > "$work/debian$how.us"
    awk -v n="$tasks" -v h="$how" -v m="$(med < "$work/muster$how.us")" -v d="$(med < "$work/debian$how.us")" \
      'BEGIN{printf "srun -N 8 -n %d %s: muster %.0f ms, debian %.0f ms, %.2f times faster\n",
        n, h, m/1000, d/1000, m ? d/m : 0}'
  done
}

# One step over many nodes, which one slurmd process stands for: real registrations, stepds and tasks, all on this
# machine.
manynodes() {
  local n=$1 port=20999 out=$work/many.out err=$work/many.err run s e
  ONE=1 EXTRA="TreeWidth=${WIDTH:-16}" cluster muster "$prefix/bin" "$prefix/sbin" "$n" 4 $port
  export SLURM_CONF=$work/muster/slurm.conf
  sleep "${SETTLE:-8}"
  for run in $(seq "${RUNS:-5}"); do
    s=$(now)
    timeout 300 "$prefix/bin/srun" -Q -l -N "$n" sh -c 'echo $SLURMD_NODENAME' </dev/null > "$out" 2> "$err" || true
    e=$(now)
    echo "srun -N $n -l: $(((e-s)/1000000)) ms, $(wc -l < "$out") lines, $(sort -u "$out" \
        | wc -l) different ones, $(wc -l < "$err") errors"
    while [ -n "$("$prefix/bin/squeue" -h)" ]; do sleep 0.3; done
  done
  command -v ss >/dev/null || return 0
  "$prefix/bin/srun" -Q -N "$n" sleep "${HOLD:-15}" </dev/null &
  run=$!; sleep $((${HOLD:-15} - 3))
  echo "connections to nodes that srun holds: $(ss -tnpH state established \
      "( dport > :$port and dport <= :$((port + n)) )" | grep -vc '"slurmd"')"
  wait $run
}

# A slurmctld of its own with nodes that have slurmd's logic and connections but no processes, thousands in one Java
# machine: registration, many short jobs, one job and steps of all nodes, all nodes' jobs ending at once. Each such node
# has three files open at most.
emulated() { # NODES JOBS PARTS
  local n=$1 jobs=$2 d=$work/muster port=${PORT:-21817} per from to i=0 lists=() host
  host=$(hostname -s 2>/dev/null || hostname)
  mkdir -p "$d"/{run,state,log}
  per=$(($(ulimit -n) / 4))
  [ "$n" -lt $((2 * per)) ] || per=$(((n + (n - 1) / per) / ((n - 1) / per + 1)))
  {
    printf '%s\n' ClusterName=emulated "SlurmctldHost=$host(127.0.0.1)" AuthType=auth/slurm SlurmUser=root \
      SlurmdUser=root "SlurmctldPort=$port" \
      "StateSaveLocation=$d/state" "SlurmdSpoolDir=$d/spool/%n" "SlurmctldPidFile=$d/run/slurmctld.pid" \
      "SlurmctldLogFile=$d/log/slurmctld.log" \
      SlurmctldDebug=error SelectType=select/cons_tres SelectTypeParameters=CR_Core ReturnToService=2 \
      MaxJobCount=1000000 MaxArraySize=1000001 \
      ProctrackType=proctrack/linuxproc TaskPlugin=task/none SlurmdParameters=config_overrides
    for ((from = 1; from <= n; from = to + 1)); do
      to=$((from + per - 1 < n ? from + per - 1 : n)); i=$((i + 1)); lists+=("n[$from-$to]")
      echo "NodeName=n[$from-$to] NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=${CPUS:-4} RealMemory=4000"
    done
    printf '%s\n' "PartitionName=main Nodes=n[1-$n] Default=YES MaxTime=INFINITE State=UP" ${EXTRA:+"$EXTRA"}; } \
      > "$d/slurm.conf"
  "$prefix/sbin/slurmctld" -f "$d/slurm.conf" </dev/null >/dev/null 2>&1
  "$java" -XX:+UseSerialGC -cp "$(benchmarks_cp)" dev.muster.benchmarks.ManyNodesBenchmark "$d/slurm.conf" \
    "$(cat "$d/run/slurmctld.pid")" "$jobs" "$3" "${lists[@]}"
}

throughput() {
  jobs=${JOBS:-2000}
  for k in muster debian; do
    [ $k = muster ] || debian || continue
    bin=/usr/bin sbin=/usr/sbin; [ $k = muster ] && bin=$prefix/bin sbin=$prefix/sbin
    cluster $k "$bin" "$sbin" 8 8 $([ $k = muster ] && echo 23817 || echo 24817)
    export SLURM_CONF=$work/$k/slurm.conf
    for how in array separate; do
      s=$(now)
      if [ $how = array ]; then "$bin/sbatch" -o /dev/null --array=1-"$jobs" --wrap=true >/dev/null
      else
        for _ in 1 2 3 4; do
          (for _ in $(seq $((jobs/4))); do "$bin/sbatch" -o /dev/null --wrap=true >/dev/null; done) &
        done
      wait $(jobs -p)
    fi
      while [ -n "$("$bin/squeue" -h -o %i 2>/dev/null | head -1)" ]; do sleep 0.2; done
      e=$(now)
      awk -v k=$k -v h=$how -v n="$jobs" -v t=$(((e-s)/1000000)) \
        'BEGIN{printf "%-8s %-9s %d jobs in %.1f s: %.1f jobs/s\n", k, h, n, t/1000, n*1000/t}'
    done
    for f in "$work/$k"/run/*.pid; do [ -s "$f" ] && kill "$(cat "$f")" 2>/dev/null || true; done; sleep 2
  done
}

# The same kills, the same ledger, on both: ROUNDS=50 for the full length.
durability() {
  . "$here/packaging/ledger.bash"
  for k in muster debian; do
    [ $k = muster ] || debian || continue
    bin=/usr/bin sbin=/usr/sbin; [ $k = muster ] && bin=$prefix/bin sbin=$prefix/sbin
    MINJOBAGE=600 cluster $k "$bin" "$sbin" 2 8 $([ $k = muster ] && echo 35817 || echo 36917)
    [ $k = muster ] || sbin=$work/debian/sbin
    export SLURM_CONF=$work/$k/slurm.conf
    start_ctld() { "$sbin/slurmctld" -f "$SLURM_CONF" </dev/null >/dev/null 2>&1; }
    kill_rounds "$bin" "$work/$k" "${ROUNDS:-10}"
    echo "$k: $acked acknowledged over $rounds_done kills, $missing lost, $twice ran twice," \
      "$reused numbers given twice, $disturbed of 4 long jobs disturbed"
    for f in "$work/$k"/run/*.pid; do [ -s "$f" ] && kill "$(cat "$f")" 2>/dev/null || true; done; sleep 1
  done
}

# sacct over the jobs of a month, with and without their steps: both keep them in one MariaDB server. A real job of each
# is there so often.
sacct_month() {
  local n=$1 k sql=$work/sql port=27917 cols bin sbin from
  command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null && debian || {
    echo "MariaDB and Debian's Slurm are needed"
    exit 1
  }
  mkdir -p "$sql/run"
  mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$sql/data" --tmpdir="$sql" \
    --auth-root-authentication-method=normal --skip-test-db </dev/null >"$sql/log" 2>&1
  mariadbd --no-defaults --user="$(id -un)" --datadir="$sql/data" --tmpdir="$sql" --socket="$sql/s" --port=$port \
    --bind-address=127.0.0.1 \
    --innodb-buffer-pool-size=1G --innodb-lock-wait-timeout=900 --pid-file="$sql/run/mariadbd.pid" </dev/null \
    >>"$sql/log" 2>&1 &
  my() { mariadb --no-defaults -S "$sql/s" -u root -N "$@" </dev/null; }
  for _ in $(seq 100); do my -e 'select 1' >/dev/null 2>&1 && break; sleep 0.2; done
  my -e "create user 'bench'@'127.0.0.1' identified by 'bench'; grant all on *.* to 'bench'@'127.0.0.1'"
  for k in muster debian; do
    local own=$((port + 200)) pass="AccountingStoragePass=$work/$k/run/munge.socket"; bin=/usr/bin sbin=/usr/sbin
    [ $k = debian ] || { own=$((port + 100)) pass= bin=$prefix/bin sbin=$prefix/sbin; }
    mkdir -p "$work/$k"/{run,log}
    {
      [ $k = debian ] && printf 'AuthType=auth/munge\nAuthInfo=socket=%s\n' "$work/debian/run/munge.socket" \
        || echo AuthType=auth/slurm
      printf 'DbdHost=localhost\nDbdPort=%s\nSlurmUser=root\nStorageType=accounting_storage/mysql\n' $((own + 1))
      printf 'StorageHost=127.0.0.1\nStoragePort=%s\n' $port
      printf 'StorageUser=bench\nStoragePass=bench\nStorageLoc=%s\nLogFile=%s\nPidFile=%s\n' "$k" \
        "$work/$k/log/dbd.log" "$work/$k/run/slurmdbd.pid"; } > "$work/$k/slurmdbd.conf"
    chmod 600 "$work/$k/slurmdbd.conf"
    if [ $k = muster ]; then head -c 64 /dev/urandom > "$work/$k/slurm.key"; chmod 600 "$work/$k/slurm.key"; fi
    EXTRA="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((own + 1))
$pass
JobAcctGatherType=jobacct_gather/linux" BEFORE=slurmdbd_of cluster $k "$bin" "$sbin" 1 2 $((own + 10))
    export SLURM_CONF=$work/$k/slurm.conf
    "$bin/sbatch" -W -o /dev/null --wrap true >/dev/null
    for _ in $(seq 50); do "$bin/sacct" -n -P -j 1 -o State | grep -q COMPLETED && break; sleep 0.2; done
  done
  sleep 2
  # columns of TABLE in DATABASE with VALUES in place of those named: COLUMN=EXPRESSION ...
  copies() { # database table condition column=expression...
    local d=$1 t=$2 w=$3 names exprs c e o; shift 3
    names=$(my \
      -e "select column_name from information_schema.columns where table_schema='$d' and table_name='$t'
        and generation_expression is null and extra not like '%auto_inc%'")
    exprs=
    for c in $names; do
      e="r.\`$c\`"
      for o in "$@"; do [ "${o%%=*}" != "$c" ] || e=${o#*=}; done
      exprs="$exprs${exprs:+, }$e"
    done
    my "$d" -e "insert into \`$t\` ($(printf '`%s`, ' $names \
        | sed 's/, $//')) select $exprs from (select * from \`$t\` where $w) r, seq_1_to_$n s"
  }
  from=$(($(date +%s) - 30 * 86400)); at="$from + s.seq * (30 * 86400 / $n)"
  copies muster job "job_id = 1" sluid="1000 + s.seq" job_id="1000 + s.seq" submit_time="$at" eligible_time="$at" \
    start_time="$at" end_time="$at + 60"
  copies muster step "job_id = 1" sluid="1000 + s.seq" job_id="1000 + s.seq" start_time="$at" end_time="$at + 60"
  copies debian debian_job_table "id_job = 1" id_job="1000 + s.seq" time_submit="$at" time_eligible="$at" \
    time_start="$at" time_end="$at + 60"
  copies debian debian_step_table "1 = 1" \
    job_db_inx="(select j.job_db_inx from debian_job_table j where j.id_job = 1000 + s.seq)" time_start="$at" \
    time_end="$at + 60"
  my -e "analyze table muster.job, muster.step, debian.debian_job_table, debian.debian_step_table" >/dev/null
  printf '%-34s %10s %10s %8s\n' "$n jobs of a month" muster_ms debian_ms ratio
  for how in "-X" ""; do
    : > "$work/muster.us"; : > "$work/debian.us"
    for _ in $(seq "${RUNS:-5}"); do for k in muster debian; do
      bin=/usr/bin; [ $k = muster ] && bin=$prefix/bin
      s=$(now)
      SLURM_CONF=$work/$k/slurm.conf "$bin/sacct" -a $how -n -P -S now-31days \
        -o JobID,User,Account,Partition,State,Elapsed,AllocTRES,ExitCode </dev/null > "$work/$k.out" 2>"$work/$k.err" \
        || true
      e=$(now)
      echo $(((e-s)/1000)) >> "$work/$k.us"
    done; done
    awk -v c="sacct $how" -v m="$(med < "$work/muster.us")" -v d="$(med < "$work/debian.us")" \
      'BEGIN{printf "%-34s %10.1f %10.1f %8.2f\n", c, m/1000, d/1000, d ? m/d : 0}'
    echo "  lines: $(wc -l < "$work/muster.out") here, $(wc -l < "$work/debian.out") there$(head -c 200 \
        "$work/muster.err" | sed 's/^/; /')"
  done
}

# of sacct_month: slurmctld wants it to be there
slurmdbd_of() {
  local d=$work/$1 sbin=$2
  if [ "$1" = debian ]; then
    mkdir -p "$d/sbin"
    ln -sfn /usr/sbin/slurmdbd "$d/sbin/slurmdbd"
    SLURM_CONF=$d/slurm.conf "$d/sbin/slurmdbd" </dev/null >>"$d/log/dbd.out" 2>&1
  else "$sbin/slurmdbd" -f "$d/slurmdbd.conf" </dev/null >>"$d/log/dbd.out" 2>&1; fi
  for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$(sed -n 's/^DbdPort=//p' "$d/slurmdbd.conf")") 2>/dev/null && break
    sleep 0.2
  done
}
# Lists and single answers over REST while jobs go on being scheduled; ours beside Debian's own newest version.
# rest [JOBS [NODES]]
rest() {
  local jobs=$1 n=$2 k bin sbin url first what; cp "$here/packaging/restload.py" "$work/"
  printf '%-8s %-12s %10s %10s %12s %8s %8s  %s\n' "" request answers/s bytes "cpu ms each" rss_mb jobs/s codes
  for k in muster debian; do
    [ $k = muster ] || { debian && [ -x /usr/sbin/slurmrestd ]; } || continue
    bin=/usr/bin sbin=/usr/sbin; [ $k = muster ] && bin=$prefix/bin sbin=$prefix/sbin
    MINJOBAGE=30 ONE=$([ $k = muster ] && echo 1) cluster $k "$bin" "$sbin" "$n" 8 \
      $([ $k = muster ] && echo 37817 || echo 38917)
    export SLURM_CONF=$work/$k/slurm.conf
    for _ in 1 2 3 4; do
      (for _ in $(seq $((jobs/4))); do "$bin/sbatch" -H -o /dev/null --wrap=true >/dev/null; done) &
    done
    wait $(jobs -p)
    mkdir -p "$work/$k/rest"; chmod 777 "$work/$k/rest"
    if [ $k = muster ]; then
      "$sbin/slurmrestd" -u nobody -g nogroup -a rest_auth/local "unix:$work/$k/rest/sock" </dev/null \
        >"$work/$k/log/rest" 2>&1 &
      url=/slurm/v0.0.45
    else
      setpriv --reuid=nobody --regid=nogroup --clear-groups "$sbin/slurmrestd" -s openapi/v0.0.38 -a rest_auth/local \
        "unix:$work/$k/rest/sock" </dev/null >"$work/$k/log/rest" 2>&1 &
    url=/slurm/v0.0.38
  fi
    echo $! > "$work/$k/run/restd.pid"; rest_pid=$!
    for _ in $(seq 50); do [ -S "$work/$k/rest/sock" ] && break; sleep 0.2; done
    [ -S "$work/$k/rest/sock" ] || { cat "$work/$k/log/rest"; exit 1; }
    # jobs that run meanwhile
    (while :; do "$bin/sbatch" -o /dev/null --wrap=true || sleep 0.1; done) >/dev/null 2>&1 & flow=$!
    sleep 2
    first=$("$bin/squeue" -h -t PD -o %i | tail -1)
    for what in "jobs 2" "job/$first 4" "nodes?update_time=4102444800 4"; do
      rest_line $k $what | tee -a "$work/rest.out"
    done
    kill $flow; wait $flow 2>/dev/null || true; flow=
    for f in "$work/$k"/run/*.pid; do [ -s "$f" ] && kill "$(cat "$f")" 2>/dev/null || true; done; sleep 2
  done
  awk '$1=="muster"{m[$2]=$3} $1=="debian"{printf "%s: %.1f times as many answers\n", $2, m[$2]/$3}' "$work/rest.out"
}
# The page in a browser with ENDED jobs of 400 users in accounting, WAITING in slurmctld and NODES nodes.
# page [ENDED [WAITING [NODES]]]
page_load() {
  local ended=$1 waiting=$2 n=$3 d=$work/muster port=${PORT:-39817} rport rest_pid from
  rport=$((port + 90)); mkdir -p "$d"/{run,log}; chmod 755 "$d"
  head -c 64 /dev/urandom > "$d/slurm.key"; head -c 32 /dev/urandom > "$d/jwt.key"; chmod 600 "$d"/*.key
  local tokens="AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$d/jwt.key"
  cat > "$d/slurmdbd.conf" <<C
AuthType=auth/slurm
DbdHost=localhost
DbdPort=$((port + 80))
SlurmUser=root
StorageType=accounting_storage/embedded
StorageLoc=$d/db
LogFile=$d/log/dbd.log
PidFile=$d/run/slurmdbd.pid
$tokens
C
  chmod 600 "$d/slurmdbd.conf"
  MAXJOBS=1000000 MINJOBAGE=300 EXTRA="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 80))
PriorityType=priority/multifactor
$tokens
NodeName=x[1-$n] NodeAddr=127.0.0.1 CPUs=64 RealMemory=256000 State=DOWN
PartitionName=huge Nodes=x[1-$n]" BEFORE=slurmdbd_of cluster muster "$prefix/bin" "$prefix/sbin" 1 8 "$port"
  export SLURM_CONF=$d/slurm.conf PATH=$prefix/bin:$prefix/sbin:$PATH
  {
    echo "Cluster - 'muster'"
    echo "Parent - 'root'"
    for a in $(seq 20); do echo "Account - 'a$a':Description='a':Organization='o'"; done
    for a in $(seq 20); do
      echo "Parent - 'a$a'"
      for u in $(seq 20); do echo "User - 'u$((a * 20 + u - 20))':DefaultAccount='a$a':Fairshare=$u"; done
    done; } > "$d/users.cfg"
  sacctmgr -i load "$d/users.cfg" >/dev/null
  sacctmgr -i modify account where cluster=muster account="$(seq -s, -f 'a%g' 20)" set grpjobs=100000 grptres=cpu=5000 \
    >/dev/null
  sacctmgr -nP list assoc cluster=muster format=id,account,user | awk -F'|' '$3 ~ /^u/' > "$d/assocs"
  from=$(($(date +%s) - 30 * 86400))
  awk -F'|' -v n="$ended" -v from="$from" \
    'BEGIN { split("3 3 3 3 3 3 3 5 4 6", states, " ") }
    { id[NR] = $1; account[NR] = $2; user[NR] = substr($3, 2) }
    END {
    print "insert into job_table (jobid, associd, uid, gid, `partition`, cluster, account, eligible, submit, start,"
    print "end, suspended, name, state, comp_code, priority, req_cpus, tres_alloc, nodelist, kill_requid, qos, deleted)"
    print "values"
    for (i = 1; i <= n; i++) {
      k = 1 + (i * 7919) % NR; at = int(from + i * (29.9 * 86400 / n)); c = 1 + i % 16; s = at + i * 31 % 3000
      printf "(%s,%s,%s,100,\x27main\x27,\x27muster\x27,\x27%s\x27,%d,%d,", 1000000 + i, id[k], 20000 + user[k],
        account[k], at, at
      printf "%d,%d,0,\x27job %d\x27,%s,0,5,%d,", s, s + 60 + i * 17 % 7000, i % 50, states[1 + i % 10], c
      printf "\x271=%d,2=%d,4=1\x27,\x27n1\x27,0,0,0)%s\n", c, c * 500, i < n ? "," : "" }
    print "on duplicate key update id=LAST_INSERT_ID(id);" }' "$d/assocs" > "$d/past.sql"
  sacctmgr -i archive load "$d/past.sql" >/dev/null; rm "$d/past.sql"
  [ "$waiting" = 0 ] || load muster "$waiting" hold mix 8 >/dev/null
  slurmrestd -u nobody -g nogroup -a rest_auth/jwt "localhost:$rport" </dev/null >"$d/log/rest" 2>&1 &
  rest_pid=$!
  echo $rest_pid > "$d/run/restd.pid"
  for _ in $(seq 100); do (exec 3<>"/dev/tcp/127.0.0.1/$rport") 2>/dev/null && break; sleep 0.2; done
  echo "$ended jobs in accounting, $(squeue -h | wc -l) in slurmctld, $n nodes; load $(cut -d' ' -f1 /proc/loadavg)"
  ENDED="1000001 $((1000000 + ended))" /usr/bin/python3 "$here/packaging/pageload.py" "http://localhost:$rport" \
    $((rport + 1)) "$rest_pid" "$d/profile"
}
cpu_ms() { awk -v hz="$(getconf CLK_TCK)" '{print int(($14+$15)*1000/hz)}' "/proc/$1/stat"; }
rest_line() { # KIND PATH CONNECTIONS
  local k=$1 path=$2 many=$3 before after ids out
  ids=$("$bin/sbatch" --parsable -H -o /dev/null --wrap=true); before=$(cpu_ms "$rest_pid")
  out=$(as_nobody /usr/bin/python3 "$work/restload.py" "$work/$k/rest/sock" "$url/$path" "${SECONDS_EACH:-20}" "$many")
  after=$(cpu_ms "$rest_pid")
  ids=$(($("$bin/sbatch" --parsable -H -o /dev/null --wrap=true) - ids - 1))
  # shellcheck disable=SC2086
  set -- $out
  awk -v k=$k -v p="${path%%[?/]*}" -v r="$1" -v b="$2" -v c="$3" -v n="$4" -v cpu=$((after-before)) \
    -v rss="$(awk '/VmRSS/{print $2}' "/proc/$rest_pid/status")" -v i=$ids -v t="${SECONDS_EACH:-20}" \
    'BEGIN{printf "%-8s %-12s %10.1f %10d %12.1f %8.0f %8.1f  %s\n", k, p, r, b, n ? cpu/n : 0, rss/1024, i/t, c}'
}
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }

case $what in
  commands) commands ;;
  tls) tls ;;
  sacct) sacct_month "${3:-100000}" ;;
  bigstep) bigstep ;;
  manynodes) manynodes "${3:-1000}" ;;
  emulated) emulated "${3:-10000}" "${4:-100000}" "${5:-array,array,separate,wide,storm}" ;;
  throughput) throughput ;;
  durability) durability ;;
  queries) queries "${3:-100000}" ;;
  latency) latency ;;
  long) long "${3:-100000}" ;;
  submit) submit "${3:-10000}" "${4:-10000}" ;;
  plan) "$java" -Xmx"${HEAP:-8g}" -XX:+UseSerialGC -cp "$(benchmarks_cp)" dev.muster.benchmarks.SchedulingBenchmark \
    "${@:3}" ;;
  limits) "$java" -Xmx8g -XX:+UseSerialGC -cp "$(benchmarks_cp)" dev.muster.benchmarks.SchedulingBenchmark \
    "${3:-20000}" "${4:-2000}" limits 41 ;;
  queue) "$java" -Xmx6g -XX:+UseSerialGC -cp "$(benchmarks_cp)" dev.muster.benchmarks.LongQueueBenchmark \
    "${3:-100000}" ;;
  rest) rest "${3:-10000}" "${4:-16}" ;;
  page) page_load "${3:-100000}" "${4:-100000}" "${5:-10000}" ;;
  small) small "${3:-}" ;;
  journal) "$java" -cp "$(benchmarks_cp)" dev.muster.benchmarks.JournalBenchmark ;;
  *) echo "bench.sh PREFIX commands|tls|bigstep|manynodes [NODES]|emulated [NODES [JOBS [PARTS]]]|throughput|\
durability|queue [JOBS]|plan [JOBS [NODES [MIXES]]]|limits [JOBS [NODES]]|journal|small [save]|rest [JOBS [NODES]]|\
page [ENDED [WAITING [NODES]]]|sacct [JOBS]|submit [JOBS [NODES]]|long [JOBS]|queries [JOBS]|latency"
     exit 2 ;;
esac
