#!/usr/bin/env bash
# Three slurmctld without a shared file system: each on a host name, an address and a StateSaveLocation of its own.
# The leader is killed under load, stopped and cut off; what was acknowledged stays, and running jobs go on.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
unshare -um true 2>/dev/null || { echo "skipped: no namespaces"; exit 0; }

# A controller sees its own state and run directories, and its own host name.
start_controller() { # NUMBER
  mkdir -p "$dir/c$1/state" "$dir/c$1/ctl"
  unshare -um bash -c "hostname c$1; mount --bind $dir/c$1/state $dir/state; mount --bind $dir/c$1/ctl $dir/ctl
    exec slurmctld -f $SLURM_CONF" </dev/null >>"$dir/log/start.out" 2>&1
}
controller_pid() { cat "$dir/c$1/ctl/slurmctld.pid" 2>/dev/null; }
leads() { grep -E 'leads in term|not lead any more|stopped|started on cluster' "$dir/c$1/ctl/slurmctld.log" | tail -1 |
  grep -q 'leads in term' && kill -0 "$(controller_pid "$1")" 2>/dev/null; }
leader() { local i; for i in 1 2 3; do ! leads "$i" || echo "$i"; done; }

nodes=2 cpus=64
host=$(hostname -s) me=$(id -un)
mkdir -p "$dir"/{run,log,state,ctl,spool,work}
head -c 64 /dev/urandom > "$dir/slurm.key"; chmod 600 "$dir/slurm.key"
port=$(free_port)
write_conf "SlurmctldParameters=raft_port=$((port + 10))
CommunicationParameters=NoCtldInAddrAny
MessageTimeout=30"
sed -i -e "s/^SlurmctldHost=.*/SlurmctldHost=c1(127.0.1.1)\nSlurmctldHost=c2(127.0.1.2)\nSlurmctldHost=c3(127.0.1.3)/" \
  -e "s|^SlurmctldPidFile=.*|SlurmctldPidFile=$dir/ctl/slurmctld.pid|" \
  -e "s|^SlurmctldLogFile=.*|SlurmctldLogFile=$dir/ctl/slurmctld.log|" "$SLURM_CONF"
for i in 1 2 3; do start_controller "$i"; done
soon '[ -n "$(leader)" ]'
for n in n1 n2; do start_node "$n"; done
soon '[ "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" = 2 ]'
cd "$dir/work"
check "one of three controllers leads" 1 "$(leader | wc -w)"
check "a job" "hello" "$(srun echo hello)"

# sbatch in loops while leaders are killed: each acknowledged job runs once and is known afterwards
cat > once.sh <<'S'
#!/bin/bash
echo "$SLURM_JOB_ID" >> ran
exit 3
S
submit() { while [ ! -e done ]; do sbatch --parsable -o /dev/null once.sh >>"acknowledged.$1" 2>>refused || true; done; }
long=$(sbatch --parsable -o long.out --wrap 'for i in $(seq 200); do echo $i; sleep 0.2; done')
running "$long"
for i in 1 2 3 4; do submit "$i" & done
for round in 1 2 3 4 5; do
  was=$(leader)
  kill -9 "$(controller_pid "$was")"
  soon '[ -n "$(leader)" ] && [ "$(leader)" != "$was" ]'
  start_controller "$was"
  sleep 2 # 2 s: submissions under the new leader
done
: > done; wait
cat acknowledged.* | sort -n > acknowledged
soon '[ "$(squeue -h -t PD,R,CG -n once.sh | wc -l)" = 0 ]' 120
check "no id is given twice" "" "$(uniq -d acknowledged)"
sort -n ran > ran.sorted
check "no job runs twice" "" "$(uniq -d ran.sorted)"
check "every acknowledged job has run" "" "$(comm -23 <(sort acknowledged) <(sort ran) | head -5)"
check "with its exit code" "$(wc -l < acknowledged)" \
  "$(scontrol -o show job | grep -F JobName=once.sh | grep -c 'JobState=FAILED .*ExitCode=3:0')"
echo "     $(wc -l < acknowledged) jobs acknowledged over 5 kills of the leader"
soon '[ -z "$(squeue -h -j "$long")" ]' 60
check "a job that ran all the time is not disturbed" "$(seq 200)" "$(cat long.out)"
