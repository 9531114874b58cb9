#!/usr/bin/env bash
# Prolog and Epilog on nodes: their paths, their environment, their failures, PrologFlags; HealthCheckProgram.
# shows: Epilog, EpilogTimeout, HealthCheckInterval, HealthCheckNodeState, HealthCheckProgram
# shows: HealthCheckTimeout, Prolog, PrologFlags, TaskProlog
. "$(dirname "$0")/lib.bash"
mkdir -p "$dir/prolog.d" "$dir/out"; chmod 777 "$dir/out"
printf '#!/bin/bash\necho "a $SLURM_SCRIPT_CONTEXT" >> %s\n' "$dir/out/order" > "$dir/prolog.d/a.sh"
cat > "$dir/prolog.d/b.sh" <<S
#!/bin/bash
echo "b \$SLURM_SCRIPT_CONTEXT" >> $dir/out/order
env | sort > $dir/out/prolog.env
[ -e $dir/out/fail ] && exit 3
[ -e $dir/out/slow ] && sleep 2
exit 0
S
cat > "$dir/epilog.sh" <<S
#!/bin/bash
env | sort > $dir/out/epilog.env
cat /proc/self/cgroup > $dir/out/epilog.groups
[ -e $dir/out/efail ] && exit 4
[ -e $dir/out/eslow ] && sleep 30
exit 0
S
printf '#!/bin/bash\ndate +%%s.%%N >> %s/health\n' "$dir/out" > "$dir/health.sh"
cat > "$dir/taskprolog.sh" <<S
#!/bin/bash
echo export SHOWN=yes; echo unset HIDDEN; echo print from the prolog; echo unheard >&2
echo "\$SLURM_SCRIPT_CONTEXT" >> $dir/out/task
S
printf '#!/bin/sh\necho told >&2; exit 3\n' > "$dir/te.sh"
cat > "$dir/sp.sh" <<S
#!/bin/sh
[ \$# = 3 ] || exit 2
sleep 0.5
echo "\$SLURM_SCRIPT_CONTEXT \$SLURM_STEP_ID \$SLURM_NTASKS" > $dir/out/srun.prolog
exit \${RC:-0}
S
chmod 755 "$dir"/*.sh "$dir"/prolog.d/*.sh
start_cluster 2 2 "Prolog=$dir/prolog.d/*
Epilog=$dir/epilog.sh
EpilogTimeout=2
TaskProlog=$dir/taskprolog.sh
HealthCheckProgram=$dir/health.sh
HealthCheckInterval=1
HealthCheckNodeState=IDLE"
again() {
  sed -i "/^PrologFlags/d" "$SLURM_CONF"
  echo "PrologFlags=$1" >> "$SLURM_CONF"
  reread
  soon '[ "$(sinfo -h -t idle -o %D)" = 2 ]'
}
var() { sed -n "s/^$2=//p" "$dir/out/$1.env"; }

check "Prolog with a pattern: the files run in the reverse order of names" "b prolog_slurmd|a prolog_slurmd|" \
  "$(: > "$dir/out/order"; srun -Q -w n1 true >/dev/null; tr '\n' '|' < "$dir/out/order")"
check "no prolog runs before the first task" "" "$(: > "$dir/out/order"; salloc -Q -w n1 true; cat "$dir/out/order")"
check "TaskProlog" "from the prolog|yes unset" \
  "$(HIDDEN=1 srun -Q -w n1 sh -c 'echo $SHOWN ${HIDDEN-unset}' | tr '\n' '|' | sed 's/|$//')"
check "the errors of TaskProlog are not printed" "" "$(srun -Q -w n1 true 2>&1 >/dev/null)"
check "TaskProlog's context" prolog_task "$(tail -1 "$dir/out/task")"
check "the errors of --task-epilog are printed" "told|error: TaskEpilog failed status=3" \
  "$(srun -Q -w n1 --task-epilog="$dir/te.sh" true 2>&1 >/dev/null | sed 's/^\[[^]]*\] //' | paste -sd '|')"
check "tasks begin when srun's prolog has ended" "prolog_srun 0 2" \
  "$(srun -Q -n2 --prolog="$dir/sp.sh" sh -c "cat $dir/out/srun.prolog" | grep srun | sort -u)"
rm "$dir/out/srun.prolog"
match "a failed srun prolog aborts the step" \
  "srun: error: srun prolog failed rc = 3. Aborting step.[|]srun: Job step aborted: " \
  "$(RC=3 srun -n1 --prolog="$dir/sp.sh" sh -c "touch $dir/out/began" 2>&1 | paste -sd '|')"
check "a failed srun prolog starts no task" none "$([ -e "$dir/out/began" ] && echo began || echo none)"
id=$(sbatch --parsable -w n1 -J named --comment=why -t 5 -o /dev/null --wrap 'exit 9'); wait_empty
check "the prolog's job id and name" "$id named" "$(var prolog SLURM_JOB_ID) $(var prolog SLURM_JOB_NAME)"
check "the prolog's comment and partition" "why main" \
  "$(var prolog SLURM_JOB_COMMENT) $(var prolog SLURM_JOB_PARTITION)"
check "the prolog's nodes" "n1 n1" "$(var prolog SLURM_JOB_NODELIST) $(var prolog SLURMD_NODENAME)"
check "the prolog has no exit code" "" "$(var prolog SLURM_JOB_EXIT_CODE)"
check "the epilog's context and exit codes" "epilog_slurmd 2304 9:0" \
  "$(var epilog SLURM_SCRIPT_CONTEXT) $(var epilog SLURM_JOB_EXIT_CODE) $(var epilog SLURM_JOB_EXIT_CODE2)"

touch "$dir/out/fail"
id=$(sbatch --parsable -w n1 -o /dev/null --wrap true)
becomes "a failing prolog holds the job" "PENDING launch failed requeued held" '$(squeue -h -j "$id" -o "%T %r")'
check "a failing prolog drains the node" "Prolog error" \
  "$(scontrol show node n1 | sed -n 's/.*Reason=\(.*\) \[.*/\1/p')"
rm "$dir/out/fail"; scontrol update nodename=n1 state=resume; scontrol release "$id"; wait_empty
check "a released job runs" COMPLETED "$(sacct -X -n -P -o State -j "$id")"
touch "$dir/out/fail"
check "srun prints the failure of the prolog" \
  "srun: error: Task launch for StepId=S failed on node n1: Job prolog failed
srun: error: Application launch failed: Job prolog failed
srun: Job step aborted
182" "$(timeout 60 srun -w n1 true 2>&1 | sed 's/StepId=[0-9.]*/StepId=S/'; echo "${PIPESTATUS[0]}")"
rm "$dir/out/fail"; scontrol update nodename=n1 state=resume
touch "$dir/out/fail"; again ForceRequeueOnFail,Alloc
id=$(sbatch --parsable --no-requeue -w n1 -o /dev/null --wrap true)
becomes "ForceRequeueOnFail" "PENDING launch failed requeued held" '"$(squeue -h -j "$id" -o "%T %r")"'
scancel "$id"
rm "$dir/out/fail"; scontrol update nodename=n1 state=resume
touch "$dir/out/efail"
srun -Q -w n2 true >/dev/null
soon '[ -n "$(sinfo -h -n n2 -t drain -o %n)" ]'
rm "$dir/out/efail"
check "a failing epilog drains the node" "Epilog error" \
  "$(scontrol show node n2 | sed -n 's/.*Reason=\(.*\) \[.*/\1/p')"
scontrol update nodename=n2 state=resume
touch "$dir/out/eslow"
srun -Q -w n2 true >/dev/null
soon '[ -n "$(sinfo -h -n n2 -t drain -o %n)" ]'
rm "$dir/out/eslow"
check "EpilogTimeout drains the node" "Epilog error" "$(scontrol show node n2 | sed -n 's/.*Reason=\(.*\) \[.*/\1/p')"
scontrol update nodename=n2 state=resume

touch "$dir/out/slow"; again Alloc
check "Alloc: salloc waits for the prolog" yes \
  "$(s=$(date +%s%N); salloc -Q -w n1 true; [ $((($(date +%s%N) - s) / 1000000)) -ge 1900 ] && echo yes)"
again Alloc,NoHold
check "NoHold: salloc does not wait for the prolog" yes \
  "$(s=$(date +%s%N); salloc -Q -w n1 true; [ $((($(date +%s%N) - s) / 1000000)) -lt 1500 ] && echo yes)"
wait_empty; soon '! pgrep -f "$dir/prolog.d/b.sh" >/dev/null'; again Alloc,Serial
s=$(date +%s%N)
srun -Q -w n1 -n1 --mem=10 true >/dev/null & srun -Q -w n1 -n1 --mem=10 true >/dev/null
wait $!
check "Serial: one after the other" yes "$([ $((($(date +%s%N) - s) / 1000000)) -ge 3900 ] && echo yes)"
rm "$dir/out/slow"
if [ "$(id -u)" = 0 ] && [ -e /sys/fs/cgroup/unified/cgroup.procs -o -e /sys/fs/cgroup/cgroup.procs ]; then
  sed -i 's|^ProctrackType=.*|ProctrackType=proctrack/cgroup|' "$SLURM_CONF"; again RunInJob
  id=$(srun -Q -w n1 sh -c 'echo $SLURM_JOB_ID' | tail -1); soon 'grep -q step_extern "$dir/out/epilog.groups"'
  match "RunInJob: the epilog runs in the extern step" "job_$id/step_extern" "$(cat "$dir/out/epilog.groups")"
fi
wait_empty; : > "$dir/out/health"
sleep 3.2    # 3.2 s: three times HealthCheckInterval
match "HealthCheckProgram on both nodes each second" '^([5-8])$' "$(wc -l < "$dir/out/health")"
printf '#!/bin/bash\nsleep 30\n' > "$dir/health.sh"
sed -i '/^HealthCheckTimeout/d' "$SLURM_CONF"
echo HealthCheckTimeout=1 >> "$SLURM_CONF"
reread
soon 'grep -q "health_check failed" "$dir"/log/slurmd-n1.log'
match "HealthCheckTimeout ends the program" 'health_check failed' \
  "$(grep -a health_check "$dir"/log/slurmd-n1.log | tail -1)"
becomes "scontrol shows HealthCheckTimeout" "HealthCheckTimeout = 1 sec" \
  '"$(scontrol show config | grep HealthCheckTimeout | tr -s " ")"'
sed -e "s|^StateSaveLocation=.*|StateSaveLocation=$dir/other|" -e "s|^SlurmctldPort=.*|SlurmctldPort=$((port + 15))|" \
  -e "s|^SlurmctldPidFile=.*|SlurmctldPidFile=$dir/run/other.pid|" "$SLURM_CONF" > "$dir/wrong.conf"
echo "PrologSlurmctld=$dir/none" >> "$dir/wrong.conf"
match "slurmctld does not start without PrologSlurmctld" "PrologSlurmctld=$dir/none cannot be executed" \
  "$(timeout 20 slurmctld -D -f "$dir/wrong.conf" 2>&1 </dev/null | grep fatal | head -1 || true)"
