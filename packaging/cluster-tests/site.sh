#!/usr/bin/env bash
# JobSubmitPlugins, the scheduler's log, programs of reservations, listen addresses.
# shows: JobSubmitPlugins, SlurmSchedLogFile, SlurmSchedLogLevel, ResvProlog, ResvEpilog, CommunicationParameters
. "$(dirname "$0")/lib.bash"
listens() { python3 - "$1" <<'P'
import sys
port = '%04X' % int(sys.argv[1])
found = []
for name in ('tcp', 'tcp6'):
    for line in open('/proc/net/' + name).read().split('\n')[1:]:
        w = line.split()
        if w and w[3] == '0A' and w[1].endswith(':' + port):
            a = w[1].split(':')[0]
            found.append('any' if set(a) == {'0'} else '127.0.0.1' if a.endswith('0100007F') else a)
print(' '.join(found))
P
}
for n in prolog epilog; do printf '#!/bin/bash\necho "%s $*" >> %s\n' "$n" "$dir/resv.log" > "$dir/$n.sh"; done
chmod 755 "$dir"/*.sh
: > "$dir/resv.log"
chmod 666 "$dir/resv.log"
start_cluster 1 4 "JobSubmitPlugins=logging,job_submit/require_timelimit
SlurmSchedLogFile=$dir/log/sched.log
ResvProlog=$dir/prolog.sh
ResvEpilog=$dir/epilog.sh"
check "require_timelimit refuses a job without a time limit" \
  "sbatch: error: Batch job submission failed: Time limit specification required, but not provided" \
  "$(sbatch --wrap true 2>&1)"
check "require_timelimit refuses srun without a time limit" \
  "srun: error: Unable to allocate resources: Time limit specification required, but not provided" \
  "$(timeout 20 srun true 2>&1 </dev/null)"
check "a job with a time limit runs" 0 "$(rc=0; timeout 20 srun -t 1 -J nm true </dev/null || rc=$?; echo $rc)"
uid=$(id -u) none='\(null\)'
pattern="job_submit/logging: job_submit: Job submit request: account:$none begin_time:0 dependency:$none name:nm"
match "job_submit/logging logs the submission" \
  "$pattern partition:$none qos:$none submit_uid:$uid time_limit:1 user_id:$uid" "$(cat "$dir/log/slurmctld.log")"
sed -i '/^JobSubmitPlugins/d' "$SLURM_CONF"; scontrol reconfigure
check "a job without a time limit runs without the plugin" 0 \
  "$(rc=0; timeout 20 srun true </dev/null || rc=$?; echo $rc)"

check "the scheduler's log is empty" 0 "$(wc -l < "$dir/log/sched.log")"
check "the scheduler's log level is 0" "SlurmSchedLogLevel=0" \
  "$(scontrol show config | grep SchedLogLevel | tr -d ' ')"
scontrol schedloglevel 1; timeout 20 srun true </dev/null
match "the scheduler's log at level 1" 'sched: Allocate JobId=[0-9]* NodeList=n1' "$(cat "$dir/log/sched.log")"
check "show config has the log level" "SlurmSchedLogLevel=1" "$(scontrol show config | grep SchedLogLevel | tr -d ' ')"
check "an unknown log level" "invalid schedlog level: 7" "$(scontrol schedloglevel 7 2>&1)"
mv "$dir/log/sched.log" "$dir/log/sched.1"; kill -USR2 "$(pid_of slurmctld)"; soon '[ -e "$dir/log/sched.log" ]'
becomes "SIGUSR2 rotates the scheduler's log" 0 '"$(wc -l < "$dir/log/sched.log")"'
sed -i '/^SlurmSchedLogFile/d' "$SLURM_CONF"; scontrol reconfigure
check "scontrol schedloglevel without SlurmSchedLogFile" \
  "slurm_set_schedlog_level error: Requested operation is presently disabled" \
  "$(scontrol schedloglevel 1 2>&1)"

# Programs of reservations: directly after a reconfiguration, and while slurmctld is down.
scontrol reconfigure
scontrol create reservation=r1 starttime=now duration=10 users=root nodes=n1 flags=ignore_jobs >/dev/null
soon 'grep -q "prolog r1" "$dir/resv.log"'
becomes "ResvProlog" "prolog r1" '"$(cat "$dir/resv.log")"'
scontrol update reservationname=r1 endtime=now+2 >/dev/null
soon 'grep -q epilog "$dir/resv.log"'
becomes "ResvEpilog" "prolog r1 epilog r1" '"$(paste -sd" " "$dir/resv.log")"'
: > "$dir/resv.log"
scontrol create reservation=r2 starttime=now+2 duration=10 users=root nodes=n1 flags=ignore_jobs >/dev/null
stopped slurmctld
sleep 2     # 2 s: the reservation begins while slurmctld is down
start_ctld
soon 'grep -q "prolog r2" "$dir/resv.log"'
becomes "ResvProlog of a reservation that begins while slurmctld is down" "prolog r2" '"$(cat "$dir/resv.log")"'
scontrol create reservation=r3 starttime=now duration=10 users=root nodes=n1 flags=ignore_jobs,overlap >/dev/null
scontrol delete reservationname=r2
soon 'grep -q "prolog r3" "$dir/resv.log"'
sleep 1     # 1 s: no epilog of r2 runs
check "a deleted reservation has no ResvEpilog" "prolog r2 prolog r3" "$(paste -sd' ' "$dir/resv.log")"
scontrol delete reservationname=r3

check "slurmctld listens at every address" any "$(listens "$port")"
check "slurmd listens at every address" any "$(listens $((port + 1)))"
echo "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny" >> "$SLURM_CONF"
stopped slurmctld
stopped slurmd-n1
start_ctld; start_node n1
soon '[ "$(sinfo -h -o %t 2>/dev/null)" = idle ]'
becomes "NoCtldInAddrAny and NoInAddrAny: the daemons listen at their addresses" "127.0.0.1 127.0.0.1" \
  '"$(listens "$port") $(listens $((port + 1)))"'
check "jobs run with NoCtldInAddrAny and NoInAddrAny" 0 "$(rc=0; timeout 20 srun true </dev/null || rc=$?; echo $rc)"
echo "JobSubmitPlugins=pbs" >> "$SLURM_CONF"
match "an unsupported plugin is refused" 'slurm.conf:[0-9]*.*JobSubmitPlugins=pbs is not part of this version' \
  "$(scontrol reconfigure 2>&1; tail -3 "$dir/log/slurmctld.log")"
