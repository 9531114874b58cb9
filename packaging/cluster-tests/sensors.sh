#!/usr/bin/env bash
# Meters of a node: network traffic as the kernel counts it, and keys of meters that there are not.
# shows: AccountingStorageTRES, AcctGatherInterconnectType, AcctGatherProfileType
. "$(dirname "$0")/lib.bash"
cat > "$dir/server.py" <<'P'
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        open(sys.argv[1] + '/lines', 'ab').write(self.path.encode() + b'\n' + body)
        self.send_response(204); self.end_headers()
    def log_message(self, *a): pass
server = http.server.HTTPServer(('127.0.0.1', 0), H)
open(sys.argv[1] + '/port', 'w').write(str(server.server_port))
server.serve_forever()
P
mkdir -p "$dir/run" "$dir/series"; chmod 777 "$dir/series"
python3 "$dir/server.py" "$dir/series" </dev/null >/dev/null 2>&1 & echo $! > "$dir/run/web.pid"
soon() { local n=0; until eval "$1"; do n=$((n+1)); [ $n -lt 100 ] || return 0; sleep 0.1; done; }
soon '[ -s "$dir/series/port" ]'
echo "SysfsInterfaces=lo,nosuch0
ProfileInfluxDBHost=127.0.0.1:$(cat "$dir/series/port")
ProfileInfluxDBDatabase=db
EnergyIPMIFrequency=10" > "$dir/acct_gather.conf"
start_cluster 1 4 "AcctGatherInterconnectType=acct_gather_interconnect/sysfs
AccountingStorageTRES=ic/sysfs
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1,network=1
AcctGatherProfileType=acct_gather_profile/influxdb
AcctGatherEnergyType=acct_gather_energy/ipmi"
talk='exec 5<>/dev/tcp/127.0.0.1/'$port'; head -c 3000000 /dev/zero >&5 || true'
id=$(sbatch --parsable -o /dev/null --wrap "bash -c '$talk' 2>/dev/null
  sstat -n -P -o TRESUsageInTot -j \$SLURM_JOB_ID.batch > $dir/work/sstat.out 2>&1"); wait_empty 30
match "sacct has what came in while the step ran" 'ic/sysfs=[1-9][0-9]{3,}' "$(sacct -n -P -o TRESUsageInTot -j "$id.batch")"
match "and what went out" 'ic/sysfs=[1-9][0-9]{3,}' "$(sacct -n -P -o TRESUsageOutTot -j "$id.batch")"
match "sstat has it up to now" 'ic/sysfs=[1-9][0-9]{3,}' "$(cat sstat.out)"
check "an interface that is not there is named once for each number" 2 "$(grep -c 'nosuch0/statistics/.*cannot be read' "$dir/log/slurmd-n1.log")"
match "meters that there are not are named" 'AcctGatherEnergyType=acct_gather_energy/ipmi has no effect' "$(cat "$dir/log/slurmctld.log")"
match "and their settings" 'acct_gather.conf: EnergyIPMIFrequency has no effect' "$(cat "$dir/log/slurmctld.log")"
srun -n2 --profile=task,network sleep 1.5; soon 'grep -qs RSS "$dir/series/lines"'
match "time series of a step's tasks go to InfluxDB" '^RSS,job=[0-9]+,step=0,task=1,host=n1 value=[1-9][0-9]* [0-9]{10}$' "$(grep RSS,.*step=0,task=1 "$dir/series/lines" | tail -1)"
match "and of the node's traffic" '^InMB,job=[0-9]+,step=0,task=Network,host=n1 value=[0-9]+\.[0-9]{2} [0-9]{10}$' "$(grep InMB "$dir/series/lines" | tail -1)"
match "into the database that is named" '^/write\?db=db&precision=s$' "$(grep /write "$dir/series/lines" | tail -1)"
lines=$(wc -l < "$dir/series/lines"); srun sleep 1.2
check "no one profiles where nobody asks" "$lines" "$(wc -l < "$dir/series/lines")"
kill "$(pid_of slurmd-n1)"; echo "ProfileHDF5Dir=$dir/profiles
SysfsInterfaces=lo" > "$dir/acct_gather.conf"
sed -i 's|acct_gather_profile/influxdb|acct_gather_profile/hdf5|' "$SLURM_CONF"
becomes "slurmd ends" "" '$(pid_of slurmd-n1)'
scontrol reconfigure; start_node n1
id=$(sbatch --parsable -n2 --profile=all -o /dev/null --wrap 'srun sleep 30'); soon '[ -s "$dir/spool/n1/profile/${id}_0/task.1" ]'
kill -9 "$(pid_of slurmd-n1)"; start_node n1; scancel "$id.0"; wait_empty 30
becomes "a step is a file of HDF5" 2 '$(ls "$dir/profiles/$(id -un)/${id}_"{0,batch}_n1.h5 2>/dev/null | wc -l)'
sh5util -j "$id" 2>/dev/null; sh5util -j "$id" -E -s Task -l Node:TimeSeries 2>/dev/null
match "sh5util has each sample of each task, also from before slurmd was killed" ",n1,1,[01],[0-9]{10},0,0\.000000,0\.000000,[1-9][0-9]*," "$(grep '^0,n1,1,' "extract_$id.csv" | head -1)"
check "and of the node's traffic" "ElapsedTime EpochTime PacketsIn PacketsOut InMB OutMB" "$(sh5util -j "$id" -L -s Network 2>/dev/null | paste -sd' ')"
match "a node without a meter says so" 'CurrentWatts=n/s AveWatts=n/s' "$(scontrol show node n1)"
stop_cluster

rm -rf "$dir/state" "$dir/spool" "$dir/run"
echo "Nonsense=1" > "$dir/acct_gather.conf"
mkdir -p "$dir"/{run,spool,state}
rc=0; said=$(slurmd -D -f "$SLURM_CONF" -N n1 -d "$prefix/sbin/slurmstepd" </dev/null 2>&1) || rc=$?
check "slurmd does not start with a file that it does not understand" 1 "$rc"
match "and says where" 'acct_gather.conf:1: Parsing error at unrecognized key: Nonsense' "$said"
