#!/usr/bin/env bash
# Keys about the daemons themselves: their files, their user and their timeouts.
# shows: ClusterName, SlurmctldHost, SlurmctldLogFile, SlurmctldPort, SlurmdLogFile, SlurmdSpoolDir
# shows: SlurmUser, AuthType, SlurmdDebug
# shows: KillWait, SlurmdTimeout, PrologTimeout, PrologEpilogTimeout, TaskEpilog, MailDomain
. "$(dirname "$0")/lib.bash"
conf() {
  sed -i "/^${1%%=*}=/d" "$SLURM_CONF"
  echo "$1" >> "$SLURM_CONF"
  reread
  soon '[ "$(sinfo -h -t idle -o %D)" = 1 ]'
}
printf '#!/bin/bash\necho "$3" > %s\n' "$dir/mailed" > "$dir/mail.sh"; printf '#!/bin/bash\nsleep 20\n' > "$dir/slow.sh"
printf '#!/bin/bash\necho "$SLURM_JOB_ID $SLURM_PROCID" > %s\n' "$dir/work/epilog" > "$dir/taskepilog.sh"
chmod 755 "$dir"/*.sh
start_cluster 1 4 "TaskEpilog=$dir/taskepilog.sh
MailProg=$dir/mail.sh
MailDomain=example.org"
chmod 777 "$dir"
check "ClusterName" test "$(sbatch --parsable --wrap true >/dev/null; srun -Q printenv SLURM_CLUSTER_NAME)"
wait_empty
check "SlurmctldHost" 127.0.0.1 "$(scontrol show config | sed -n 's/^SlurmctldHost\[0\].*(\(.*\))/\1/p')"
check "SlurmctldPort" "$port" \
  "$(sed -n 's/.*registered at 127.0.0.1:\([0-9]*\).*/\1/p' "$dir/log/slurmd-n1.log" | tail -1)"
match "SlurmctldLogFile" "Running as primary controller" "$(cat "$dir/log/slurmctld.log")"
match "SlurmdLogFile" "registered at" "$(cat "$dir/log/slurmd-n1.log")"
check "SlurmdSpoolDir" yes "$([ -n "$(ls "$dir/spool/n1")" ] && echo yes)"
check "SlurmUser" "$(id -un)($(id -u))" "$(scontrol show config | sed -n 's/^SlurmUser *= //p')"
mkdir "$dir/other"; sed 's/^SlurmUser=.*/SlurmUser=nosuchuser/' "$SLURM_CONF" > "$dir/other/slurm.conf"
unknown() {
  SLURM_CONF=$dir/other/slurm.conf timeout 20 "$@" </dev/null 2>&1 \
    | sed 's/^\[[^]]*\] //; s/^'"$1"': //' | xargs -d '\n'
}
for c in squeue sinfo "sbatch --wrap true" \
  "srun true" "scancel 1" sacct "scontrol ping" sdiag sprio "salloc true" "slurmctld -D" "slurmd -D -N n1"
do
  # shellcheck disable=SC2086
  check "an unknown SlurmUser: $c" \
    "error: Invalid user for SlurmUser nosuchuser, ignored fatal: Unable to process configuration file" "$(unknown $c)"
done
match "an unknown SlurmUser: squeue --usage" 'Usage: squeue' "$(unknown squeue --usage)"
check "AuthType=auth/slurm needs the key" yes "$([ -s "$dir/state/slurm.key" ] && echo yes)"
id=$(sbatch --parsable -o /dev/null --mail-type=END --wrap true); soon '[ -s "$dir/mailed" ]'
check "MailDomain" "$(id -un)@example.org" "$(cat "$dir/mailed")"
srun -Q true
check "TaskEpilog" 0 "$(cut -d' ' -f2 "$dir/work/epilog")"
lines=$(grep -c '' "$dir/log/slurmd-n1.log"); conf SlurmdDebug=debug; srun -Q true
match "SlurmdDebug" 'debug' "$(tail -n +"$lines" "$dir/log/slurmd-n1.log")"
conf SlurmctldParameters=reconfig_on_restart
again=$(grep -c ' reconfigure' "$dir/log/slurmd-n1.log")
sed -i 's/^SlurmdDebug=.*/SlurmdDebug=verbose/' "$SLURM_CONF"
stopped slurmctld; start_ctld
soon '[ "$(grep -c " reconfigure" "$dir/log/slurmd-n1.log")" -gt "$again" ]'
sleep 1    # 1 s: a second reconfiguration must not follow
check "reconfig_on_restart: once" $((again + 1)) "$(grep -c ' reconfigure' "$dir/log/slurmd-n1.log")"
soon '[ "$(sinfo -h -t idle -o %D)" = 1 ]'
sed -i '/^SlurmctldParameters/d' "$SLURM_CONF"; reread; soon '[ "$(sinfo -h -t idle -o %D)" = 1 ]'
conf KillWait=3
id=$(sbatch --parsable -o /dev/null --wrap 'trap "" TERM; touch trapped; for i in $(seq 60); do sleep 1; done')
soon '[ -e trapped ]'
scancel "$id"; s=$(date +%s%N); soon '[ -z "$(squeue -h -j "$id")" ]'; ms=$((($(date +%s%N) - s) / 1000000))
check "KillWait" yes "$([ $ms -ge 2500 ] && [ $ms -lt 9000 ] && echo yes || echo $ms)"
conf PrologTimeout=1; conf "Prolog=$dir/slow.sh"; id=$(sbatch --parsable -o /dev/null --wrap true)
soon '[ -n "$(sinfo -h -t drain -o %n)" ]'
check "PrologTimeout" "Prolog error" "$(scontrol show node n1 | sed -n 's/.*Reason=\(.*\) \[.*/\1/p')"
scancel "$id"; sed -i '/^Prolog/d' "$SLURM_CONF"; reread; scontrol update nodename=n1 state=resume; wait_empty
conf PrologEpilogTimeout=1; conf "Epilog=$dir/slow.sh"; srun -Q true
soon '[ -n "$(sinfo -h -t drain -o %n)" ]'
check "PrologEpilogTimeout" "Epilog error" "$(scontrol show node n1 | sed -n 's/.*Reason=\(.*\) \[.*/\1/p')"
sed -i '/^Epilog/d;/^PrologEpilog/d' "$SLURM_CONF"; reread; scontrol update nodename=n1 state=resume
conf SlurmdTimeout=5; kill -STOP "$(pid_of slurmd-n1)"
soon '[ -n "$(sinfo -h -t down -o %n)" ]' 50
check "SlurmdTimeout" "Not responding" "$(scontrol show node n1 | sed -n 's/.*Reason=\(.*\) \[.*/\1/p')"
kill -CONT "$(pid_of slurmd-n1)"
