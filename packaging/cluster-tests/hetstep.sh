#!/usr/bin/env bash
# Heterogeneous steps of ordinary jobs: programs with layouts of their own on nodes of their own, as one step, in
# every command.
. "$(dirname "$0")/lib.bash"
start_cluster 3 4 "PrologFlags=Contain"
cat > in.sh <<'S'
#!/bin/bash
#SBATCH -J plain -N 3 -n 12 -o out.txt -e err.txt
srun -l -N1 -n3 sh -c 'echo a $SLURM_PROCID/$SLURM_NTASKS $SLURMD_NODENAME $SLURM_NODEID $SLURM_LOCALID' : -N2 -n3 sh -c 'echo b $SLURM_PROCID/$SLURM_NPROCS $SLURMD_NODENAME $SLURM_NODEID $SLURM_LOCALID' | sort > ranks.txt
srun -N1 -n2 sh -c '[ $SLURM_LOCALID = 1 ] || env > env.0' : -N1 -n1 sh -c 'env > env.1'
t() { srun "$@" 2>&1 | sed "s/^/$n: /"; echo "$n rc ${PIPESTATUS[0]}"; n=$((n+1)); }
n=0
{ t -w n1 -n1 true : -w n1 -n1 true
  t -n1 true : -n1 true : -n1 true : -n1 true
  t -N1 -n1 true : -N3 -n3 true
  t -w n2 -n1 sh -c 'echo $SLURMD_NODENAME' : -w n1 -n1 true
  t -n1 sh -c 'exit 3' : -n1 sh -c 'exit 5'
  t --het-group=0 -n1 true
  t --het-group=1 -n1 true
  t -n1 true : --het-group=0 -n1 true
  t -l --het-group=1 -n1 echo one : --het-group=0 -n1 echo zero
  t -l --het-group=0-1 -N1 -n1 echo both
  t -n2 : -n1 true
  t -n1 true : -n1 --multi-prog <(echo '0 true')
  t -n1 nosuch : -n1 true; } | sed -E 's/: \[[0-9T:.-]+\] /: [TIME] /' > told.txt
srun -o 'o.%j.%s' -n1 echo a : -n1 echo b
srun -o oA -n1 sh -c 'echo a; echo ea >&2' : -o oB -n2 -N2 echo b
srun --input=none -o 'p.%s.%t.%n' -n1 echo a : -n2 -N2 echo b
srun -K -n1 sleep 60 : -n1 sh -c 'sleep 0.5; exit 5'; echo "kill rc $?"
touch before; until [ -e go ]; do sleep 0.1; done
S
id=$(sbatch --parsable in.sh)
soon '[ -e before ]'
check "ranks go on" "0: a 0/6 n1 0 0|1: a 1/6 n1 0 1|2: a 2/6 n1 0 2|3: b 3/6 n2 1 0|4: b 4/6 n2 1 1|5: b 5/6 n3 2 0|" \
  "$(tr '\n' '|' < ranks.txt)"
for v in 'SLURM_JOB_CPUS_PER_NODE=4(x3)' SLURM_DISTRIBUTION=block SLURM_STEP_ID=1 SLURM_STEPID=1 \
  SLURM_NTASKS=3 SLURM_STEP_NUM_TASKS=3 SLURM_STEP_NUM_NODES=2 SLURM_NNODES=2 'SLURM_STEP_NODELIST=n[1-2]' \
  'SLURM_JOB_NODELIST=n[1-2]' 'SLURM_STEP_TASKS_PER_NODE=2,1' SLURM_JOB_NUM_NODES=2 "SLURM_JOB_ID=$id"
do
  check "both are told $v" "env.0 env.1" "$(grep -lxF "$v" env.0 env.1 | xargs)"
done
check "ranks" "SLURM_GTIDS=0,1 SLURM_GTIDS=2 SLURM_NODEID=1" \
  "$(grep -hE 'GTIDS' env.0 env.1 | xargs) $(grep NODEID env.1)"
check "no groups" "" "$(grep -h _HET_ env.0 env.1 || true)"
cat > expected.txt <<'X'
0: srun: error: Requested nodelist n1 overlaps with excluded n1.
0: srun: error: Job not submitted.
0 rc 1
1: srun: error: Allocation failure of 1 nodes: job size of 3, already allocated 3 nodes to previous components.
1 rc 1
2: srun: error: Allocation failure of 3 nodes: job size of 3, already allocated 1 nodes to previous components.
2 rc 1
3: n2
3 rc 0
4: srun: error: n1: task 0: Exited with exit code 3
4: srun: error: n2: task 0: Exited with exit code 5
4 rc 5
5: srun: error: No directives to start application on any available hetjob components
5 rc 1
6: srun: error: Requested het-group offset exceeds highest hetjob index (1 > 0)
6 rc 1
7: srun: fatal: Duplicate het groups in single srun not supported
7 rc 1
8: 0: zero
8: 1: one
8 rc 0
9: 0: both
9: 1: both
9 rc 0
10 rc 0
11: srun: fatal: --multi-prog option not supported with multiple het groups
11 rc 1
12: [TIME] error: execve(): nosuch: No such file or directory
12: srun: error: n1: task 0: Exited with exit code 2
12 rc 2
X
check "what is refused, and in which words" "" \
  "$(diff <(awk '{k=$0; sub(/[: ].*/,"",k); print k "\t" $0}' told.txt | sort -s -k1,1n -k2 \
    | cut -f2-) <(awk '{k=$0; sub(/[: ].*/,"",k); print k "\t" $0}' expected.txt | sort -s -k1,1n -k2 | cut -f2-))"
