#!/usr/bin/env bash
# Heterogeneous steps of ordinary jobs: one step of several programs, each with its own layout and nodes, in every
# command.
. "$(dirname "$0")/lib.bash"
start_cluster 3 4 "PrologFlags=Contain"
cat > in.sh <<'S'
#!/bin/bash
#SBATCH -J plain -N 3 -n 12 -o out.txt -e err.txt
srun -l -N1 -n3 sh -c 'echo a $SLURM_PROCID/$SLURM_NTASKS $SLURMD_NODENAME $SLURM_NODEID $SLURM_LOCALID' \
  : -N2 -n3 sh -c 'echo b $SLURM_PROCID/$SLURM_NPROCS $SLURMD_NODENAME $SLURM_NODEID $SLURM_LOCALID' | sort > ranks.txt
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
check "ranks continue over the components" \
  "0: a 0/6 n1 0 0|1: a 1/6 n1 0 1|2: a 2/6 n1 0 2|3: b 3/6 n2 1 0|4: b 4/6 n2 1 1|5: b 5/6 n3 2 0|" \
  "$(tr '\n' '|' < ranks.txt)"
for v in 'SLURM_JOB_CPUS_PER_NODE=4(x3)' SLURM_DISTRIBUTION=block SLURM_STEP_ID=1 SLURM_STEPID=1 \
  SLURM_NTASKS=3 SLURM_STEP_NUM_TASKS=3 SLURM_STEP_NUM_NODES=2 SLURM_NNODES=2 'SLURM_STEP_NODELIST=n[1-2]' \
  'SLURM_JOB_NODELIST=n[1-2]' 'SLURM_STEP_TASKS_PER_NODE=2,1' SLURM_JOB_NUM_NODES=2 "SLURM_JOB_ID=$id"
do
  check "both components have $v" "env.0 env.1" "$(grep -lxF "$v" env.0 env.1 | xargs)"
done
check "SLURM_GTIDS of each component" "SLURM_GTIDS=0,1 SLURM_GTIDS=2" "$(grep -hE 'GTIDS' env.0 env.1 | xargs)"
check "SLURM_NODEID of the second component" "SLURM_NODEID=1" "$(grep NODEID env.1)"
check "no variable of a heterogeneous job is set" "" "$(grep -h _HET_ env.0 env.1 || true)"
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
by_number() { awk '{k=$0; sub(/[: ].*/,"",k); print k "\t" $0}' "$1" | sort -s -k1,1n -k2 | cut -f2-; }
check "refused requests and their messages" "" "$(diff <(by_number told.txt) <(by_number expected.txt))"
check "--pty: the first component has the terminal, and the other has none" "tty not a tty" \
  "$(timeout --foreground 20 script -qec "srun --jobid=$id -N1 -n1 --pty tty : -N1 -n1 tty" /dev/null \
    </dev/null 2>/dev/null | tr -d '\000\r' | grep -v '^srun: ' | sed 's,^/dev/pts/.*,tty,' | sort -r | xargs)"
check "an output file for both components" "a b" "$(sort "o.$id."* | xargs)"
check "an output file for each component" "a ea / b b" "$(sort oA | xargs) / $(xargs < oB)"
check "an output file for each task" "p.S.0.0 p.S.1.1 p.S.2.2" "$(ls p.* | sed 's/^p\.[0-9]*/p.S/' | xargs)"
match "-K ends the other component" "n2: task 0: Exited with exit code 5" "$(cat err.txt)"
match "the cancelled component is named" "STEP $id\.[0-9]+\+0 ON n1 CANCELLED" "$(cat err.txt)"
match "-K: the exit code of srun" "kill rc 143" "$(cat out.txt)"
# Commands for a running step.
cat > live.sh <<'S'
trap "touch usr1.$SLURM_PROCID" USR1
touch "up.$SLURM_PROCID"
while :; do sleep 0.1; done
S
srun --jobid="$id" -J foo -t 5 -N1 -n2 sh live.sh : -J bar -N2 -n2 sh live.sh >live.txt 2>&1 & live=$!
soon '[ "$(ls up.* 2>/dev/null | wc -l)" = 4 ]'
s=$(squeue -h -s -j "$id" -n foo,bar -o %i | grep '+0')
s=${s%+0}
check "squeue -s" "$s+0 foo n1|$s+1 bar n[2-3]|" "$(squeue -h -s -s "$s" -o '%i %j %N' | tr '\n' '|')"
check "squeue -s of one component" "$s+1" "$(squeue -h -s -s "$s+1" -o %i)"
match "scontrol show step" \
  "StepId=$s\+0 .*NodeList=n1 .*Tasks=2 Name=foo.*StepId=$s\+1 .*NodeList=n\[2-3\].*Tasks=2 Name=bar" \
  "$(scontrol show step "$s" | tr '\n' ' ')"
check "scontrol show step of one component" "StepId=$s+1" "$(scontrol -o show step "$s+1" | cut -d' ' -f1)"
check "the time limits of both components" "TimeLimit=00:05:00 TimeLimit=00:05:00" \
  "$(scontrol -o show step "$s" | grep -o 'TimeLimit=[^ ]*' | xargs)"
scontrol update stepid="$s+1" timelimit=8
check "another time limit for one component" "TimeLimit=00:05:00 TimeLimit=00:08:00" \
  "$(scontrol -o show step "$s" | grep -o 'TimeLimit=[^ ]*' | xargs)"
scontrol update stepid="$s" timelimit=9
check "another time limit for both components" "TimeLimit=00:09:00 TimeLimit=00:09:00" \
  "$(scontrol -o show step "$s" | grep -o 'TimeLimit=[^ ]*' | xargs)"
