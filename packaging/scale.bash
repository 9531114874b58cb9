# Sourced by bench.sh: what a large cluster and a long queue cost, here and with Debian's Slurm in turns. Nothing runs
# on the nodes: they are nodes of a cloud whose machines never come, so that jobs are really allocated and stay there.
# SUBMIT_LIB names a program that submits through libslurm (JOBS hold|run same|mix THREADS; prints "rate N/s" and
# "call_us median N p99 N"); without it Debian's figures are those of sbatch in loops.

# scale_cluster KIND NODES PORT
scale_cluster() {
  local k=$1 n=$2 bin=/usr/bin sbin=/usr/sbin; [ "$k" = muster ] && bin=$prefix/bin sbin=$prefix/sbin
  MAXJOBS=1000000 MINJOBAGE=2 MORE_PARAMETERS=,defer MACHINES="SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=INFINITE
ResumeTimeout=60000
ResumeRate=0
SuspendRate=0
PrivateData=cloud
SlurmctldParameters=cloud_dns
NodeName=c[1-$n] CPUs=8 RealMemory=64000 State=CLOUD
PartitionName=main Nodes=c[1-$n] Default=YES MaxTime=INFINITE State=UP" cluster "$k" "$bin" "$sbin" 0 8 "$3"
  for _ in $(seq 150); do [ -n "$(of "$k" sinfo -h 2>/dev/null)" ] && return; sleep 0.2; done
  echo "the $k cluster did not come up"; exit 1
}
of() { # KIND COMMAND...: run with that cluster's programs
  local k=$1 bin=/usr/bin c=$2; shift 2; [ "$k" = muster ] && bin=$prefix/bin
  SLURM_CONF=$work/$k/slurm.conf "$bin/$c" "$@" </dev/null
}
ctld() { cat "$work/$1/run/slurmctld.pid"; }
# Cancels all, and waits until the records are gone: Debian's Slurm counts them towards MaxJobCount
emptied() {
  of "$1" scancel -u "$(id -un)" >/dev/null 2>&1 || true
  for _ in $(seq 600); do [ -z "$(of "$1" squeue -h -o %i 2>/dev/null | head -1)" ] && return; sleep 0.2; done
}
fill() { # KIND JOBS NODES-EACH: whole nodes, allocated before this returns
  local i
  for i in $(seq "$2"); do
    of "$1" sbatch -o /dev/null -N "$3" --exclusive -t $((60 + i * 37 % 1380)) --wrap='sleep 86400' >/dev/null
  done
  for _ in $(seq 600); do [ -z "$(of "$1" squeue -h -t PD -o %i | head -1)" ] && return; sleep 0.2; done
  echo "$1: the nodes were not filled"
}
# the submitter shares the processors with what it measures, and is over before optimised code has paid for itself
# one way of submitting, as "rate median_us p99_us client_cpu_us": load KIND JOBS hold|run same|mix THREADS
load() {
  local k=$1 jobs=$2 how=$3 kind=$4 threads=$5 s e out
  if [ "$k" = muster ]; then
    out=$(SLURM_CONF=$work/muster/slurm.conf "$java" -XX:+UseSerialGC -Xmx1g -Xmn200m -XX:TieredStopAtLevel=1 \
      -cp "$(cli_classes)" dev.muster.benchmarks.SubmissionLoad "$jobs" "$how" "$kind" "$threads" "${WARM:-0}")
    awk '{for(i=1;i<NF;i++) v[$i]=$(i+1); print v["rate"], v["median"], v["p99"], v["cpu_us_per_job"]}' <<< "$out"
  elif [ -n "${SUBMIT_LIB:-}" ]; then
    out=$( { time SLURM_CONF=$work/debian/slurm.conf "$SUBMIT_LIB" "$jobs" "$how" "$kind" "$threads"; } 2>&1 )
    awk -v n="$jobs" \
      '/rate/{for(i=1;i<NF;i++) v[$i]=$(i+1)} /^(user|sys)/{split($2,t,"m"); c+=t[1]*60+t[2]} 
      END{sub("/s","",v["rate"]); print v["rate"], v["median"], v["p99"], c*1e6/n}' \
      <<< "$out"
  else
    s=$(now)
    for _ in $(seq "$threads"); do
      (for _ in $(seq $((jobs/threads))); do of "$k" sbatch $([ "$how" = hold ] && echo -H) -o /dev/null --wrap=true \
          >/dev/null; done) &
    done
    wait $(jobs -p)
    e=$(now)
    awk -v n="$jobs" -v ns=$((e-s)) 'BEGIN{print n*1e9/ns, 0, 0, 0}'
  fi
}
cli_classes() { # the installation's commands, and the load beside them as it was when this began
  [ -d "$work/load" ] || cp -r "$here/benchmarks/target/classes" "$work/load"
  printf '%s' "$work/load"; printf ':%s' "$prefix"/lib/muster/jars/cli/*.jar
}


kinds() { echo muster; debian && echo debian || true; }
port_of() { [ "$1" = muster ] && echo $((${PORT:-25000} + 10)) || echo $((${PORT:-25000} + 20)); }
down() { local k f p; for k in muster debian; do for f in "$work/$k"/run/*.pid; do
    [ -s "$f" ] || continue
    p=$(cat "$f")
    kill "$p" 2>/dev/null || continue
    for _ in $(seq 100); do kill -0 "$p" 2>/dev/null || break; sleep 0.1; done
  done
  rm -rf "${work:?}/$k"
done
}
# a line of two medians and what slurmctld used: row TITLE UNIT FILE-PREFIX; the files hold "value ctld-cpu" per run
row() {
  local t=$1 u=$2 f=$3 k v=() c=()
  for k in muster debian; do
    [ -s "$work/$f.$k" ] || : > "$work/$f.$k"
    v+=("$(awk '{print $1}' "$work/$f.$k" | med)")
    c+=("$(awk '{print $2}' "$work/$f.$k" | med)")
  done
  awk -v t="$t" -v u="$u" -v a="${v[0]}" -v b="${v[1]}" -v ca="${c[0]}" -v cb="${c[1]}" \
    'BEGIN{printf "%-52s %11.1f %11.1f %10.2f %12.2f %12.2f\n", t " (" u ")", a, b, b ? a/b : 0, ca, cb}'
}
head_of() {
  printf '%-52s %11s %11s %10s %12s %12s   load %s\n' "$1" muster debian "m/d" "m ctld ms" "d ctld ms" \
    "$(cut -d' ' -f1 /proc/loadavg)"
}

# Submissions acknowledged per second: to 8 idle nodes (held jobs), and to NODES that are all busy (jobs that may
# start). submit [JOBS [NODES]]
submit() {
  local jobs=$1 n=$2 k threads r c
  head_of "submissions; CPU of slurmctld for one"
  for k in $(kinds); do scale_cluster $k 8 "$(port_of $k)"; done
  WARM=$jobs load muster 1000 hold same 8 >/dev/null; emptied muster
  for threads in ${THREADS:-1 8 64}; do
    for _ in $(seq "${RUNS:-3}"); do for k in $(kinds); do
      c=$(cpu_ms "$(ctld $k)"); r=$(load $k "$jobs" hold same "$threads"); c=$(($(cpu_ms "$(ctld $k)") - c))
      set -- $r
      [ $# = 4 ] || { echo "$k: the submissions failed"; exit 1; }
      echo "$1 $(awk -v c=$c -v n="$jobs" 'BEGIN{print c/n}')" >> "$work/rate.$k"
      echo "$2 0" >> "$work/p50.$k"
      echo "$3 0" >> "$work/p99.$k"
      echo "$4 0" >> "$work/own.$k"
      emptied $k
    done; done
    row "8 nodes, held, $threads connections" jobs/s rate
    row "  a call, median" us p50
    row "  a call, 99 %" us p99
    row "  the submitter's CPU" "us each" own
    rm -f "$work"/{rate,p50,p99,own}.*
  done
  down
  for k in $(kinds); do scale_cluster $k "$n" "$(port_of $k)"; fill $k 100 $((n / 100)); done
  for threads in ${THREADS:-1 8 64}; do
    for _ in $(seq "${RUNS:-3}"); do for k in $(kinds); do
      r=$jobs; [ $k = debian ] && r=$((jobs > 2000 ? 2000 : jobs))
      c=$(cpu_ms "$(ctld $k)")
      set -- $(load $k $r run mix "$threads")
      [ $# = 4 ] || { echo "$k: the submissions failed"; exit 1; }
      c=$(($(cpu_ms "$(ctld $k)") - c))
      echo "$1 $(awk -v c=$c -v n=$r 'BEGIN{print c/n}')" >> "$work/rate.$k"; echo "$2 0" >> "$work/p50.$k"
    done; done
    row "$n busy nodes, jobs that wait, $threads connections" jobs/s rate; row "  a call, median" us p50
    rm -f "$work"/{rate,p50}.*
  done
  down
}

# wall ms, CPU ms and peak MB of a command's own process (not of the command service): measured KIND COMMAND...
measured() {
  local k=$1 bin=/usr/bin c=$2; shift 2; [ "$k" = muster ] && bin=$prefix/bin
  SLURM_CONF=$work/$k/slurm.conf /usr/bin/python3 - "$bin/$c" "$@" <<'P'
import resource, subprocess, sys, time
no = subprocess.DEVNULL
t = time.monotonic()
r = subprocess.run(sys.argv[1:], stdin=no, stdout=no, stderr=no).returncode
t = time.monotonic() - t
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.2f %.2f %.1f %d" % (t * 1000, (u.ru_utime + u.ru_stime) * 1000, u.ru_maxrss / 1024, r))
P
}
ask() { # TITLE COMMAND...: in turns; the wall time, and what slurmctld used
  local t=$1 k c r; shift; : > "$work/mb.muster"; : > "$work/mb.debian"
  for _ in $(seq "${RUNS:-5}"); do for k in $(kinds); do
    c=$(cpu_ms "$(ctld $k)")
    r=$(measured $k "$@")
    c=$(($(cpu_ms "$(ctld $k)") - c))
    echo "${r%% *} $c" >> "$work/ask.$k"
    echo "$r" >> "$work/mb.$k"
  done; done
  row "$t" ms ask; rm -f "$work"/ask.*
  echo "  $(for k in $(kinds); do
      echo "$k: $(awk '{print $2}' "$work/mb.$k" | med) ms of its CPU, $(awk '{print $3}' "$work/mb.$k" \
          | med) MB, exit $(awk '{print $4}' "$work/mb.$k" | sort -u | tr '\n' ' ');"; done)$(service_of muster)"
}
service_of() {
  local p
  p=$(pgrep -f -- "$prefix/sbin/muster-commands" | head -1 || true)
  [ -z "$p" ] || echo " command service: $(awk '/VmHWM/{print int($2/1024)}' "/proc/$p/status") MB at most"
}
sdiag_of() {
  of "$1" sdiag | awk -v s="$2" -v f="$3" '/^[A-Z]/{on=index($0, s)==1} on && index($0, f)>0 {n=$NF; print n; exit}'
}

# until slurmctld of KIND answers after a start: restarted KIND TERM|KILL, as "ms ctld-ms"
restarted() {
  local k=$1 p s e sbin=$prefix/sbin; p=$(ctld $k); [ $k = muster ] || sbin=$work/debian/sbin
  kill -"$2" "$p"; while kill -0 "$p" 2>/dev/null; do sleep 0.02; done
  s=$(now); "$sbin/slurmctld" -f "$work/$k/slurm.conf" </dev/null >/dev/null 2>&1
  until [ "$(of $k squeue -h -j "$3" -o %i 2>/dev/null)" = "$3" ]; do sleep 0.02; done
  e=$(now); echo "$(((e-s)/1000000)) $(cpu_ms "$(ctld $k)")"
}

# A queue of JOBS separate jobs, all different, before 1,000 nodes that are full: what is looked at, asked, restarted
# and cancelled. long [JOBS]
long() {
  local jobs=$1 k c n r how last
  for k in $(kinds); do
    scale_cluster $k 1000 "$(port_of $k)"
    fill $k 125 8
    echo "$k: $jobs submitted at $(load $k "$jobs" run mix 8 | cut -d' ' -f1)/s"
  done
  head_of "$jobs jobs wait, 1,000 nodes are full"
  considered
  ask "squeue" squeue
  ask "squeue -t R" squeue -h -t R
  ask "squeue -j, one job" squeue -h -j $((jobs / 2))
  ask "squeue --start" squeue --start
  last=$((jobs / 2))
  for how in KILL TERM; do
    for _ in $(seq "${RESTARTS:-3}"); do
      for k in $(kinds); do restarted $k $how $last >> "$work/up.$k"; sleep 3; done
    done
    row "restart after kill -$how, to the first answer" ms up; rm -f "$work"/up.*
  done
  for k in $(kinds); do
    c=$(cpu_ms "$(ctld $k)")
    r=$(measured $k scancel -u "$(id -un)")
    echo "${r%% *} $(($(cpu_ms "$(ctld $k)") - c))" > "$work/all.$k"
    [ -z "$(of $k squeue -h -t PD -o %i | head -1)" ] || echo "$k: jobs are left"
  done
  row "scancel of all" ms all
  down
}

# jobs looked at for each second of CPU: of the passes' own time, and of all that slurmctld used meanwhile. Debian's
# both loops look at the queue, ours in each pass.
considered() {
  local k c seconds=${WATCH:-60} i; rm -f "$work"/seen.* "$work"/deep.*
  for k in $(kinds); do of $k sdiag -r >/dev/null; done
  for k in $(kinds); do
    c=$(cpu_ms "$(ctld $k)")
    # an event each second, which neither has room for
    for i in $(seq "$seconds"); do of $k sbatch -H -o /dev/null --wrap=true >/dev/null; sleep 1; done
    c=$(($(cpu_ms "$(ctld $k)") - c))
    of $k sdiag > "$work/sdiag.$k"
    awk -v k=$k -v cpu=$c '
      /^Main/{s="m"} /^Backfilling/{s="b"} /^Remote/{s=""}
      s=="m" && /Total cycles/{n=$NF} s=="m" && /Mean cycle:/{mean=$NF}
      s=="m" && /Mean depth cycle/{depth=$NF} s=="m" && /Last queue length/{q=$NF}
      s=="b" && /Total cycles/{bn=$NF} s=="b" && /Mean cycle/{bmean=$NF}
      s=="b" && /Depth Mean \(try depth\)/{bdepth=$NF} s=="b" && /Last depth cycle \(try sched\)/{blast=$NF}
      END{main=n*depth; bf=bn*bdepth
        printf "  %s: %d passes of %d us, %d of %d jobs each; ", k, n, mean, depth, q
        printf "backfill %d cycles of %d us, %d tried; slurmctld used %d ms\n", bn, bmean, bdepth, cpu
        print (main+bf)*1000/cpu, 0 >> "'"$work/seen.$k"'"
        deep=k=="muster" ? (main ? main*1e6/(n*mean) : 0) : (bn ? bf*1e6/(bn*bmean) : 0)
        print deep, 0 >> "'"$work/deep.$k"'"}' \
          "$work/sdiag.$k"
  done
  row "looked at, for a CPU second of slurmctld" jobs seen
  row "looked at in depth (backfill), for its second" jobs deep
}

# From the event to the start that it makes possible, before a queue of JOBS, with and without 1,000 filtered queries a
# second. queries [JOBS]
queries() {
  local jobs=$1 first
  ONE=1 MAXJOBS=1000000 cluster muster "$prefix/bin" "$prefix/sbin" "${NODES:-64}" 8 "$(port_of muster)"
  first=$(of muster sbatch --parsable -o /dev/null -N1 --exclusive --wrap='exec sleep 86400')
  load muster "$jobs" run one 16 >/dev/null
  echo "$jobs jobs, ${NODES:-64} nodes; load $(cut -d' ' -f1 /proc/loadavg)"
  SLURM_CONF=$work/muster/slurm.conf "$java" -XX:+UseSerialGC -cp "$(cli_classes)" \
    dev.muster.benchmarks.QueryLoadBenchmark "${ROUNDS:-8}" "${RATE:-1000}" "${CONNECTIONS:-16}" "$first" \
    $((first + jobs))
  down
}

# From sbatch's start to the first line of the script, on real slurmds that have nothing else to do. latency
latency() {
  local k i s bin sbin profile
  printf '%-52s %11s %11s %10s\n' "submit to exec (ms, median)" muster debian m/d
  for profile in fast default; do
    for k in $(kinds); do
      bin=/usr/bin sbin=/usr/sbin; [ $k = muster ] && bin=$prefix/bin sbin=$prefix/sbin
      if [ $profile = fast ]; then unset PARAMETERS; else PARAMETERS=; fi
      MAXJOBS=50000 cluster $k "$bin" "$sbin" 2 8 "$(port_of $k)"
    done
    unset PARAMETERS; sleep 3; rm -f "$work"/exec.*
    for i in $(seq -4 "${RUNS:-31}"); do for k in $(kinds); do
      rm -f "$work/began"; s=$(now); of $k sbatch -o "$work/began" --wrap='date +%s%N' >/dev/null
      until [ -s "$work/began" ]; do sleep 0.01; done
      [ "$i" -lt 1 ] || echo "$((($(cat "$work/began") - s) / 1000)) 0" >> "$work/exec.$k"
    done; done
    for k in muster debian; do
      awk '{print $1/1000}' "$work/exec.$k" 2>/dev/null | sort -n > "$work/sorted.$k" || true
    done
    awk -v p=$profile -v m="$(med < "$work/sorted.muster")" -v d="$(med < "$work/sorted.debian")" \
      'BEGIN{printf "%-52s %11.1f %11.1f %10.2f\n",
        p == "fast" ? "no batch_sched_delay" : "defaults of SchedulerParameters", m, d, d ? m/d : 0}'
    down
  done
}