check "the first component has the terminal, the other its output" "tty not a tty" \
  "$(timeout --foreground 20 script -qec "srun --jobid=$id -N1 -n1 --pty tty : -N1 -n1 tty" /dev/null \
    </dev/null 2>/dev/null | tr -d '\000\r' | grep -v '^srun: ' | sed 's,^/dev/pts/.*,tty,' | sort -r | xargs)"
check "one file for both" "a b" "$(sort "o.$id."* | xargs)"
check "a file each" "a ea / b b" "$(sort oA | xargs) / $(xargs < oB)"
check "a file for each task" "p.S.0.0 p.S.1.1 p.S.2.2" "$(ls p.* | sed 's/^p\.[0-9]*/p.S/' | xargs)"
match "-K ends the other component" "n2: task 0: Exited with exit code 5" "$(cat err.txt)"
match "which is named" "STEP $id\.[0-9]+\+0 ON n1 CANCELLED" "$(cat err.txt)"
match "exit code" "kill rc 143" "$(cat out.txt)"
# while it runs
srun --jobid="$id" -J foo -t 5 -N1 -n2 sh -c 'trap "touch usr1.$SLURM_PROCID" USR1; while :; do sleep 0.1; done' \
  : -J bar -N2 -n2 sh -c 'trap "touch usr1.$SLURM_PROCID" USR1; while :; do sleep 0.1; done' >live.txt 2>&1 & live=$!
s=
for i in $(seq 100); do
  s=$(squeue -h -s -j "$id" -n foo,bar -o %i 2>/dev/null | grep '+0' || true)
  [ -n "$s" ] && break
  sleep 0.1
done
s=${s%+0}
sleep 1
check "squeue -s" "$s+0 foo n1|$s+1 bar n[2-3]|" "$(squeue -h -s -s "$s" -o '%i %j %N' | tr '\n' '|')"
check "one component" "$s+1" "$(squeue -h -s -s "$s+1" -o %i)"
match "scontrol show step" \
  "StepId=$s\+0 .*NodeList=n1 .*Tasks=2 Name=foo.*StepId=$s\+1 .*NodeList=n\[2-3\].*Tasks=2 Name=bar" \
  "$(scontrol show step "$s" | tr '\n' ' ')"
check "of a component" "StepId=$s+1" "$(scontrol -o show step "$s+1" | cut -d' ' -f1)"
check "limits of both" "TimeLimit=00:05:00 TimeLimit=00:05:00" \
  "$(scontrol -o show step "$s" | grep -o 'TimeLimit=[^ ]*' | xargs)"
scontrol update stepid="$s+1" timelimit=8
check "another limit for one" "TimeLimit=00:05:00 TimeLimit=00:08:00" \
  "$(scontrol -o show step "$s" | grep -o 'TimeLimit=[^ ]*' | xargs)"
scontrol update stepid="$s" timelimit=9
check "or for both" "TimeLimit=00:09:00 TimeLimit=00:09:00" \
  "$(scontrol -o show step "$s" | grep -o 'TimeLimit=[^ ]*' | xargs)"
check "sstat" "$s+0|2 $s+1|2" "$(sstat -n -P -j "$s" -o jobid,ntasks | xargs)"
check "of one" "$s+1|2" "$(sstat -n -P -j "$s+1" -o jobid,ntasks | xargs)"
match "processes of one node" "$id +[0-9]+\+1 +0 +2" "$(scontrol listpids "$s" n2)"
match "JSON" "\"id\": ?\"$s\+1\"" "$(scontrol --json show step "$s" | tr -d '\n')"
match "layout" "4 tasks, 3 nodes \(n\[1-3\]\)" "$(sattach --layout "$s")"
match "and its nodes" "Node 2 \(n3\), [12] task\(s\): [0-9 ]+" "$(sattach --layout "$s" | tail -1)"
match "of one" "2 tasks, 2 nodes \(n\[2-3\]\)" "$(sattach --layout "$s+1")"
check "sacct while it runs" "$s+0|foo|RUNNING|n1 $s+1|bar|RUNNING|n[2-3]" \
  "$(sacct -n -P -j "$s" -o jobid,jobname,state,nodelist | xargs)"
