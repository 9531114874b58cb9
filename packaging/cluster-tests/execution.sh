#!/usr/bin/env bash
# Programs of slurm.conf that run around jobs, mail, requeues by exit code, CPU binding, options of slurmctld.
# shows: EpilogSlurmctld, MailProg, PrologSlurmctld, RequeueExit, RequeueExitHold, SrunEpilog, SrunProlog
. "$(dirname "$0")/lib.bash"
cat > "$dir/ctldhook" <<H
#!/bin/bash
echo "\$SLURM_SCRIPT_CONTEXT \$SLURM_JOB_NAME \$SLURM_JOB_NODELIST \$SLURM_JOB_RESTART_COUNT" >> $dir/hooks
[ "\$SLURM_SCRIPT_CONTEXT" = prolog_slurmctld ] && [ "\$SLURM_JOB_NAME" = refused ] && exit 3
[ "\$SLURM_JOB_NAME" = slow ] && sleep 2
exit 0
H
cat > "$dir/mail" <<H
#!/bin/bash
echo "\$1|\$2|\$3|\$SLURM_JOB_MAIL_TYPE" >> $dir/mails
H
printf '#!/bin/bash\necho "before $*"\n' > "$dir/before"
printf '#!/bin/bash\necho "after $SLURM_STEP_ID"\n' > "$dir/after"
chmod 755 "$dir"/{ctldhook,mail,before,after}; touch "$dir"/{hooks,mails}; chmod 666 "$dir"/{hooks,mails}
start_cluster 1 2 "PrologSlurmctld=$dir/ctldhook
EpilogSlurmctld=$dir/ctldhook
MailProg=$dir/mail
SrunProlog=$dir/before
SrunEpilog=$dir/after
RequeueExit=5
RequeueExitHold=7"

check "SrunProlog and SrunEpilog" "before echo in|in|after 0" "$(srun -Q echo in | tr '\n' '|' | sed 's/|$//')"
check "--prolog=none" "in|after 0" "$(srun -Q --prolog=none echo in | tr '\n' '|' | sed 's/|$//')"

soon '[ "$(grep -c epilog "$dir/hooks")" = 2 ]'     # the epilogs of the two jobs before
: > "$dir/hooks"
sbatch -J slow -o /dev/null --mail-type=ALL --mail-user=joe --wrap 'exit 3' >/dev/null
becomes "a job waits for PrologSlurmctld" CONFIGURING '"$(squeue -h -n slow -o %T)"'
wait_empty; soon "grep -q Failed $dir/mails && grep -q epilog $dir/hooks"
check "PrologSlurmctld and EpilogSlurmctld" "prolog_slurmctld slow n1 0|epilog_slurmctld slow n1 0|" \
  "$(tr '\n' '|' < "$dir/hooks")"
match "the mail of the job's start" '\-s\|Slurm Job_id=[0-9]+ Name=slow Began, Queued time 00:00:0[0-9]\|joe\|Began' \
  "$(cat "$dir/mails")"
match "the mail of the job's end" \
  '\-s\|Slurm Job_id=[0-9]+ Name=slow Failed, Run time 00:00:0[0-9], FAILED, ExitCode 3\|joe\|Failed' \
  "$(cat "$dir/mails")"
check "no warning about mail" "" "$(sbatch -J quiet -H --mail-type=END --wrap true 2>&1 >/dev/null)"
scancel -n quiet
sbatch -J refused -o /dev/null --wrap true >/dev/null
soon '[ "$(squeue -h -n refused -o %r)" = BeginTime ]'
becomes "a failing PrologSlurmctld requeues" "PENDING BeginTime" '"$(squeue -h -n refused -o "%T %r")"'
scancel -n refused
check "a failing PrologSlurmctld ends a job that cannot be requeued" 1 \
  "$(rc=0; timeout 30 srun -J refused true >/dev/null 2>&1 </dev/null || rc=$?; echo $rc)"

sbatch -J again -o /dev/null --wrap 'exit 5' >/dev/null
soon '[ "$(squeue -h -n again -o %r)" = BeginTime ]'
becomes "RequeueExit requeues with a later begin time" "PENDING BeginTime" '"$(squeue -h -n again -o "%T %r")"'
scancel -n again
sbatch -J special -o /dev/null --wrap 'exit 7' >/dev/null
soon '[ "$(squeue -h -n special -o %T)" = SPECIAL_EXIT ]'
becomes "RequeueExitHold" SPECIAL_EXIT '"$(squeue -h -n special -o %T)"'
scancel -n special
check "task/none sets no SLURM_CPU_BIND" "" \
  "$(srun -Q --prolog=none --epilog=none env | grep '^SLURM_CPU_BIND' || true)"
stop_cluster

