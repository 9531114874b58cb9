#!/usr/bin/env bash
# What a site writes into slurm.conf: plugins of submission, the scheduler's log, programs of reservations, addresses to listen at.
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
check "no time limit, no job" \
  "sbatch: error: Batch job submission failed: Time limit specification required, but not provided" \
  "$(sbatch --wrap true 2>&1)"
check "nor for srun" "srun: error: Unable to allocate resources: Time limit specification required, but not provided" \
  "$(timeout 20 srun true 2>&1 </dev/null)"
check "with one" 0 "$(rc=0; timeout 20 srun -t 1 -J nm true </dev/null || rc=$?; echo $rc)"
match "and in the log" \
  "job_submit/logging: job_submit: Job submit request: account:\(null\) begin_time:0 dependency:\(null\) name:nm partition:\(null\) qos:\(null\) submit_uid:$(id \
  -u) time_limit:1 user_id:$(id -u)" \
  "$(cat "$dir/log/slurmctld.log")"
sed -i '/^JobSubmitPlugins/d' "$SLURM_CONF"; scontrol reconfigure
check "without the plugin" 0 "$(rc=0; timeout 20 srun true </dev/null || rc=$?; echo $rc)"

check "the scheduler's log is off" "0 SlurmSchedLogLevel=0" \
  "$(wc -l < "$dir/log/sched.log") $(scontrol show config | grep SchedLogLevel | tr -d ' ')"
scontrol schedloglevel 1; timeout 20 srun true </dev/null
match "and on" 'sched: Allocate JobId=[0-9]* NodeList=n1' "$(cat "$dir/log/sched.log")"
check "as is shown" "SlurmSchedLogLevel=1" "$(scontrol show config | grep SchedLogLevel | tr -d ' ')"
check "no such level" "invalid schedlog level: 7" "$(scontrol schedloglevel 7 2>&1)"
mv "$dir/log/sched.log" "$dir/log/sched.1"; kill -USR2 "$(pid_of slurmctld)"; soon '[ -e "$dir/log/sched.log" ]'
becomes "rotated with the other" 0 '"$(wc -l < "$dir/log/sched.log")"'
sed -i '/^SlurmSchedLogFile/d' "$SLURM_CONF"; scontrol reconfigure
check "without a file" "slurm_set_schedlog_level error: Requested operation is presently disabled" \
  "$(scontrol schedloglevel 1 2>&1)"

# directly after a slurmctld starts again beside the one before, and while it is down
scontrol reconfigure
scontrol create reservation=r1 starttime=now duration=10 users=root nodes=n1 flags=ignore_jobs >/dev/null
soon 'grep -q "prolog r1" "$dir/resv.log"'
becomes "a reservation begins" "prolog r1" '"$(cat "$dir/resv.log")"'
scontrol update reservationname=r1 endtime=now+2 >/dev/null
soon 'grep -q epilog "$dir/resv.log"'
becomes "and ends" "prolog r1 epilog r1" '"$(paste -sd" " "$dir/resv.log")"'
: > "$dir/resv.log"
scontrol create reservation=r2 starttime=now+2 duration=10 users=root nodes=n1 flags=ignore_jobs >/dev/null
kill "$(pid_of slurmctld)"; soon '! kill -0 $(pid_of slurmctld) 2>/dev/null'; sleep 2
start_ctld
soon 'grep -q "prolog r2" "$dir/resv.log"'
becomes "one that begins while slurmctld is down" "prolog r2" '"$(cat "$dir/resv.log")"'
scontrol create reservation=r3 starttime=now duration=10 users=root nodes=n1 flags=ignore_jobs,overlap >/dev/null
scontrol delete reservationname=r2
soon 'grep -q "prolog r3" "$dir/resv.log"'; sleep 1
becomes "one that is deleted has no end" "prolog r2 prolog r3" '"$(paste -sd" " "$dir/resv.log")"'
scontrol delete reservationname=r3

check "every address" "any any" "$(listens "$port") $(listens $((port + 1)))"
echo "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny" >> "$SLURM_CONF"
kill "$(pid_of slurmctld)" "$(pid_of slurmd-n1)"
soon '! kill -0 $(pid_of slurmctld) 2>/dev/null'
soon '! kill -0 $(pid_of slurmd-n1) 2>/dev/null'
start_ctld; start_node n1
soon '[ "$(sinfo -h -o %t 2>/dev/null)" = idle ]'
becomes "its own alone" "127.0.0.1 127.0.0.1" '"$(listens "$port") $(listens $((port + 1)))"'
check "which do" 0 "$(rc=0; timeout 20 srun true </dev/null || rc=$?; echo $rc)"
echo "JobSubmitPlugins=pbs" >> "$SLURM_CONF"
match "what there is not is refused" 'slurm.conf:[0-9]*.*JobSubmitPlugins=pbs is not part of this version' \
  "$(scontrol reconfigure 2>&1; tail -3 "$dir/log/slurmctld.log")"