scancel -s USR1 "$s+1"
becomes "a signal for one component" "usr1.2 usr1.3" '"$(ls usr1.* 2>/dev/null | xargs)"'
rm -f usr1.*
kill -9 "$(pid_of slurmd-n2)"; killed slurmctld; start_node n2; start_ctld
becomes "both daemons come back" "$s+0 $s+1" '"$(squeue -h -s -s "$s" -o %i 2>/dev/null | xargs)"'
scancel -s USR1 "$s"
becomes "a signal for all" "usr1.0 usr1.1 usr1.2 usr1.3" '"$(ls usr1.* 2>/dev/null | xargs)"'
scancel "$s+1"
becomes "one is cancelled" "$s+0" '"$(squeue -h -s -s "$s" -o %i | xargs)"'
scancel "$s"; wait $live || true
becomes "none is left" "" '"$(squeue -h -s -s "$s" -o %i)"'
becomes "sacct" "$s+0|CANCELLED by $(id -u) $s+1|CANCELLED by $(id -u)" \
  '"$(sacct -n -P -j "$s" -o jobid,state | xargs)"'
check "sacct of one" "$s+1" "$(sacct -n -P -j "$s+1" -o jobid)"
check "in the order of numbers" "$id.0+0 $id.0+1 $id.1+0 $id.1+1 $id.2+0" \
  "$(sacct -n -P -j "$id" -o jobid | grep '+' | head -5 | xargs)"
srun --jobid="$id" -N1 -n1 sleep 100 : -N1 -n1 sleep 100 > int.txt 2>&1 & int=$!
soon 'squeue -h -s -j "$id" -o %j | grep -q sleep'; sleep 0.5
kill -TERM $int; rc=0; wait $int || rc=$?
check "TERM ends both" "n1: task 0: Killed n2: task 0: Killed 137" \
  "$(grep -o 'n[12]: task 0: Killed' int.txt | sort | xargs) $rc"
# what is short
srun --jobid="$id" -N1 -n4 -w n1 sleep 3 & busy=$!
soon 'squeue -h -s -j "$id" -o %j | grep -q sleep'
match "waits as a whole" "temporarily disabled, retrying \(Requested nodes are busy\)" \
  "$(srun --jobid="$id" -N1 -w n2 -n1 true : -w n1 -n1 true 2>&1)"
wait $busy
srun --jobid="$id" -N1 -n4 -w n1 sleep 3 & busy=$!
soon 'squeue -h -s -j "$id" -o %j | grep -q sleep'
check "--overlap does not" "n1 n2" "$(srun -Q --jobid="$id" --overlap \
    -N1 -w n2 -n1 printenv SLURMD_NODENAME : --overlap -w n1 -n1 printenv SLURMD_NODENAME 2>&1 | sort | xargs)"
wait $busy
if command -v gcc >/dev/null; then
  gcc -O1 -o client "${0%/*}/pmi_client.c" 2>/dev/null || gcc -O1 -o client "$OLDPWD/${0%/*}/pmi_client.c"
  check "one world of MPI" "ok 0 4|ok 1 4|ok 2 4|ok 3 4|" \
    "$(timeout 60 srun -Q --jobid="$id" --mpi=pmi2 -N1 -n2 ./client 2 3 : -N2 -n2 ./client 2 3 2>&1 \
      | sort | tr '\n' '|')"
fi
cp /bin/echo prog
check "--bcast" "0: a|1: b|" \
  "$(srun -Q --jobid="$id" -l -n1 --bcast="$dir/work/one" ./prog a : -n1 --bcast="$dir/work/two" ./prog b 2>&1 \
    | sort | tr '\n' '|')"
touch go; wait_empty 20
het=$(sbatch --parsable -n1 -o het.txt : -n1 -o /dev/null --wrap 'srun -n1 echo a : -n1 echo b : -n1 echo c')
wait_empty 20
match "not within a heterogeneous job" \
  "Attempt to run a job step with het group value of 2, but the job allocation has maximum value of 1" "$(cat het.txt)"
# the first node's own step manager
cat > away.sh <<'S'
#!/bin/bash
#SBATCH --stepmgr -N3 -n6
srun -n1 touch started; until [ -e away ]; do sleep 0.1; done
srun -l -n1 sh -c 'echo $SLURM_STEP_ID $SLURMD_NODENAME' : -n2 -N2 sh -c 'echo $SLURM_STEP_ID $SLURMD_NODENAME' | sort
touch done; until [ -e back ]; do sleep 0.1; done
S
away=$(sbatch --parsable -o away.out -e away.err away.sh)
soon '[ -e started ]'
kill -9 "$(pid_of slurmctld)"; sleep 0.5; touch away; soon '[ -e done ]'
check "while slurmctld is away" "0: 1 n1|1: 1 n2|2: 1 n3|" "$(tr '\n' '|' < away.out)"
start_ctld; touch back; wait_empty 30
check "which hears of it" "$away.1+0 $away.1+1" "$(sacct -n -P -j "$away" -o jobid | grep + | xargs)"