# CPU binding and options of slurmctld.
sed -i 's|^TaskPlugin=.*|TaskPlugin=task/affinity|; /^Srun/d; /Slurmctld=/d' "$SLURM_CONF"
(cd / && slurmctld -s -n 7 -R -i -f "$SLURM_CONF" </dev/null >>"$dir/log/start.out" 2>&1); start_node n1
soon '[ "$(sinfo -h -o %T)" = idle ]'
ctld=$(pid_of slurmctld)
check "slurmctld -n" 7 "$(ps -o ni= -p "$ctld" | tr -d ' ')"
check "slurmctld -s" "$dir/log" "$(readlink "/proc/$ctld/cwd")"
match "slurmctld logs that -R has no effect" '-R has no effect: ' "$(cat "$dir/log/slurmctld.log")"
match "slurmctld logs that -i has no effect" '-i has no effect: ' "$(cat "$dir/log/slurmctld.log")"
# Slurm sets the same modes.
for u in 000 002 077; do
  (umask $u; srun -Q -o "own.$u" true; srun -Q -o "each.$u.%t" true)
done
check "the mode of a file that srun opens" "644 644 600" "$(stat -c %a own.000 own.002 own.077 | xargs)"
check "the mode of a file that a node opens" "666 664 600" "$(stat -c %a each.000.0 each.002.0 each.077.0 | xargs)"
check "the output file may be a pipe" hello "$(srun -Q -o /dev/stdout echo hello | cat)"
mask=$(taskset -p $$ | sed 's/.*: //')
if [ "$mask" = 3 ]; then
  check "variables of the CPU binding" "quiet,mask_cpu:0x1 quiet mask_cpu: 0x1" \
    "$(srun -Q -n1 sh -c 'echo $SLURM_CPU_BIND $SLURM_CPU_BIND_VERBOSE $SLURM_CPU_BIND_TYPE $SLURM_CPU_BIND_LIST')"
  check "SLURM_CPU_BIND has the masks of all tasks of the node" "quiet,mask_cpu:0x1,0x2" \
    "$(srun -Q -n2 sh -c 'echo $SLURM_CPU_BIND' | sort -u)"
  match "--cpu-bind=verbose" 'cpu-bind=MASK - n1, task  0  0 \[[0-9]+\]: mask 0x1 set' \
    "$(srun -Q -n1 --cpu-bind=verbose true 2>&1)"
  check "--cpu-bind=mask_cpu" "2 1 " \
    "$(srun -Q -n2 -l --cpu-bind=mask_cpu:0x2,0x1 sh -c 'taskset -p $$' | sort | sed 's/.*: //' | tr '\n' ' ')"
  check "--cpu-bind=none" "quiet,none" "$(srun -Q -n2 --cpu-bind=none sh -c 'echo $SLURM_CPU_BIND' | sort -u)"
  cat > bound.sh <<'S'
echo $SLURM_PROCID $SLURM_CPU_BIND $(taskset -p $$ | sed "s/.*: //")
S
  check "--cpu-bind=rank" "0 verbose,rank 1
1 verbose,rank 2
cpu-bind=RANK - n1, task  0  0 [P]: mask 0x1 set
cpu-bind=RANK - n1, task  1  1 [P]: mask 0x2 set" \
    "$(srun -Q -n2 --cpu-bind=verbose,rank sh bound.sh 2>&1 | sed 's/\[[0-9]*\]/[P]/' | sort)"
  check "--cpu-bind=map_ldom" "quiet,map_ldom:0 3" \
    "$(srun -Q -n2 --cpu-bind=map_ldom:0 sh -c 'echo $SLURM_CPU_BIND $(taskset -p $$ | sed "s/.*: //")' | sort -u)"
  check "--cpu-bind=sockets" "quiet,mask_cpu:0x3,0x3" \
    "$(srun -Q -n2 --cpu-bind=sockets sh -c 'echo $SLURM_CPU_BIND' | sort -u)"
  out=$(rc=0; srun -Q -n1 --cpu-bind=map_cpu:1 true 2>&1 || rc=$?; echo "$rc")
  job=$(printf '%s' "$out" | sed -n 's/.*StepId=\([0-9]*\)\.0.*/\1/p')
  check "a binding to CPUs outside the step is refused" \
    "srun: error: CPU binding outside of job step allocation, allocated CPUs are: 0x1.
srun: error: Task launch for StepId=$job.0 failed on node n1: Unable to satisfy cpu bind request
srun: error: Application launch failed: Unable to satisfy cpu bind request
192" "$out"
  check "a refused binding does not drain the node" idle "$(wait_empty >/dev/null; sinfo -h -o %t)"
  check "--mem-bind=verbose,local" "mem-bind=LOC - $(hostname), task  0  0 [P]: mask 0x1 set|verbose,local|" \
    "$(srun -Q -n1 --mem-bind=verbose,local sh -c 'echo $SLURM_MEM_BIND' 2>&1 \
      | sed 's/\[[0-9]*\]/[P]/' | sort | tr '\n' '|')"
  check "--mem-bind to an unknown NUMA node is refused" 1 \
    "$(rc=0; srun -Q -n1 --mem-bind=map_mem:9 true >/dev/null 2>&1 || rc=$?; echo $rc)"
else echo "skipped: the binding of tasks (needs exactly CPUs 0 and 1)"; fi
