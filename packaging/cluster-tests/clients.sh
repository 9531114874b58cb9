#!/usr/bin/env bash
# What clients of Slurm (workflow engines, portals, exporters, MPI libraries) use of the commands, row by row: each
# option, field and variable
# with its effect or its text, and the rules that their parsers rely on.
. "$(dirname "$0")/lib.bash"
for i in 0 1; do touch "$dir/gpu$i"; done
prepare_dbd
me=$(id -un)
printf 'Name=gpu File=%s/gpu[0-1]\n' "$dir" > "$dir/gres.conf"
printf '#!/bin/sh\necho "$2|$3" >> %s/mail\n' "$dir" > "$dir/mailprog"; chmod 755 "$dir/mailprog"
start_dbd
soon 'sacctmgr -n show clusters >/dev/null 2>&1'
start_cluster 2 4 "GresTypes=gpu
$accounting
AccountingStorageTRES=gres/gpu
MailProg=$dir/mailprog
TopologyPlugin=topology/flat
Licenses=lic:3
TrackWCKey=yes
AccountingStoreFlags=job_script,job_env,job_comment
NodeName=DEFAULT Gres=gpu:2 Feature=fa,fb Sockets=1 CoresPerSocket=4 ThreadsPerCore=1"
sacctmgr -i add account clients description=d organization=o >/dev/null
sacctmgr -i add user "$me" account=clients >/dev/null
sacctmgr -i modify user where name="$me" set defaultaccount=clients >/dev/null

# ---- sbatch: options in the job's record
one() { scontrol -o show job "$1"; }
dep=$(sbatch --parsable -H --wrap true)
scontrol create \
  reservation reservationname=rsv starttime=now duration=60 nodes=n2 users="$me" flags=ignore_jobs >/dev/null
while IFS='|' read -r options expected; do
  id=$(sbatch --parsable -H $options --wrap true) || { check "sbatch $options" accepted refused; continue; }
  case " $(one "${id%%;*}") " in *" $expected "*) echo "ok   sbatch $options" ;;
    *) check "sbatch $options" "$expected" "$(one "${id%%;*}")" ;; esac
  scancel "${id%%;*}"
done <<T
--output=/tmp/o-%x|StdOut=/tmp/o-wrap
--error=/tmp/e|StdErr=/tmp/e
--input=/tmp/i|StdIn=/tmp/i
--job-name=a-name|JobName=a-name
--time=0:90000|TimeLimit=1-01:00:00
--time=30:00:00|TimeLimit=1-06:00:00
--partition=main|Partition=main
--cpus-per-task=2|CPUs/Task=2
--mem=14M|MinMemoryNode=14M
--mem=1G|MinMemoryNode=1G
--mem-per-cpu=50|MinMemoryCPU=50M
--mem-per-gpu=60 --gpus=1|MemPerTres=gres/gpu:60
--account=clients|Account=clients
--qos=normal|QOS=normal
--nodes=2|NumNodes=2-2
--nodes=1-2|NumNodes=1-2
--ntasks=3|NumTasks=3
--array=0-9%2|ArrayTaskId=0-9%2
--ntasks-per-node=2|NtasksPerN:B:S:C=2:0:*:*
--ntasks-per-socket=2|NtasksPerN:B:S:C=0:0:2:*
--ntasks-per-core=1|NtasksPerN:B:S:C=0:0:*:1
--ntasks-per-gpu=2 --gpus=1|NtasksPerTRES=2
--gpus-per-task=1 -n1|TresBind=gres/gpu:per_task:1
--gpus=1 --gpu-bind=none --tres-bind=gres/gpu:closest|TresBind=gres/gpu:closest
--constraint=fa&fb|Features=fa&fb
--exclusive|OverSubscribe=NO
--gres=gpu:1|TresPerNode=gres/gpu:1
--gpus-per-node=1|TresPerNode=gres/gpu:1
--gpus-per-task=1 --ntasks=2|TresPerTask=gres/gpu=1
--cpus-per-gpu=2 --gpus=1|CpusPerTres=gres/gpu:2
--reservation=rsv|Reservation=rsv
--dependency=afterok:$dep|Dependency=afterok:$dep(unfulfilled)
--dependency=singleton --job-name=s|JobName=s
--requeue|Requeue=1
--no-requeue|Requeue=0
--mail-type=END,FAIL --mail-user=x@y|MailType=END,FAIL
--mail-type=END --mail-user=x@y|MailUser=x@y
--comment=words|Comment=words
--exclude=n2|ExcNodeList=n2
--nodelist=n1|ReqNodeList=n1
--hold|Reason=JobHeldUser
--nice=5|Nice=5
--priority=77|Priority=0
--wckey=submitit|WCKey=submitit
--chdir=/tmp|WorkDir=/tmp
--licenses=lic:2|Licenses=lic:2
--clusters=test|JobState=PENDING
T

