#!/usr/bin/env bash
# srun by way of the command service: its output, input, signals and end, also when the service or the caller is
# killed or stopped.
. "$(dirname "$0")/lib.bash"
start_cluster 2 4
service() {
  local p
  p=$(cat "$prefix/var/run/commands.$(stat -L -c %i /proc/self/ns/net)$([ "$(id -u)" != 0 ] \
    || echo .root).lock" 2>/dev/null) && kill -0 "$p" 2>/dev/null && echo "$p" || true
}
await_service() {
  local n=0
  while ! [ -n "$(service)" ] || ! squeue >/dev/null 2>&1; do
    n=$((n+1))
    [ $n -lt 50 ] || break
    sleep 0.2
  done
  sleep 1.5
}
srun_pid() {
  local n=0 p
  while ! p=$(pgrep -P "$1" -x srun); do
    n=$((n+1))
    [ $n -lt 50 ] || return 0
    sleep 0.05
  done
  echo "$p"
}
lines='for i in $(seq 12); do echo line $i of $SLURM_PROCID; sleep 0.25; done; exit 4'
await_service
check "output of two tasks" "a a" "$(srun -n 2 echo a | xargs)"
check "input" "$(seq 50000 | md5sum)" "$(seq 50000 | srun cat | md5sum)"
check "exit code" 3 "$(srun bash -c 'exit 3' 2>/dev/null; echo $?)"
check "files that srun writes" x "$(srun -o out.txt echo x; cat out.txt)"
for how in KILL STOP; do
  (set +e; srun -n 2 bash -c "$lines" > lines.txt 2>lines.err; echo $? > rc) & sleep 1.2
  s=$(service); kill -$how "$s"; [ $how = KILL ] || { sleep 6.5; kill -CONT "$s"; }
  wait
  check "every line once over a SIG$how of the service" 24 "$(sort -u lines.txt | wc -l)"
  check "and no line twice" 24 "$(wc -l < lines.txt)"
  check "and the exit code" 4 "$(cat rc)"
  await_service
done
(for i in $(seq 30); do echo "in $i"; sleep 0.1; done) | srun cat > in.txt & sleep 1.5; kill -9 "$(service)"; wait
check "input over a kill of the service" "$(for i in $(seq 30); do echo "in $i"; done | md5sum)" "$(md5sum < in.txt)"
await_service
bash -c 'srun sleep 312; true' & sleep 1.5; kill -9 "$(srun_pid $!)"; wait || true; wait_empty 20
check "a killed srun ends its step" "" "$(pgrep -f '^[a-z/]*sleep 312' || true)"
srun -w n1 --exclusive sleep 4 & sleep 0.7
bash -c 'srun -w n1 --exclusive true 2>/dev/null; true' & sleep 1; kill -9 "$(srun_pid $!)"
# at once by the service; a command that was slow to reach it ran by itself, and its job ends ten seconds after its
# start
for _ in $(seq 150); do [ -n "$(squeue -h -n true -o %i)" ] || break; sleep 0.2; done
check "a killed srun that waited leaves no job" "" "$(squeue -h -n true -o %i)"
wait || true
cat > queued.sh <<'C'
#!/bin/bash
#SBATCH -w n1 -n4 -o queued.out
soon() { for _ in $(seq 300); do eval "$1" && return; sleep 0.1; done; echo "in vain: $1"; }
steps() { squeue -h -s -j $SLURM_JOB_ID -o %i | grep -vE 'batch|extern'; }
requests() { sdiag | sed -n 's/^Server thread count: *//p'; }
srun -n4 --exact bash -c 'until [ -e killed ]; do sleep 0.1; done' & holds=$!
soon '[ -n "$(steps)" ]'; before=$(requests)
srun -n4 --exact touch ran 2> queued.err & waits=$!
# it waits at slurmctld: one request more is under way
soon 'grep -q retrying queued.err && [ "$(requests)" -gt "$before" ]'
kill -9 $waits; touch killed; wait $holds; soon '[ -z "$(steps)" ]'
# slurmctld has looked at what waits once the resources were free: another step gets them
srun -Q -n4 --exact true; squeue -h -s -j $SLURM_JOB_ID -o %i | grep batch
C
rm -f killed; sbatch -W queued.sh >/dev/null
check "nor runs what a killed srun waited with" "1 $(grep -o '[0-9]*.batch' queued.out)" \
  "$(grep -c retrying queued.err) $(grep -v Killed queued.out | xargs)$(ls ran 2>/dev/null)"
bash -c 'srun sleep 313; echo rc $?' > int.txt 2>int.err & b=$!
sleep 1.2
p=$(srun_pid $b)
kill -INT "$p"
sleep 0.3
kill -INT "$p"
wait $b || true
match "a first interrupt tells, a second goes to the tasks" 'one more within 1 sec.*sending Ctrl-C' "$(xargs < int.err)"
check "and ends them" "rc 130" "$(cat int.txt)"
by() { until [ -z "$(squeue -h)" ]; do sleep 0.1; done; \
  scontrol show job "$(scontrol show job -o | tail -1 | sed -E 's/JobId=([0-9]+).*/\1/')" \
  | grep -oE 'JobState=[A-Z]+|ExitCode=[0-9:]+' | xargs; }
check "and cancel the job" "JobState=CANCELLED ExitCode=0:0" "$(by)"
for pause in 0.01 0.05 0.15; do
  bash -c 'srun --quit-on-interrupt bash -c "trap : INT; for i in \$(seq 100); do sleep 0.1; done"; true' 2>/dev/null \
    & b=$!
  sleep 1.2
  p=$(srun_pid $b)
  kill -INT "$p"
  sleep $pause
  kill -9 "$p" 2>/dev/null || true
  wait $b || true
  match "an interrupted srun that is killed after $pause s leaves no job" "JobState=(CANCELLED|COMPLETED) " "$(by)"
done
# timeout(1) would send SIGCONT behind the signal, which srun tells
bash -c 'srun --quit-on-interrupt bash -c "trap \"exit 3\" INT; touch traps; sleep 60 & wait"; true' 2> quit.err & b=$!
soon '[ -e traps ]'; kill -INT "$(srun_pid $b)"; wait $b || true
comes "its exit code is told, its signal is not" "^srun: sending .* srun: error: n.: task 0: Exited with exit code 3$" \
  '"$(xargs < quit.err)"'
bash -c 'srun bash -c "trap \"echo got; exit 5\" USR1; echo up; while :; do sleep 0.1; done"; echo rc $?' \
  > usr.txt 2>/dev/null & b=$!
sleep 1.2
kill -USR1 "$(srun_pid $b)"
wait $b || true
check "other signals are passed on" "up got rc 5" "$(xargs < usr.txt)"
srun bash -c 'head -c 20000000 /dev/zero' > big.bin & sleep 0.2
bash -c 'srun bash -c "yes | head -c 30000000" | (sleep 5; wc -c)' > slow.txt & sleep 0.8
s=$(date +%s%N); for _ in 1 2 3 4 5; do squeue >/dev/null; done; e=$(date +%s%N)
match "others are not hindered by a reader that does not read" '^[0-9]{1,3}$' "$(((e-s)/5000000))"
wait
check "a slow reader gets all" 30000000 "$(cat slow.txt)"
check "so does a quick one" 20000000 "$(stat -c %s big.bin)"
