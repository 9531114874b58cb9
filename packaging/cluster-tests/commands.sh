#!/usr/bin/env bash
# srun through the command service: output, input, signals and end, also when the service or the caller is killed or
# stopped.
. "$(dirname "$0")/lib.bash"
start_cluster 2 4
socket=$prefix/var/run/commands.$(stat -L -c %i /proc/self/ns/net)$([ "$(id -u)" != 0 ] || echo .root)
service() { # its pid
  local p
  p=$(cat "$socket.lock" 2>/dev/null) && kill -0 "$p" 2>/dev/null && echo "$p" || true
}
await_service() { # until it listens: the socket's flags are 00010000
  soon 'squeue >/dev/null 2>&1; [ -n "$(service)" ] && grep -q " 00010000 .* $socket\$" /proc/net/unix'
}
job_is_over() { # the state of the last job, when the queue is empty
  wait_empty
  scontrol show job "$(scontrol show job -o | tail -1 | sed -E 's/JobId=([0-9]+).*/\1/')" \
    | grep -oE 'JobState=[A-Z]+|ExitCode=[0-9:]+' | xargs
}
srun_pid() { # of the shell that runs it
  local p=
  soon 'p=$(pgrep -P '"$1"' -x srun)'
  echo "$p"
}
lines='for i in $(seq 12); do echo line $i of $SLURM_PROCID; sleep 0.25; done; exit 4'
await_service
check "output of two tasks" "a a" "$(srun -n 2 echo a | xargs)"
check "input" "$(seq 50000 | md5sum)" "$(seq 50000 | srun cat | md5sum)"
check "exit code" 3 "$(srun bash -c 'exit 3' 2>/dev/null; echo $?)"
check "files that srun writes" x "$(srun -o out.txt echo x; cat out.txt)"
for how in KILL STOP; do
  rm -f lines.txt
  (set +e; srun -n 2 bash -c "$lines" > lines.txt 2>lines.err; echo $? > rc) &
  soon '[ -s lines.txt ]'
  s=$(service); kill -$how "$s"
  if [ $how = STOP ]; then
    sleep 6.5    # 6.5 s: the launcher takes over from a service that is silent for 5 s
    kill -CONT "$s"
  fi
  wait
  check "every line once over a SIG$how of the service" 24 "$(sort -u lines.txt | wc -l)"
  check "no line twice over a SIG$how of the service" 24 "$(wc -l < lines.txt)"
  check "the exit code over a SIG$how of the service" 4 "$(cat rc)"
  await_service
done
(for i in $(seq 30); do echo "in $i"; sleep 0.1; done) | srun cat > in.txt &
soon '[ -s in.txt ]'
kill -9 "$(service)"; wait
check "input over a kill of the service" "$(for i in $(seq 30); do echo "in $i"; done | md5sum)" "$(md5sum < in.txt)"
await_service
bash -c 'srun sleep 312; true' & b=$!
soon 'pgrep -f "^[a-z/]*sleep 312" >/dev/null'
kill -9 "$(srun_pid $b)"; wait || true; wait_empty 20
check "a killed srun ends its step" "" "$(pgrep -f '^[a-z/]*sleep 312' || true)"
srun -w n1 --exclusive sleep 4 &
soon '[ -n "$(squeue -h -n sleep -t R -o %i)" ]'
bash -c 'srun -w n1 --exclusive true 2>/dev/null; true' & b=$!
soon '[ -n "$(squeue -h -n true -t PD -o %i)" ]'
kill -9 "$(srun_pid $b)"
# The service ends the job at once. The job of a command that ran without the service ends ten seconds after its start.
soon '[ -z "$(squeue -h -n true -o %i)" ]'
check "a killed srun with a pending job leaves no job" "" "$(squeue -h -n true -o %i)"
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
# It waits at slurmctld, which serves one more request.
soon 'grep -q retrying queued.err && [ "$(requests)" -gt "$before" ]'
kill -9 $waits; touch killed; wait $holds; soon '[ -z "$(steps)" ]'
# Another step gets the free CPUs: slurmctld has looked at its pending steps.
srun -Q -n4 --exact true; squeue -h -s -j $SLURM_JOB_ID -o %i | grep batch
C
rm -f killed; sbatch -W queued.sh >/dev/null
check "the pending step of a killed srun does not run" "1 $(grep -o '[0-9]*.batch' queued.out)" \
  "$(grep -c retrying queued.err) $(grep -v Killed queued.out | xargs)$(ls ran 2>/dev/null)"
bash -c 'srun sleep 313; echo rc $?' > int.txt 2>int.err & b=$!
soon 'pgrep -f "^[a-z/]*sleep 313" >/dev/null'
p=$(srun_pid $b)
kill -INT "$p"
soon 'grep -q "one more within 1 sec" int.err'
kill -INT "$p"
wait $b || true
match "the first interrupt prints a hint, the second goes to the tasks" 'one more within 1 sec.*sending Ctrl-C' \
  "$(xargs < int.err)"
check "the second interrupt ends the tasks" "rc 130" "$(cat int.txt)"

check "the second interrupt cancels the job" "JobState=CANCELLED ExitCode=0:0" "$(job_is_over)"
for pause in 0.01 0.05 0.15; do
  rm -f up
  bash -c 'srun --quit-on-interrupt bash -c "trap : INT; touch up; for i in \$(seq 100); do sleep 0.1; done"; true' \
    2>/dev/null & b=$!
  soon '[ -e up ]'
  p=$(srun_pid $b)
  kill -INT "$p"
  sleep $pause    # 0.01 to 0.15 s: the kill meets different moments of the end
  kill -9 "$p" 2>/dev/null || true
  wait $b || true
  match "an interrupted srun that is killed after $pause s leaves no job" "JobState=(CANCELLED|COMPLETED) " \
    "$(job_is_over)"
done
# Without timeout(1), which sends SIGCONT behind the signal: srun prints that as well.
bash -c 'srun --quit-on-interrupt bash -c "trap \"exit 3\" INT
  touch traps
  sleep 60 & wait"; true' 2> quit.err & b=$!
soon '[ -e traps ]'; kill -INT "$(srun_pid $b)"; wait $b || true
comes "srun prints the task's exit code, and not its signal" \
  "^srun: sending .* srun: error: n.: task 0: Exited with exit code 3$" '"$(xargs < quit.err)"'
bash -c 'srun bash -c "trap \"echo got; exit 5\" USR1; echo up; while :; do sleep 0.1; done"; echo rc $?' \
  > usr.txt 2>/dev/null & b=$!
soon 'grep -q up usr.txt'
kill -USR1 "$(srun_pid $b)"
wait $b || true
check "srun passes other signals on" "up got rc 5" "$(xargs < usr.txt)"
srun bash -c 'head -c 20000000 /dev/zero' > big.bin &
bash -c 'srun bash -c "touch writes; yes | head -c 30000000" | (sleep 5; wc -c)' > slow.txt &
soon '[ -e writes ] && [ -s big.bin ]'
s=$(date +%s%N); for _ in 1 2 3 4 5; do squeue >/dev/null; done; e=$(date +%s%N)
match "squeue answers within a second while a reader does not read" '^[0-9]{1,3}$' "$(((e-s)/5000000))"
wait
check "a slow reader gets all output" 30000000 "$(cat slow.txt)"
check "a quick reader gets all output" 20000000 "$(stat -c %s big.bin)"
