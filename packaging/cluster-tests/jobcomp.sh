#!/usr/bin/env bash
# JobCompType: records of finished jobs in a file, for a script, in Lua, in a table, at a web server, in Kafka.
# shows: JobCompType, JobCompLoc, JobCompParams, JobCompHost, JobCompPort, JobCompUser, JobCompPass, JobCompPassScript
. "$(dirname "$0")/lib.bash"
conf() { sed -i '/^JobComp/d' "$SLURM_CONF"; printf '%s\n' "$@" >> "$SLURM_CONF"; scontrol reconfigure; }
job() { sbatch --parsable -W -t 10 -J nm -o /dev/null --wrap 'exit 3' || true; }
start_cluster 1 4 "JobCompType=jobcomp/filetxt
JobCompLoc=$dir/jobcomp.txt"
id=$(job | head -1); soon '[ -s "$dir/jobcomp.txt" ]'
time='20[-0-9]*T[0-9:]*'
line="^JobId=$id UserId=root\(0\) GroupId=root\(0\) Name=nm JobState=FAILED Partition=main TimeLimit=10 "
line+="StartTime=$time EndTime=$time NodeList=n1 NodeCnt=1 ProcCnt=1 WorkDir=$dir/work ReservationName= "
line+="Tres=cpu=1,mem=10M,node=1,billing=1 Account= QOS= WcKey= Cluster=test SubmitTime=$time EligibleTime=$time "
line+="DerivedExitCode=0:0 ExitCode=3:0 \$"
comes "jobcomp/filetxt writes a line" "$line" '"$(cat "$dir/jobcomp.txt")"'
id=$(sbatch --parsable -H --wrap true); scancel "$id"; soon 'grep -q "JobId=$id " "$dir/jobcomp.txt"'
line="JobId=$id .*JobState=CANCELLED .*StartTime=20[-0-9T:]* .*NodeList=\(null\) NodeCnt=0 ProcCnt=0 "
line+=".*Tres=cpu=1.*EligibleTime=unknown "
comes "jobcomp/filetxt writes a line for a job that never ran" "$line" '"$(tail -1 "$dir/jobcomp.txt")"'
check "sacct -c of a job" "$id|CANCELLED" "$(sacct -c -n -P -j "$id" -o jobid,state)"
id=$(sbatch --parsable -W -a 1-2 -o /dev/null --wrap 'exit $((SLURM_ARRAY_TASK_ID - 1))' | head -1 || true)
soon '[ $(grep -c "ArrayJobId=$id " "$dir/jobcomp.txt") = 2 ]'
becomes "sacct -c of a task of an array" "FAILED" '"$(sacct -c -n -P -j "${id}_2" -o state)"'
check "sacct -c of an array" "COMPLETED FAILED" "$(sacct -c -n -P -j "$id" -o state | sort | xargs)"

printf '#!/bin/bash\nenv | sort > %s.tmp; mv %s.tmp %s.$JOBID\n' "$dir/jc" "$dir/jc" "$dir/jc" > "$dir/jc.sh"
chmod 755 "$dir/jc.sh"
chmod 777 "$dir"
conf JobCompType=jobcomp/script "JobCompLoc=$dir/jc.sh"
id=$(job | head -1); soon '[ -e "$dir/jc.$id" ]'
cat > "$dir/expected" <<X
ARRAYJOBID=0
ARRAYTASKID=4294967294
BATCH=yes
EXITCODE=3:0
JOBID=$id
JOBNAME=nm
JOBSTATE=FAILED
LIMIT=00:10:00
NODECNT=1
NODES=n1
PARTITION=main
PROCS=1
STDIN=/dev/null
STDOUT=/dev/null
UID=0
USERNAME=root
X
check "jobcomp/script runs a program with the record in variables" "$(cat "$dir/expected")" \
  "$(grep -E '^(ARRAY|BATCH|EXITCODE|JOB|LIMIT|NODE|PARTITION|PROCS|STD|UID|USERNAME)' "$dir/jc.$id")"

cat > "$dir/jobcomp.lua" <<L
local calls = 0
function slurm_jobcomp_log_record(job)
  calls = calls + 1
  local f = io.open("$dir/lua.out", "a")
  f:write(string.format("%d %d %s %s %d %d %s %s %s\n", calls, job.job_id, job.name, job.nodes, job.exit_code,
    job.time_limit, job.user_name or "none", job.partition, tostring(job.admin_comment)))
  f:close()
  slurm.log_info("jobcomp.lua wrote %d", job.job_id)
  return slurm.SUCCESS
end
L
conf JobCompType=jobcomp/lua
id=$(job | head -1); soon 'grep -q " $id " "$dir/lua.out"'; id2=$(job | head -1); soon 'grep -q " $id2 " "$dir/lua.out"'
check "jobcomp/lua calls a function, and its variables last between calls" \
  "1 $id nm n1 768 10 root main nil,2 $id2 nm n1 768 10 root main nil," "$(tr '\n' , < "$dir/lua.out")"
