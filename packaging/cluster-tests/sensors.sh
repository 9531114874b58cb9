#!/usr/bin/env bash
# Meters of a node: network traffic from the kernel; power and GPU usage from fake ipmi-dcmi and nvidia-smi programs;
# InfluxDB and HDF5 profiles; nodes without a meter.
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
soon '[ -s "$dir/series/port" ]'
echo "SysfsInterfaces=lo,nosuch0
ProfileInfluxDBHost=127.0.0.1:$(cat "$dir/series/port")
ProfileInfluxDBDatabase=db
EnergyIPMIFrequency=1
EnergyIPMIPowerSensors=Node=DCMI
EnergyIPMITimeout=10" > "$dir/acct_gather.conf"
mkdir "$dir/bin"; export PATH=$dir/bin:$PATH
printf '#!/bin/sh\necho "Current Power                        : 230 Watts"\n' > "$dir/bin/ipmi-dcmi"
cat > "$dir/bin/nvidia-smi" <<'P'
#!/bin/sh
echo '# gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command'
for p in $(pgrep -f '^sleep 4.44'); do
  echo "    0   $p     C     75     20      -      -      -      -    512      0    sleep"
done
P
chmod 755 "$dir/bin/"*
start_cluster 1 4 "AcctGatherInterconnectType=acct_gather_interconnect/sysfs
AccountingStorageTRES=ic/sysfs
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1,network=1
AcctGatherProfileType=acct_gather_profile/influxdb
AcctGatherEnergyType=acct_gather_energy/ipmi
AcctGatherNodeFreq=1
GresTypes=gpu
NodeName=DEFAULT Gres=gpu:2"
talk='exec 5<>/dev/tcp/127.0.0.1/'$port'; head -c 3000000 /dev/zero >&5 || true'
id=$(sbatch --parsable -o /dev/null --wrap "bash -c '$talk' 2>/dev/null; sleep 2
  sstat -n -P -o TRESUsageInTot -j \$SLURM_JOB_ID.batch > $dir/work/sstat.out 2>&1"); wait_empty 30
match "sacct: traffic received while the step ran" 'ic/sysfs=[1-9][0-9]{3,}' \
  "$(sacct -n -P -o TRESUsageInTot -j "$id.batch")"
match "sacct: traffic sent while the step ran" 'ic/sysfs=[1-9][0-9]{3,}' \
  "$(sacct -n -P -o TRESUsageOutTot -j "$id.batch")"
match "sstat: traffic received so far" 'ic/sysfs=[1-9][0-9]{3,}' "$(cat sstat.out)"
check "a missing interface is logged once for each counter" 2 \
  "$(grep -c 'nosuch0/statistics/.*cannot be read' "$dir/log/slurmd-n1.log")"
match "a key without effect is logged" 'acct_gather.conf: EnergyIPMITimeout has no effect' \
  "$(cat "$dir/log/slurmctld.log")"
comes "a node's power is that of ipmi-dcmi" 'CurrentWatts=230 AveWatts=2[0-9][0-9]' '$(scontrol show node n1)'
gpu=$(sbatch --parsable -o /dev/null --gres=gpu:2 \
  --wrap "sleep 4.44 & sleep 3; sstat -n -P -o TRESUsageInTot -j \$SLURM_JOB_ID.batch > $dir/work/gpu.out 2>&1; wait")
wait_empty 30
match "a step's energy is power over time" '^(9[0-9][0-9]|1[0-9][0-9][0-9])$' \
  "$(sacct -n -P -o ConsumedEnergyRaw -j "$gpu.batch")"
# 75 % while the program runs, over the whole time of the step, which a busy machine makes longer
match "sstat: GPU usage of a step" 'gres/gpumem=524288K,gres/gpuutil=([456][0-9]|7[0-5]),' \
  "$(cat gpu.out)"
match "sacct: GPU usage of a step" 'gres/gpumem=524288K,gres/gpuutil=([456][0-9]|7[0-5]),' \
  "$(sacct -n -P -o TRESUsageInTot -j "$gpu.batch")"
match "muster report: the used part of the GPUs" \
  'GPU +00:00:(08|1[0246]) +00:00:0[2-4] +[234][0-9]\.[0-9]+%' "$(muster report "$gpu")"
match "a job without GPUs has no GPU usage" '^cpu=[0-9:]+,energy=[0-9]+,fs/disk=[0-9]+,ic' \
  "$(sacct -n -P -o TRESUsageInTot -j "$id.batch")"
srun -n2 --profile=task,network sleep 1.5; soon 'grep -qs RSS "$dir/series/lines"'
comes "time series of a step's tasks go to InfluxDB" \
  '^RSS,job=[0-9]+,step=0,task=1,host=n1 value=[1-9][0-9]* [0-9]{10}$' \
  '"$(grep RSS,.*step=0,task=1 "$dir/series/lines" | tail -1)"'
match "time series of the node's traffic go to InfluxDB" \
  '^InMB,job=[0-9]+,step=0,task=Network,host=n1 value=[0-9]+\.[0-9]{2} [0-9]{10}$' \
  "$(grep InMB "$dir/series/lines" | tail -1)"
match "ProfileInfluxDBDatabase" '^/write\?db=db&precision=s$' "$(grep /write "$dir/series/lines" | tail -1)"
lines=$(wc -l < "$dir/series/lines"); srun sleep 1.2
check "a step without --profile sends no series" "$lines" "$(wc -l < "$dir/series/lines")"
kill "$(pid_of slurmd-n1)"; echo "ProfileHDF5Dir=$dir/profiles
SysfsInterfaces=lo" > "$dir/acct_gather.conf"
sed -i 's|acct_gather_profile/influxdb|acct_gather_profile/hdf5|' "$SLURM_CONF"
sed -i 's|^JobAcctGatherType=.*|&\nJobAcctGatherParams=DisableGPUAcct|' "$SLURM_CONF"
becomes "slurmd ends" "" '$(pid_of slurmd-n1)'
scontrol reconfigure; start_node n1
id=$(sbatch --parsable -n2 --profile=all -o /dev/null --wrap 'srun sleep 30')
soon '[ -s "$dir/spool/n1/profile/${id}_0/task.1" ]'
kill -9 "$(pid_of slurmd-n1)"; start_node n1; scancel "$id.0"; wait_empty 30
becomes "each step has an HDF5 file" 2 '$(ls "$dir/profiles/$(id -un)/${id}_"{0,batch}_n1.h5 2>/dev/null | wc -l)'
gpu=$(sbatch --parsable -o /dev/null --gres=gpu:2 --wrap "sleep 4.44"); wait_empty 30
check "DisableGPUAcct: no GPU usage" "" \
  "$(sacct -n -P -o TRESUsageInTot -j "$gpu.batch" | grep -o 'gres/gpu.*')"
sh5util -j "$id" 2>/dev/null; sh5util -j "$id" -E -s Task -l Node:TimeSeries 2>/dev/null
match "sh5util: samples of a task from before the kill of slurmd" \
  ",n1,1,[01],[0-9]{10},0,0\.000000,0\.000000,[1-9][0-9]*," "$(grep '^0,n1,1,' "extract_$id.csv" | head -1)"
check "sh5util: columns of the node's traffic" "ElapsedTime EpochTime PacketsIn PacketsOut InMB OutMB" \
  "$(sh5util -j "$id" -L -s Network 2>/dev/null | paste -sd' ')"
comes "a node without a meter has 0 watts" 'CurrentWatts=0 AveWatts=0' '$(scontrol show node n1)'
stop_cluster

rm -rf "$dir/state" "$dir/spool" "$dir/run"
echo "Nonsense=1" > "$dir/acct_gather.conf"
mkdir -p "$dir"/{run,spool,state}
rc=0; said=$(slurmd -D -f "$SLURM_CONF" -N n1 -d "$prefix/sbin/slurmstepd" </dev/null 2>&1) || rc=$?
check "slurmd does not start with an unknown key in acct_gather.conf" 1 "$rc"
match "the error names the line" 'acct_gather.conf:1: Parsing error at unrecognized key: Nonsense' "$said"
