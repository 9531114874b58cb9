# Several slurmctld, for tests and measurements after cluster-tests/lib.bash: each has a host name (c1, c2, c3) and an
# address of its own. Three have a StateSaveLocation of their own each; with controllers=2 they share one.
controllers=${controllers:-3}

# A controller sees its own state and run directories, and its own host name.
start_controller() { # NUMBER
  mkdir -p "$dir/c$1/state" "$dir/c$1/ctl"
  unshare -um bash -c "hostname c$1; mount --bind $dir/c$1/ctl $dir/ctl
    [ $controllers = 2 ] || mount --bind $dir/c$1/state $dir/state
    exec slurmctld -f $SLURM_CONF" </dev/null >>"$dir/log/start.out" 2>&1
}
controller_pid() { cat "$dir/c$1/ctl/slurmctld.pid" 2>/dev/null; }
# The number of the controller that leads, as the controllers say; empty while there is none.
leader() { scontrol ping 2>/dev/null | sed -n 's/.* at c\([123]\) is UP (leads in term .*/\1/p' | head -1; }

start_controllers() { # NODES CPUS [more lines of slurm.conf]
  local i n
  nodes=$1 cpus=$2 host=$(hostname -s) me=$(id -un)
  mkdir -p "$dir"/{run,log,state,ctl,spool,work}
  head -c 64 /dev/urandom > "$dir/slurm.key"; chmod 600 "$dir/slurm.key"
  port=$(free_port)
  write_conf "SlurmctldParameters=raft_port=$((port + 10))
CommunicationParameters=NoCtldInAddrAny
${3:-}"
  local hosts
  hosts=$(for i in $(seq "$controllers"); do printf 'SlurmctldHost=c%s(127.0.1.%s)\\n' "$i" "$i"; done)
  sed -i -e "s/^SlurmctldHost=.*/$hosts/" \
    -e "s|^SlurmctldPidFile=.*|SlurmctldPidFile=$dir/ctl/slurmctld.pid|" \
    -e "s|^SlurmctldLogFile=.*|SlurmctldLogFile=$dir/ctl/slurmctld.log|" "$SLURM_CONF"
  for i in $(seq "$controllers"); do start_controller "$i"; done
  soon '[ -n "$(leader)" ]'
  for n in $(seq "$nodes"); do start_node "n$n"; done
  soon '[ "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" = "$nodes" ]'
  cd "$dir/work"
}

# sbatch in three loops and a job that runs all the time, while leaders are killed.
begin_submissions() {
  cat > once.sh <<'J'
#!/bin/bash
echo "$SLURM_JOB_ID" >> ran
exit 3
J
  submit() {
    while [ ! -e done ]; do sbatch --parsable -o /dev/null once.sh >>"acknowledged.$1" 2>>refused || true; done
  }
  long=$(sbatch --parsable -o long.out --wrap 'for i in $(seq 200); do echo $i; sleep 0.2; done')
  running "$long"
  submitters=
  for i in 1 2 3; do submit "$i" & submitters="$submitters $!"; done
}
# Each acknowledged job has run once and is known afterwards.
check_submissions() { # KILLS
  : > done; wait $submitters
  cat acknowledged.* | sort -n > acknowledged
  soon '[ "$(squeue -h -t PD,R,CG -n once.sh | wc -l)" = 0 ]' 120
  check "no id is given twice" "" "$(uniq -d acknowledged)"
  sort -n ran > ran.sorted
  check "no job runs twice" "" "$(uniq -d ran.sorted)"
  check "every acknowledged job has run" "" "$(comm -23 <(sort acknowledged) <(sort ran) | head -5)"
  check "with its exit code" "$(wc -l < acknowledged)" \
    "$(scontrol -o show job | grep -F JobName=once.sh | grep -c 'JobState=FAILED .*ExitCode=3:0')"
  echo "     $(wc -l < acknowledged) jobs acknowledged over $1 kills of the leader"
  soon '[ -z "$(squeue -h -j "$long")" ]' 60
  check "a job that ran all the time is not disturbed" "$(seq 200)" "$(cat long.out)"
}