match "slurmctld logs the script's messages" "lua: jobcomp.lua wrote $id2" "$(cat "$dir/log/slurmctld.log")"
printf 'function slurm_jobcomp_log_record(job)\n  return job.nothing.more\nend\n' > "$dir/jobcomp.lua"
id=$(job | head -1); soon 'grep -q "jobcomp/lua: the record of JobId=$id is dropped" "$dir/log/slurmctld.log"'
comes "slurmctld logs an error of the script with its line" "record of JobId=$id is dropped: .*jobcomp.lua:2" \
  '"$(tail -5 "$dir/log/slurmctld.log")"'

cat > "$dir/server.py" <<'P'
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        open(sys.argv[2], 'ab').write(self.path.encode() + b' ' + body + b'\n')
        self.send_response(201); self.end_headers()
    def log_message(self, *a): pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()
P
web=$((port + 15))
python3 "$dir/server.py" $web "$dir/documents" </dev/null >/dev/null 2>&1 & echo $! > "$dir/run/web.pid"
conf JobCompType=jobcomp/elasticsearch \
  "JobCompLoc=127.0.0.1:$web/slurm/_doc" JobCompParams=connect_timeout=2,timeout=3,send_script
id=$(job | head -1); soon '[ -s "$dir/documents" ]'
comes "jobcomp/elasticsearch sends a document" \
  "^/slurm/_doc \{.*\"jobid\":$id,\"username\":\"root\".*\"exit_code\":\"3:0\".*\"state\":\"FAILED\".*exit 3" \
  '"$(tail -1 "$dir/documents")"'
kill "$(cat "$dir/run/web.pid")"
away=$(job | head -1)
soon 'grep -q "jobcomp/elasticsearch: 1 records wait" "$dir/log/slurmctld.log"'
stopped slurmctld
soon '[ -s "$dir/state/elasticsearch_state" ]'
start_ctld; late=$(job | head -1)
python3 "$dir/server.py" $web "$dir/documents" </dev/null >/dev/null 2>&1 & echo $! > "$dir/run/web.pid"
soon 'grep -q "\"jobid\":$late," "$dir/documents"'
check "waiting documents are sent after a restart" "$id $away $late " \
  "$(sed 's/.*"jobid":\([0-9]*\).*/\1/' "$dir/documents" | tr '\n' ' ')"
conf JobCompType=jobcomp/elasticsearch "JobCompLoc=http://no^place/"
id=$(job | head -1); soon 'grep -q "records wait: JobCompLoc=http://no^place/" "$dir/log/slurmctld.log"'
conf JobCompType=jobcomp/elasticsearch "JobCompLoc=127.0.0.1:$web/slurm/_doc"
soon 'grep -q "\"jobid\":$id," "$dir/documents"'
comes "documents for an invalid JobCompLoc are sent when it is corrected" "\"jobid\":$id," \
  '"$(tail -1 "$dir/documents")"'

if command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null; then
  sql=$((port + 16)); mkdir "$dir/sql"
  mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$dir/sql/d" \
    --tmpdir="$dir/sql" --auth-root-authentication-method=normal --skip-test-db </dev/null >"$dir/log/sql" 2>&1
  mariadbd --no-defaults --user="$(id -un)" --datadir="$dir/sql/d" --tmpdir="$dir/sql" --socket="$dir/sql/s" \
    --port=$sql --bind-address=127.0.0.1 --pid-file="$dir/run/sql.pid" </dev/null >>"$dir/log/sql" 2>&1 &
  soon '[ -S "$dir/sql/s" ]'
  my() { mariadb --no-defaults -S "$dir/sql/s" -u root -N -e "$1" </dev/null 2>&1; }
  my "create user 'jc'@'127.0.0.1' identified by 'pw'; grant all on jc_db.* to 'jc'@'127.0.0.1'"
  my "create user 'jc'@'localhost' identified by 'pw'; grant all on jc_db.* to 'jc'@'localhost'"
  conf JobCompType=jobcomp/mysql JobCompLoc=jc_db JobCompHost=127.0.0.1 JobCompPort=$sql JobCompUser=jc JobCompPass=pw
  id=$(job | head -1); soon '[ -n "$(my "select * from jc_db.jobcomp_table where jobid=$id" | grep nm)" ]'
  columns='jobid,user_name,name,state,`partition`,timelimit,nodelist,nodecnt,proc_cnt'
  check "jobcomp/mysql writes a row" "$id root nm 5 main 10 n1 1 1" \
    "$(my "select $columns from jc_db.jobcomp_table where jobid=$id" | tr '\t' ' ')"
  printf '#!/bin/bash\necho pw\n' > "$dir/pass.sh"; chmod 755 "$dir/pass.sh"
  conf JobCompType=jobcomp/mysql JobCompLoc=jc_db \
    JobCompHost=127.0.0.1 JobCompPort=$sql JobCompUser=jc JobCompPass=wrong "JobCompPassScript=$dir/pass.sh"
  id=$(job | head -1); soon '[ -n "$(my "select * from jc_db.jobcomp_table where jobid=$id" | grep nm)" ]'
  check "JobCompPassScript prints the password" "$id" "$(my "select jobid from jc_db.jobcomp_table where jobid=$id")"