check "sstat" "$s+0|2 $s+1|2" "$(sstat -n -P -j "$s" -o jobid,ntasks | xargs)"
check "sstat of one component" "$s+1|2" "$(sstat -n -P -j "$s+1" -o jobid,ntasks | xargs)"
match "scontrol listpids of one node" "$id +[0-9]+\+1 +0 +2" "$(scontrol listpids "$s" n2)"
match "scontrol --json show step" "\"id\": ?\"$s\+1\"" "$(scontrol --json show step "$s" | tr -d '\n')"
match "sattach --layout" "4 tasks, 3 nodes \(n\[1-3\]\)" "$(sattach --layout "$s")"
match "sattach --layout lists the nodes" "Node 2 \(n3\), [12] task\(s\): [0-9 ]+" "$(sattach --layout "$s" | tail -1)"
match "sattach --layout of one component" "2 tasks, 2 nodes \(n\[2-3\]\)" "$(sattach --layout "$s+1")"
check "sacct of the running step" "$s+0|foo|RUNNING|n1 $s+1|bar|RUNNING|n[2-3]" \
  "$(sacct -n -P -j "$s" -o jobid,jobname,state,nodelist | xargs)"
scancel -s USR1 "$s+1"
becomes "a signal for one component" "usr1.2 usr1.3" '"$(ls usr1.* 2>/dev/null | xargs)"'
rm -f usr1.*
kill -9 "$(pid_of slurmd-n2)"; killed slurmctld; start_node n2; start_ctld
becomes "both components run on over kills of slurmd and slurmctld" "$s+0 $s+1" \
  '"$(squeue -h -s -s "$s" -o %i 2>/dev/null | xargs)"'
scancel -s USR1 "$s"
becomes "a signal for both components" "usr1.0 usr1.1 usr1.2 usr1.3" '"$(ls usr1.* 2>/dev/null | xargs)"'
scancel "$s+1"
becomes "scancel of one component" "$s+0" '"$(squeue -h -s -s "$s" -o %i | xargs)"'
scancel "$s"; wait $live || true
becomes "scancel of the step ends all components" "" '"$(squeue -h -s -s "$s" -o %i)"'
becomes "sacct of the cancelled step" "$s+0|CANCELLED by $(id -u) $s+1|CANCELLED by $(id -u)" \
  '"$(sacct -n -P -j "$s" -o jobid,state | xargs)"'
check "sacct of one component" "$s+1" "$(sacct -n -P -j "$s+1" -o jobid)"
check "sacct lists components in order" "$id.0+0 $id.0+1 $id.1+0 $id.1+1 $id.2+0" \
  "$(sacct -n -P -j "$id" -o jobid | grep '+' | head -5 | xargs)"
printf 'touch int.0; exec sleep 100\n' > int0.sh
printf 'touch int.1; exec sleep 100\n' > int1.sh
srun --jobid="$id" -N1 -n1 sh int0.sh : -N1 -n1 sh int1.sh > int.txt 2>&1 & int=$!
soon '[ -e int.0 ] && [ -e int.1 ]'
kill -TERM $int; rc=0; wait $int || rc=$?
check "SIGTERM to srun ends both components" "n1: task 0: Killed n2: task 0: Killed 137" \
  "$(grep -o 'n[12]: task 0: Killed' int.txt | sort | xargs) $rc"
# Busy nodes.
srun --jobid="$id" -N1 -n4 -w n1 sleep 3 & busy=$!
soon 'squeue -h -s -j "$id" -o %j | grep -q sleep'
match "a step with one busy component is pending as a whole" \
  "temporarily disabled, retrying \(Requested nodes are busy\)" \
  "$(srun --jobid="$id" -N1 -w n2 -n1 true : -w n1 -n1 true 2>&1)"
wait $busy
srun --jobid="$id" -N1 -n4 -w n1 sleep 3 & busy=$!
soon 'squeue -h -s -j "$id" -o %j | grep -q sleep'
check "--overlap runs on busy nodes" "n1 n2" "$(srun -Q --jobid="$id" --overlap \
    -N1 -w n2 -n1 printenv SLURMD_NODENAME : --overlap -w n1 -n1 printenv SLURMD_NODENAME 2>&1 | sort | xargs)"
wait $busy
if command -v gcc >/dev/null; then
  gcc -O1 -o client "${0%/*}/pmi_client.c" 2>/dev/null || gcc -O1 -o client "$OLDPWD/${0%/*}/pmi_client.c"
  check "the components are one MPI world" "ok 0 4|ok 1 4|ok 2 4|ok 3 4|" \
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
match "a step of more components than a heterogeneous job has is refused" \
  "Attempt to run a job step with het group value of 2, but the job allocation has maximum value of 1" "$(cat het.txt)"
# The step manager on the job's first node.
cat > away.sh <<'S'
#!/bin/bash
#SBATCH --stepmgr -N3 -n6
srun -n1 touch started; until [ -e away ]; do sleep 0.1; done
srun -l -n1 sh -c 'echo $SLURM_STEP_ID $SLURMD_NODENAME' : -n2 -N2 sh -c 'echo $SLURM_STEP_ID $SLURMD_NODENAME' | sort
touch done; until [ -e back ]; do sleep 0.1; done
S
away=$(sbatch --parsable -o away.out -e away.err away.sh)
soon '[ -e started ]'
killed slurmctld; touch away; soon '[ -e done ]'
check "a step starts without slurmctld" "0: 1 n1|1: 1 n2|2: 1 n3|" "$(tr '\n' '|' < away.out)"
start_ctld; touch back; wait_empty 30
check "the step is in accounting when slurmctld is back" "$away.1+0 $away.1+1" \
  "$(sacct -n -P -j "$away" -o jobid | grep + | xargs)"