check "a reservation in one line" "ReservationName=rsv|Nodes=n2" \
  "$(scontrol show -o reservation rsv | grep -oE 'ReservationName=[^ ]*| Nodes=[^ ]*' | tr -d ' ' | paste -sd'|')"
scontrol delete reservationname=rsv; scancel "$dep"

# ---- sbatch: its output, and the environment of its scripts
cat > job.sh <<'S'
#!/bin/bash
#SBATCH --job-name=dir
#SBATCH -n 2 --comment=c # words

# more
#SBATCH --export=ALL
echo "$0 $1 $2"
#SBATCH --nice=9
S
line=$(sbatch -o script.out -n1 job.sh -x 'b c')
match "a submission is one line" '^Submitted batch job [0-9]+$' "$line"
first=${line##* }
match "a submission with -M names the cluster" '^Submitted batch job [0-9]+ on cluster test$' \
  "$(sbatch -M test -o /dev/null --wrap true)"
match "--parsable" '^[0-9]+$' "$(sbatch --parsable -o /dev/null --wrap true)"
match "--parsable with the cluster" '^[0-9]+;test$' "$(sbatch --parsable -M test -o /dev/null --wrap true)"
piped=$(printf '#!/bin/sh\necho piped\n' | sbatch --parsable -o piped.out)
printf '#!/bin/sh\necho "$1"\n' | sbatch -Q -o stdin.out /dev/stdin hello
check "-Q says nothing" "" "$(sbatch -Q -o /dev/null --wrap true)"
set +e
sbatch -W -o /dev/null --wrap 'exit 3' >/dev/null
check "--wait ends with the job's exit code" 3 $?
err=$(sbatch --account=nosuch -p nosuch --wrap true 2>&1); rc=$?
check "a refusal has Slurm's message and exit code" \
  "1 sbatch: error: Batch job submission failed: Invalid partition name specified" "$rc $(tail -1 <<<"$err")"
set -e
cat > env.sh <<'S'
#!/bin/sh
env
srun -n4 sh -c 'echo T $SLURM_PROCID $SLURM_LOCALID $SLURM_NODEID $SLURMD_NODENAME \
  $SLURM_STEP_NODELIST $SLURM_STEP_NUM_NODES $SLURM_NTASKS'
S
sbatch -Q -o env.out --export=ALL,K=V,OTHER -n4 -c1 -N2 --ntasks-per-node=2 -J named --gres=gpu:1 --mem=50 env.sh
sbatch -Q -o none.out --export=NONE,K=V --wrap 'echo "[${HOME:+home}] $K $SLURM_JOB_NAME"' >/dev/null
cat > array.sh <<'S'
#!/bin/sh
echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX
S
arr=$(sbatch --parsable -o 'arr-%A_%a.out' --array=3,5 array.sh)
sig=$(sbatch --parsable -o sig.out --open-mode=append --signal=B:USR2@60 -t 1 \
  --wrap 'trap "echo got USR2; exit 0" USR2; while :; do sleep 0.1; done')
cat > het.sh <<'S'
#!/bin/bash
#SBATCH -n1
#SBATCH hetjob
#SBATCH -n2
echo $SLURM_HET_SIZE $SLURM_JOB_NUM_NODES_HET_GROUP_0 ${SLURM_JOB_NODELIST_HET_GROUP_1:+list}
S
het=$(sbatch --parsable -o het.out het.sh)
held=$(sbatch --parsable -H -o /dev/null het.sh)
check "squeue lists components by their offset" "$held+0 $held+1" "$(squeue -h -j "$held" -S i -o %i | xargs)"
scancel "$held"
sbatch -Q --mail-type=BEGIN,END --mail-user=x@y -J mailed -o /dev/null --wrap true
wait_empty 40
check "a script runs with its arguments" "job.sh -x b c" \
  "$(sed 's:.*/slurm_script:job.sh:' script.out)"
match "options of the script up to its first command, overridden by the command line" \
  'JobName=dir .*Nice=0 .*NumTasks=1 .*Comment=c' "$(one "$first")"
check "a script from a pipe" piped "$(cat piped.out)"
check "/dev/stdin is a script" hello "$(cat stdin.out)"
check "--export=NONE" "[] V wrap" "$(sed 's/home//' none.out)"
check "array" "$arr 3 2 3 5 $arr 5 2 3 5" "$(cat arr-"${arr}"_3.out arr-"${arr}"_5.out | xargs)"
check "--signal=B:USR2@60" "got USR2" "$(cat sig.out)"
check "hetjob" "2 1 list" "$(cat het.out)"
match "mail: subject of the beginning" 'Slurm Job_id=[0-9]+ Name=mailed Began, Queued time' "$(cat "$dir/mail")"
match "mail: subject of the end" 'Name=mailed Ended, Run time [0-9:]*, COMPLETED, ExitCode 0' "$(cat "$dir/mail")"

# ---- the environment of a job and its tasks
while IFS='|' read -r variable expected; do
  match "\$$variable" "^$expected\$" "$(sed -n "s/^$variable=//p" env.out | head -1)"
done <<T
SLURM_JOB_ID|[0-9]+
SLURM_JOBID|[0-9]+
SLURM_JOB_NODELIST|n\[1-2\]
SLURM_NODELIST|n\[1-2\]
SLURM_JOB_NUM_NODES|2
SLURM_NNODES|2
SLURM_NODEID|0
SLURM_PROCID|0
SLURM_LOCALID|0
SLURM_NTASKS|4
SLURM_NPROCS|4
SLURM_NTASKS_PER_NODE|2
SLURM_TASKS_PER_NODE|2\(x2\)
SLURM_JOB_CPUS_PER_NODE|2\(x2\)
SLURM_CPUS_ON_NODE|2
SLURM_CPUS_PER_TASK|1
SLURM_JOB_NAME|named
SLURM_JOB_PARTITION|main
SLURM_JOB_ACCOUNT|clients
SLURM_JOB_QOS|normal
SLURM_JOB_USER|$me
SLURM_JOB_UID|$(id -u)
SLURM_CLUSTER_NAME|test
SLURM_SUBMIT_DIR|$dir/work
SLURM_SUBMIT_HOST|.+
SLURMD_NODENAME|n1
SLURM_JOB_GPUS|0
SLURM_GPUS_ON_NODE|1
SLURM_TOPOLOGY_ADDR|n1
SLURM_TOPOLOGY_ADDR_PATTERN|node
SLURM_MEM_PER_NODE|50
SLURM_CONF|$SLURM_CONF
K|V
T
check "SLURM_PROCID and the layout of each task" \
  "T 0 0 0 n1 n[1-2] 2 4;T 1 1 0 n1 n[1-2] 2 4;T 2 0 1 n2 n[1-2] 2 4;T 3 1 1 n2 n[1-2] 2 4" \
  "$(grep '^T ' env.out | sort | paste -sd';')"

# ---- squeue: fields of a running job, of a pending job and of an array
run=$(sbatch --parsable \
  -o %j.out -J running -n2 -c1 --mem=60 --gres=gpu:1 -t 30 --nice=1 --comment=c --chdir="$dir/work" --wrap 'sleep 100')
wait=$(sbatch --parsable -o /dev/null -J waiting -H -N1 --wrap true)
parts=$(sbatch --parsable -o /dev/null -H --array=1-9%2 --wrap true)
soon '[ "$(squeue -h -j "$run" -o %t)" = R ]'
start=$(squeue -h -j "$run" -o %S)
while IFS='|' read -r field expected heading; do
  check "squeue -o %$field" "$expected" "$(squeue -h -j "$run" -o "%$field")"
done <<T
i|$run
A|$run
F|$run
K|N/A
T|RUNNING
t|R
a|clients
u|$me
j|running
P|main
q|normal
C|2
D|1
N|n1
R|n1
B|n1
r|None
l|30:00
b|gres/gpu:1
m|60M
y|1
e|$(date -u -d "$start 30 minutes" +%FT%T 2>/dev/null)
T
match "squeue -o %M" '^0:[0-9][0-9]$' "$(squeue -h -j "$run" -o %M)"
match "squeue -o %L" '^(30:00|29:[0-9][0-9])$' "$(squeue -h -j "$run" -o %L)"
match "squeue -o %V" '^20[0-9-]*T[0-9:]*$' "$(squeue -h -j "$run" -o %V)"
while IFS='|' read -r field expected; do
  check "squeue -O $field" "$expected" "$(squeue -h -j "$run" -O "$field:|" | sed 's/|$//')"
done <<T
JobID|$run
JobArrayID|$run
ArrayJobID|$run
ArrayTaskID|N/A
State|RUNNING
StateCompact|R
Reason|None
UserName|$me
Account|clients
Name|running
NodeList|n1
Partition|main
StartTime|$start
TimeLimit|30:00
tres-alloc|cpu=2,mem=60M,node=1,billing=2,gres/gpu=1
tres-per-node|gres/gpu:1
WorkDir|$dir/work
EndTime|$(squeue -h -j "$run" -o %e)
Command|(null)
MinMemory|60M
NumCPUs|2
NumNodes|1
STDOUT|$dir/work/%j.out
STDERR|(null)
QOS|normal
BatchHost|n1
UserID|$(id -u)
T
for f in SubmitTime EligibleTime; do
  match "squeue -O $f" '^20[0-9-]*T[0-9:]*$' "$(squeue -h -j "$run" -O $f:x | sed 's/x$//')"
done
for f in TimeUsed TimeLeft PendingTime; do
  match "squeue -O $f" '^[0-9:]+$' "$(squeue -h -j "$run" -O "$f: " | tr -d ' ')"
done
check "a field of -O has 20 columns" "40 $run" "$(squeue -h -j "$run" -O JobID,State | awk '{print length($0), $1}')"
check "-O with widths" "$run RUNNI" "$(squeue -h -j "$run" -O "JobID:$((${#run}+1)),State:5")"
check "-O with a text between" "$run###turm###RUNNING###turm###" \
  "$(squeue -h -j "$run" -O 'JobID:###turm###,State:###turm###')"
check "-O with a control character" "$run"$'\037'"R"$'\037' "$(squeue -h -j "$run" -O $'JobID:\037,StateCompact:\037')"
check "a value longer than its field's width is cut" runn "$(squeue -h -j "$run" -o %.4j)"
check "squeue -o aligns right and left" "  R|R  |" "$(squeue -h -j "$run" -o '%.3t|%3t|')"
check "squeue -o keeps literal text" "JobId=$run^^^{\"n\":\"n1\"}" "$(squeue -h -j "$run" -o 'JobId=%i^^^{"n":"%N"}')"
check "squeue of a pending job" "$wait PENDING (JobHeldUser) JobHeldUser N/A" \
  "$(squeue -h -j "$wait" -o '%i %T %R %r %S')"
check "squeue of a pending array" "${parts}_[1-9%2] 1-9%2 $parts" "$(squeue -h -j "$parts" -o '%i %K %F')"
check "squeue -r lists each task of an array" 9 "$(squeue -h -r -j "$parts" -o %i | grep -c "^${parts}_[1-9]$")"
for o in "-t PD" "-t PENDING,CF" \
  "-u $me -t PD" "--user=$me -t pd" "-A clients -t PD" "-p main -t PD" "-q normal -t PD" "-n waiting" "--name=waiting" \
  "--me -t PD" "-a -t PD" "--states=PD --noconvert" "-M test -t PD" "-j $run,$wait -t PD" "-t all -j $wait"
do
  match "squeue $o" "(^| )$wait( |\$)" "$(squeue -h $o -o %i | xargs)"
done
check "squeue -w" "$run" "$(squeue -h -w n1 -o %i)"
check "squeue --sort" "$run" "$(squeue -h --sort=t,-i -t R -o %i)"
check "--only-job-state" "$run R" "$(squeue --only-job-state -h -j "$run" -o '%i %t')"
match "--start" 'N/A' "$(squeue --start -h -j "$wait" -o %S)"
check "squeue -M prints the cluster" "CLUSTER: test" "$(squeue -M test -j "$run" | head -1)"
check "default layout" "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)" "$(squeue | head -1 | xargs)"
check "SQUEUE_FORMAT" "$run" "$(SQUEUE_FORMAT=%i squeue -h -j "$run")"
check "SLURM_TIME_FORMAT=%s" "$(date -u -d "$start" +%s)" "$(TZ=UTC SLURM_TIME_FORMAT=%s squeue -h -j "$run" -o %S)"
match "SLURM_TIME_FORMAT=relative" '^[0-9:]+$' "$(SLURM_TIME_FORMAT=relative squeue -h -j "$run" -o %S)"
check "TZ" "$(TZ=Asia/Tokyo date -d "${start}Z" +%FT%T)" "$(TZ=Asia/Tokyo squeue -h -j "$run" -o %S)"
check "an empty --user lists nothing" "" "$(squeue -h --user= -o %i)"
check "squeue --json" "$run RUNNING True" "$(squeue --json -j "$run" | python3 -c 'import json,sys
d=json.load(sys.stdin); j=d["jobs"][0]; limit=set(j["time_limit"])=={"set","infinite","number"}
print(j["job_id"], j["job_state"][0], limit and not d["errors"] and "warnings" in d)')"
set +e
err=$(squeue -h -j 999999 2>&1)
check "squeue of one unknown id fails" "1 slurm_load_jobs error: Invalid job id specified" "$? $err"
out=$(squeue -h -j 999999,999999 2>&1)
check "squeue of one unknown id, twice, lists nothing" "0 " "$? $out"
err=$(squeue -h -j 999998,999999 2>&1)
check "squeue of two unknown ids lists nothing" "0 " "$? $err"
scancel 999999
check "scancel of an unknown id" 0 $?
check "scancel -v of an unknown id prints a message" 1 "$(scancel -v 999999 2>&1 | grep -c 'Invalid job id specified')"
set -e

# ---- sinfo
while IFS=';' read -r options expected; do
  check "sinfo $options" "$expected" "$(eval "sinfo -h $options")"
done <<T
-o %P;main*
-o %R;main
-o %D;2
-o %N;n[1-2]
-o %l;infinite
-o %L;n/a
-o %F;1/1/0/2
-o %C;2/6/0/8
-o %c;4
-o %m;4000
-o %w;1
-o %G;gpu:2
-o %f;fa,fb
-o %p;1
-o %z;1:4:1
-o '%P|%F|%c';main*|1/1/0/2|4
-o '"%D,%R"';"2,main"
-o '%.6D|%4t|' -t idle;     1|idle|
-N -o '%N %T' -n n1;n1 mixed
-N -o '%n %R' -p main -n n2;$(hostname -s) main
-N -a -o '%n %v' -n n1;$(hostname -s) $(sinfo --version | cut -d' ' -f2)
-t mixed -o %N;n1
-N -n n1 -O 'NodeList:|';n1|
-n n1 -O 'CPUsState:|';2/2/0/4|
-n n1 -O 'gres:9,gresused:|';gpu:2    gpu:1(IDX:0)|
-n n1 -O 'StateLong:|';mixed|
-n n1 -O 'AllocMem:|,Memory:|';60|4000|
-n n1 -O 'nodehost:|';$(hostname -s)|
--noconvert -n n1 -o %m;4000
-s -h -o %F;1/1/0/2
T
for f in %O %e; do match "sinfo -o $f" '^(N/A|[0-9.]+)$' "$(sinfo -h -n n1 -o $f)"; done
match "sinfo -o %o" '^(127.0.0.1|n1)$' "$(sinfo -h -n n1 -o %o)"
match "sinfo -N -o %all" 'n1' "$(sinfo -h -N -n n1 -o %all)"
match "sinfo --version" '^slurm [0-9]+\.[0-9]+\.[0-9]+$' "$(sinfo --version)"
check "sinfo --json" "2 n1" "$(sinfo --json | python3 -c 'import json,sys
d=json.load(sys.stdin)["sinfo"]; n=[x for s in d for x in s["nodes"]["nodes"]]; print(len(n), sorted(n)[0])')"

# ---- JSON in the form of data parser v0.0.45 of 26.05: job, step, node and statistics
json() { python3 -c "import json,sys; d=json.load(sys.stdin); print($1)"; }
fields="*(j:=d['jobs'][0])['exit_code']['status'], j['step_id']['step_id']"
fields+=", type(j['billable_tres']['number']).__name__, j['cpus_per_task']['number'], j['tasks_per_core']['infinite']"
check "squeue --json of a running job" "SUCCESS entire float 1 True" \
  "$(squeue -j "$run" --json | json "$fields" | tr -d "(),'")"
check "squeue -s --json is flat" "n1 True True" "$(squeue -s -j "$run" --json \
    | json "(s:=d['steps'][0])['nodes'], 'running' in s['time'], {'cpu','srun','array','id','number_cpus'} <= set(s)" \
    | tr -d "(),'")"
check "squeue --only-job-state --json" "$run RUNNING" \
  "$(squeue --only-job-state -j "$run" --json | json "d['jobs'][0]['job_id'], d['jobs'][0]['state'][0]" | tr -d "(),'")"
check "sinfo --json has the time of a reason as a number" "int True" "$(sinfo --json \
    | json "type((s:=d['sinfo'][0])['reason']['time']).__name__, 'reason_set_by_user' in s" | tr -d "(),'")"
check "sdiag --json has the lists of pending RPCs" True \
  "$(sdiag --json | json "{'pending_rpcs','pending_rpcs_by_hostlist'} <= set(d['statistics'])")"
check "listjobs --json" True "$(scontrol listjobs n1 --json | json "$run in [j['job_id'] for j in d['jobs']]")"
check "listpids --json" batch "$(scontrol listpids "$run" n1 --json | json "d['pids'][0]['step_id']")"
check "sinfo ignores words behind its options" n1 "$(sinfo -h -N -n n1 -o %N ,GresUsed:)"
match "scontrol show job -d begins with the name" "^JobId=$run JobName=[^ ]*.   SLUID=" "$(scontrol -d show job "$run")"

# ---- scontrol
key() { grep -oE "(^| )$1=[^ ]*" | head -1 | sed 's/^ //'; }
while IFS='|' read -r what wanted; do
  name=${wanted%%=*}
  check "scontrol $what" "$wanted" "$(scontrol $what | key "$name")"
done <<T
show job $run|JobState=RUNNING
-o show job $run|NodeList=n1
show job $run|ExitCode=0:0
show job $run|Reason=None
show node n1|CPUTot=4
show node n1|RealMemory=4000
show node n1|NodeAddr=127.0.0.1
show node n1|Gres=gpu:2
show node n1|State=MIXED
show node n1|ActiveFeatures=fa,fb
show node n1|Partitions=main
-o show node n1|CPUAlloc=2
show partition main|MaxTime=UNLIMITED
show partition main|MaxNodes=UNLIMITED
show partition main|Default=YES
show partition main|TotalCPUs=8
show partition main|AllowQos=ALL
show partition main|TRES=cpu=8,mem=8000M,node=2,billing=8,gres/gpu=4
-a show partition|PartitionName=main
show licenses|LicenseName=lic
T
check "records end with an empty line" 2 "$(scontrol show nodes | grep -c '^$')"
check "-o: one line each" 2 "$(scontrol -o show nodes | grep -c '^NodeName=')"
check "-o show partitions" 1 "$(scontrol -o show partitions | wc -l)"
match "show config" '^Configuration data as of 20' "$(scontrol show config | head -1)"
for k in ClusterName MinJobAge MaxArraySize SLURM_VERSION MaxJobCount; do
  match "show config: $k" "^$k +=" "$(scontrol show config | grep "^$k ")"
done
match "ping" 'Slurmctld\(primary\) at .* is UP' "$(scontrol ping)"
check "show hostnames" "n1 n2 x07 x08" "$(scontrol show hostnames 'n[1-2],x[07-08]' | xargs)"
check "show hostnames, of the environment" "a b" "$(SLURM_JOB_NODELIST=a,b scontrol show hostnames | xargs)"
check "show hostlist" "n[1-3,07-09]" "$(scontrol show hostlist n1,n2,n3,n07,n08,n09)"
printf 'b1\nb2\n' > names
check "show hostlist of a file" "b[1-2]" "$(scontrol show hostlist "$dir/work/names")"
check "show topology of topology/flat prints nothing" "0" "$(scontrol show topology; echo $?)"
match "show job lists jobs" '^[1-9]' "$(scontrol show job | grep -c '^JobId=')"
later=$(sbatch --parsable -o /dev/null --begin=now+1hour --wrap true)
scontrol hold "$later"
match "hold" 'Reason=JobHeld(Admin|User)' "$(one "$later")"
scontrol release "$later"; soon 'one "$later" | grep -q Reason=BeginTime'
match "release, and --begin" 'Reason=BeginTime' "$(one "$later")"
scontrol update job "$wait" comment=changed
match "update job" 'Comment=changed' "$(one "$wait")"
scontrol update nodename=n2 state=down reason=clients
match "update node" 'State=DOWN.* Reason=clients' "$(scontrol -o show node n2)"
scontrol update nodename=n2 state=resume
match "a resumed node is idle" 'State=IDLE' "$(scontrol -o show node n2)"
scontrol update partitionname=main state=drain
match "update partition" 'State=DRAIN' "$(scontrol -o show partition main)"
scontrol update partitionname=main state=up
check "write batch_script" "#!/bin/sh" "$(scontrol write batch_script "$run" - | head -1)"
scontrol notify "$run" hello; soon 'grep -q hello "$run.out"'
match "notify" hello "$(cat "$run.out")"
scontrol reconfigure
check "show job --json" "$run" \
  "$(scontrol show job "$run" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["jobs"][0]["job_id"])')"
match "show job --yaml" "job_id: !!int $run" "$(scontrol show job "$run" --yaml)"
check "show nodes --json" n1 \
  "$(scontrol show nodes --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["nodes"][0]["name"])')"
scontrol requeue "$run"
match "requeue keeps the job's id" 'Restarts=1' "$(one "$run")"
scancel --signal USR1 "$later" 2>/dev/null || true

# ---- scancel
sleeper() { sbatch --parsable -o /dev/null "$@" --wrap 'sleep 100'; }
gone() {
  soon "[ -z \"\$(squeue -h -j $1,$1 -o %i)\" ]" 10
  [ -z "$(squeue -h -j "$1,$1" -o %i)" ] && echo gone || echo still there
}
a=$(sleeper -H) b=$(sleeper -H)
scancel "$a" "$b"
check "scancel: several ids" "gone gone" "$(gone "$a") $(gone "$b")"
a=$(sleeper -H -J byname)
scancel --name=byname
check "scancel --name" gone "$(gone "$a")"
a=$(sleeper -H -J bystate)
scancel --state=PENDING --name=bystate
check "scancel --state" gone "$(gone "$a")"
a=$(sleeper -H)
scancel -M test "$a"
check "scancel --clusters" gone "$(gone "$a")"
a=$(sleeper -H)
check "scancel -Q" "" "$(scancel -Q "$a" 2>&1)"
usr=$(sbatch --parsable -o usr.out --wrap 'trap "echo usr; exit 0" USR1; echo up; while :; do sleep 0.1; done')
soon 'grep -q up usr.out 2>/dev/null'
scancel --signal=USR1 --batch "$usr"
gone "$usr" >/dev/null
check "scancel --signal" "up usr" "$(xargs < usr.out)"
a=$(sleeper -H)
scancel -u "$me"
check "scancel -u" gone "$(gone "$a")"
a=$(sleeper -H)
scancel --me
check "scancel --me" gone "$(gone "$a")"
wait_empty 20

# ---- srun
while IFS=';' read -r options expected; do
  check "srun $options" "$expected" "$(eval "srun $options" 2>&1 | sort | xargs)"
done <<'T'
--ntasks=2 --nodes=2 --label printenv SLURMD_NODENAME;0: n1 1: n2
-w n2 printenv SLURMD_NODENAME;n2
--nodelist=n2 -N1 -n1 printenv SLURM_JOB_NODELIST;n2
--exclude=n1 printenv SLURMD_NODENAME;n2
--cpu-bind=none --mpi=none --kill-on-bad-exit -n1 echo a;a
--unbuffered -n1 echo a;a
--export=ALL,K=V printenv K;V
--cpus-per-task=2 printenv SLURM_CPUS_PER_TASK;2
--ntasks-per-node=2 -N2 printenv SLURM_LOCALID;0 0 1 1
--gpus=1 printenv SLURM_STEP_GPUS;0
--gpus=3 --label printenv SLURMD_NODENAME;0: n1 1: n2
--gres=gpu:1,gpu:2 printenv SLURM_STEP_GPUS;0,1
--gres=gpu:2,gpu:1 printenv SLURM_STEP_GPUS;0
--gpus-per-task=1 -n2 printenv SLURM_TRES_BIND SLURMD_TRES_BIND;gres/gpu:per_task:1 gres/gpu:per_task:1 gres/gpu:per_task:1 gres/gpu:per_task:1
--gpus=2 --ntasks-per-gpu=1 printenv SLURM_TRES_BIND;gres/gpu:single:1 gres/gpu:single:1
--gpus=1 --gpu-bind=none printenv SLURM_TRES_BIND;gres/gpu:none
--gpus-per-task=1 -n2 printenv SLURM_NTASKS;2 2
--chdir=/tmp pwd;/tmp
--job-name=jn printenv SLURM_JOB_NAME;jn
--input=none -n1 cat;
--output=none -n1 echo a;
--comment=c --no-kill --wait=60 -n1 echo a;a
--exclusive -N1 -n1 echo a;a
--external-launcher -n1 printenv SLURM_EXTERNAL_LAUNCHER;1
T
srun -n2 --output=part-%t.out --error=part-%t.err sh -c 'echo o$SLURM_PROCID; echo e$SLURM_PROCID >&2'
check "a file for each task" "o0 o1 e0 e1" "$(cat part-0.out part-1.out part-0.err part-1.err | xargs)"
match "--version" '^slurm [0-9]+\.[0-9]+\.[0-9]+$' "$(srun --version)"
match "--test-only" 'srun: Job [0-9]+ to start at .* in partition main' "$(srun --test-only true 2>&1)"
match "--mpi=list" pmi2 "$(srun --mpi=list 2>&1 | xargs)"
match "srun of two components" '^0: n1 1: n2$' \
  "$(srun -l -n1 -w n1 printenv SLURMD_NODENAME : -n1 -w n2 printenv SLURMD_NODENAME | sort | xargs)"
check "srun in an allocation" "inner0" \
  "$(salloc -Q -n2 sh -c 'srun --overlap --jobid=$SLURM_JOB_ID -n1 echo inner$((SLURM_PROCID))' | xargs)"
set +e
timeout 20 srun --kill-on-bad-exit=1 -n2 sh -c '[ $SLURM_PROCID = 0 ] && exit 5; sleep 100' 2>/dev/null
match "--kill-on-bad-exit ends the step" '^143$' $?
set -e

# ---- sacct
done=$(sbatch \
  --parsable -o d.out -J accounted -n2 -t 7 --mem=30 --comment=c --wckey=k -W --wrap 'srun -n2 true; exit 3' || true)
pend=$(sbatch --parsable -o /dev/null -J soon -H --array=1-3 --wrap true)
check "sacct lists a job as soon as sbatch has returned" "soon" "$(sacct -X -n -P -j "$pend" -o JobName | head -1)"
row() { sacct -X -n -P -j "$done" -o "$1"; }
while IFS=';' read -r field expected; do check "sacct -o $field" "$expected" "$(row "$field")"; done <<T
JobID;$done
JobIDRaw;$done
State;FAILED
JobName;accounted
ExitCode;3:0
NodeList;n1
Account;clients
User;$me
Group;$(id -gn)
UID;$(id -u)
GID;$(id -g)
ReqMem;30M
NCPUS;2
NNodes;1
Partition;main
Timelimit;00:07:00
TimelimitRaw;7
AllocCPUS;2
ReqCPUS;2
AllocTRES;billing=2,cpu=2,mem=30M,node=1
ReqTRES;billing=2,cpu=2,mem=30M,node=1
Cluster;test
Comment;c
QOS;normal
Reason;None
WorkDir;$dir/work
StdOut;$dir/work/d.out
StdErr;
StdIn;/dev/null
WCKey;k
T
for f in Submit Eligible Start End; do match "sacct -o $f" '^20[0-9-]*T[0-9:]{8}$' "$(row $f)"; done
for f in Elapsed TotalCPU UserCPU SystemCPU; do match "sacct -o $f" '^[0-9:.]+$' "$(row $f)"; done
for f in CPUTimeRAW Priority; do match "sacct -o $f" '^[0-9]+$' "$(row $f)"; done
match "sacct: MaxRSS and MaxVMSize of a step" '^[0-9.]*[KMG]?\|[0-9.]*[KMG]?$' \
  "$(sacct -n -P -j "$done.batch" -o MaxRSS,MaxVMSize)"
check "repeated -j" "$done" "$(sacct -X -n -P -j "$done" -j "$done" -o JobID)"
check "default fields" "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode" "$(sacct -P -j "$done" | head -1)"
check "-P" "JobID|State" "$(sacct -P -j "$done" -o jobid,state | head -1)"
check "-p" "JobID|State|" "$(sacct -p -j "$done" -o jobid,state | head -1)"
check "--delimiter" "$done"$'\x1f'FAILED "$(sacct -n -P --delimiter $'\x1f' -X -j "$done" -o JobID,State)"
check "sacct marks a cut value" "accoun+" "$(sacct -n -X -j "$done" -o JobName%7 | xargs)"
check "width%N" "$(printf '%20s ' accounted)" "$(sacct -n -X -j "$done" -o JobName%20)"
check "steps" "$done $done.batch $done.0" "$(sacct -n -P -j "$done" -o JobID | xargs)"
check "sacct of a pending array" "${pend}_[1-3]" "$(sacct -n -P -X -j "$pend" -o JobID)"
check "-S and -E" 1 "$(sacct -X -n -P -S now-1hour -E now -o JobID | grep -c "^$done$")"
check "-S and -E before the job list nothing" "" "$(sacct -X -n -P -S 2020-01-01 -E 2020-01-02 -o JobID)"
check "--state" "$done" "$(sacct -X -n -P -S now-1hour -E now --state=FAILED --name=accounted -o JobID)"
accounted() { sacct -X -n -P --name=accounted -o JobID "$@" | wc -l; }
check "-u" 1 "$(accounted -u "$me")"
check "-a" 1 "$(accounted -a)"
check "-A" 1 "$(accounted -A clients)"
check "--clusters" "test" "$(sacct -X -n -P --clusters=test -j "$done" -o Cluster)"
check "--clusters all" "test" "$(sacct -X -n -P --clusters all -j "$done" -o Cluster)"
check "--duplicates --noconvert" "30M" "$(sacct -X -n -P --duplicates --noconvert -j "$done" -o ReqMem)"
check "--units" "0.03G" "$(sacct -X -n -P --units=G -j "$done" -o ReqMem)"
match "--batch-script" "srun -n2 true; exit 3" "$(sacct --batch-script -j "$done")"
match "--helpformat" 'JobIDRaw' "$(sacct --helpformat)"
match "--version" '^slurm [0-9.]+$' "$(sacct --version)"
match "format=all" "\\|accounted\\|" "$(sacct -X -n -P --format=all -j "$done")"
check "SLURM_TIME_FORMAT and TZ" "$(date -u -d "$(TZ=UTC row End)" +%s)" "$(TZ=UTC SLURM_TIME_FORMAT=%s row End)"
check "--json" "$done FAILED" "$(sacct --json -j "$done" \
    | python3 -c 'import json,sys; j=json.load(sys.stdin)["jobs"][0]; print(j["job_id"], j["state"]["current"][0])')"
c=$(sleeper); soon '[ "$(squeue -h -j "$c" -o %t)" = R ]'
scancel "$c"
gone "$c" >/dev/null
check "CANCELLED by" "CANCELLED by $(id -u)" "$(sacct -X -n -P -j "$c" -o State)"
scancel "$pend"

# ---- sacctmgr, sshare, sdiag
check "list user" "$me|clients" \
  "$(sacctmgr -n -P show user name="$me" withassoc format=user,account where account=clients)"
check "list user, 20 wide" "clients" "$(sacctmgr -n -s list user "$me" format=account%20 | grep clients | xargs)"
check "show assoc" "clients" "$(sacctmgr show assoc user="$me" account=clients format=account -n | xargs)"
match "show qos" '^Name\|' "$(sacctmgr -P show qos format=name,priority)"
check "show runaway" 0 "$(sacctmgr -n -P show runaway </dev/null >/dev/null 2>&1; echo $?)"
sacctmgr -i update job where jobid="$done" set AdminComment=noted >/dev/null
check "AdminComment" noted "$(row AdminComment)"
match "sshare" "clients" "$(sshare -n -P -o account,fairshare)"
match "sshare -U" clients "$(sshare -U --format Account%25 --noheader)"
for l in 'Server thread count:' 'Agent queue size:' \
  'DBD Agent queue size:' 'Last cycle:' 'Mean cycle:' 'Remote Procedure Call statistics by message type'
do
  match "sdiag: $l" "$l" "$(sdiag)"
done
match "sdiag --json" '^[0-9]+$' \
  "$(sdiag --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["statistics"]["server_thread_count"])')"