fi
cat > "$dir/broker.py" <<'P'
# A broker for a producer: it answers where a topic is, acknowledges messages, and writes them to a file.
import socketserver, struct, sys
class B(socketserver.StreamRequestHandler):
    def handle(self):
        while head := self.rfile.read(4):
            body = self.rfile.read(struct.unpack('>i', head)[0])
            key, version, number, length = struct.unpack('>hhih', body[:10])
            body = body[10 + length:]
            if key == 18:
                spoken = [(0, 5, 5), (3, 5, 5), (18, 0, 0)] if version == 0 else [(18, 0, 0)]
                answer = struct.pack('>hi', 0 if version == 0 else 35, len(spoken))
                answer += b''.join(struct.pack('>hhh', *s) for s in spoken)
            elif key == 3:
                topics = struct.unpack('>i', body[:4])[0]
                answer = struct.pack('>iii', 0, 1, 7) + b'\0\x09127.0.0.1'
                answer += struct.pack('>ihhii', self.server.server_address[1], -1, -1, 7, topics)
                at = 4
                while at < len(body) - 1:
                    topic = body[at:at + 2 + struct.unpack('>h', body[at:at + 2])[0]]
                    at += len(topic)
                    answer += b'\0\0' + topic + b'\0' + struct.pack('>ihiiiiiii', 1, 0, 0, 7, 1, 7, 1, 7, 0)
            else:
                topic = body[12:14 + struct.unpack('>h', body[12:14])[0]]
                record = body[body.index(b'{"jobid"'):body.rindex(b'}') + 1]
                open(sys.argv[1] + '/messages', 'ab').write(topic[2:] + b' ' + record + b'\n')
                answer = struct.pack('>i', 1) + topic + struct.pack('>iihqqqi', 1, 0, 0, 0, -1, 0, 0)
            self.wfile.write(struct.pack('>ii', len(answer) + 4, number) + answer)
class S(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
server = S(('127.0.0.1', int(sys.argv[2])), B)
open(sys.argv[1] + '/port', 'w').write(str(server.server_address[1]))
server.serve_forever()
P
mkdir -p "$dir/kafka"
: > "$dir/kafka/messages"
python3 "$dir/broker.py" "$dir/kafka" 0 </dev/null >/dev/null 2>&1 & echo $! > "$dir/run/broker.pid"
soon '[ -s "$dir/kafka/port" ]'
broker=$(cat "$dir/kafka/port")
printf 'bootstrap.servers=127.0.0.1:%s\nretry.backoff.ms=100\nrequest.timeout.ms=1000\ndebug=msg\n' \
  "$broker" > "$dir/rdkafka.conf"
conf JobCompType=jobcomp/kafka "JobCompLoc=$dir/rdkafka.conf" JobCompParams=enable_job_start,topic=done
id=$(job | head -1); soon 'grep -q "^done " "$dir/kafka/messages"'
comes "jobcomp/kafka sends a message at the job's end" \
  "^done \{\"jobid\":$id,.*\"exit_code\":\"3:0\",\"state\":\"FAILED\"" '"$(grep ^done "$dir/kafka/messages")"'
match "enable_job_start sends a message at the job's start" \
  "^test-job-start \{\"jobid\":$id,[^}]*\"state\":\"RUNNING\"" \
  "$(grep -v -e '"exit_code"' -e '"@end"' "$dir/kafka/messages")"
kill "$(cat "$dir/run/broker.pid")"; id=$(job | head -1); soon 'grep -q "records wait" "$dir/log/slurmctld.log"'
stopped slurmctld
soon '[ -s "$dir/state/jobcomp_kafka" ]'
python3 "$dir/broker.py" "$dir/kafka" "$broker" </dev/null >/dev/null 2>&1 & echo $! > "$dir/run/broker.pid"
start_ctld; soon 'grep -q "^done {\"jobid\":$id," "$dir/kafka/messages"'
match "waiting messages are sent after a restart" "^done \{\"jobid\":$id," \
  "$(grep "^done {\"jobid\":$id," "$dir/kafka/messages")"
sed -i '/^JobComp/d' "$SLURM_CONF"; printf 'JobCompType=jobcomp/kafka\nJobCompLoc=/none\n' >> "$SLURM_CONF"
match "a missing JobCompLoc of jobcomp/kafka is reported" 'JobCompLoc=/none: No such file or directory' \
  "$(scontrol reconfigure 2>&1; tail -3 "$dir/log/slurmctld.log")"
sed -i '/^JobComp/d' "$SLURM_CONF"; echo JobCompType=jobcomp/pigeon >> "$SLURM_CONF"
match "an unknown JobCompType is refused" \
  'slurm.conf:[0-9]*.*JobCompType=jobcomp/pigeon is not part of this version; there is jobcomp/none, jobcomp/filetxt' \
  "$(scontrol reconfigure 2>&1; tail -3 "$dir/log/slurmctld.log")"
