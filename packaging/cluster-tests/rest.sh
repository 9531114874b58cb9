#!/usr/bin/env bash
# slurmrestd over TCP, over a Unix socket and as a pipe: authentication, the life of a job, accounting, four versions.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
prepare_dbd
head -c 32 /dev/urandom > "$dir/jwt.key"; chmod 600 "$dir/jwt.key"
tokens="AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$dir/jwt.key"
echo "$tokens" >> "$dir/slurmdbd.conf"
start_dbd
start_cluster 2 4 "$accounting
$tokens"
chmod 777 "$dir/work"
rport=$(free_port)
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "$@"; }
check "slurmrestd does not run as root" "slurmrestd: fatal: slurmrestd should not be run as the root user." \
  "$(slurmrestd "localhost:$rport" 2>&1 </dev/null || true)"
check "an unknown plugin" "slurmrestd: fatal: Unable to find plugin: rest_auth/none" \
  "$(slurmrestd -a none 2>&1 </dev/null || true)"
slurmrestd -u nobody -g nogroup --max-connections 20 -t 4 "unix:$dir/work/rest" "localhost:$rport" </dev/null \
  >"$dir/log/slurmrestd.log" 2>&1 &
echo $! > "$dir/run/slurmrestd.pid"
soon 'curl -s -o /dev/null "localhost:$rport/openapi"'
check "-u, -g" "nobody nogroup" "$(ps -o user= -o group= -p "$(pid_of slurmrestd)" | xargs)"
root=$(scontrol token) root=${root#*=}
nobody=$(scontrol token username=nobody) nobody=${nobody#*=}
token=$nobody
ask() {
  local m=$1 p=$2
  shift 2
  curl -s -o "$dir/answer" -w '%{http_code}' -X "$m" -H "X-SLURM-USER-TOKEN: $token" \
    -H 'Content-Type: application/json' "$@" "http://localhost:$rport$p"
}
field() { python3 -c "import json,sys; print(eval('d'+sys.argv[1], {'d': json.load(open('$dir/answer'))}))" "$1"; }
for v in 42 43 44 45; do
  for p in slurm/v0.0.$v/ping slurm/v0.0.$v/nodes/ slurm/v0.0.$v/partitions slurm/v0.0.$v/diag slurmdb/v0.0.$v/qos \
    slurmdb/v0.0.$v/clusters/; do
    check "GET /$p" "200 []" "$(ask GET "/$p") $(field '["errors"]')"
  done
done
check "no token" 401 "$(token= ask GET /slurm/v0.0.45/jobs)"
check "a token with an extra part" 401 "$(token=$nobody.x ask GET /slurm/v0.0.45/jobs)"
check "a token of another key" 401 "$(token=${nobody}x ask GET /slurm/v0.0.45/jobs)"
check "as Bearer" 200 "$(token= ask GET /slurm/v0.0.45/jobs -H "Authorization: Bearer $nobody")"
check "an unknown path" 404 "$(ask GET /slurm/v0.0.41/jobs)"
check "an unsupported method" "405 DELETE, GET, HEAD" \
  "$(ask PUT /slurm/v0.0.45/jobs -D "$dir/head") $(sed -n 's/^Allow: \([^\r]*\).*/\1/Ip' "$dir/head")"
check "a submission without a body" "422 Populated \"script\" field is required for job submission" \
  "$(ask POST /slurm/v0.0.45/job/submit) $(field '["errors"][0]["description"]')"
check "nodes that have not changed" 304 "$(ask GET /slurm/v0.0.45/nodes?update_time=4102444800)"
u() { ask GET "/slurm/v0.0.45/$1" >/dev/null; field '["last_update"]["number"]'; }
before=$(u partitions/)
sleep 1.1     # 1.1 s: last_update counts seconds
check "last_update of partitions stays without a change" "$before" "$(u partitions/)"
scontrol update partitionname=main maxtime=2-0
match "last_update of partitions grows with a change" '^[1-9][0-9]*$' "$(( $(u partitions/) - before ))"
scontrol update partitionname=main maxtime=INFINITE
check "last_update of nodes is set" 0 "$(scontrol show nodes --json | grep -A3 '"last_update"' | grep -c '"number": 0')"
job='{"script":"#!/bin/sh\necho $GREETING\nsleep 60\n","job":{"name":"over-rest",
  "environment":["GREETING=hello","PATH=/bin:/usr/bin"],"current_working_directory":"'$dir/work'",
  "standard_output":"out-%j","time_limit":5,"tasks":2,"memory_per_cpu":{"set":true,"number":20}}}'
check "a job is submitted" 200 "$(ask POST /slurm/v0.0.44/job/submit -d "$job")"
id=$(field '["job_id"]')
check "the job has the submitted fields" "nobody over-rest 5:00 2" "$(squeue -h -j "$id" -o '%u %j %l %C')"
check "root makes an allocation for another user" 200 \
  "$(token=$root ask POST /slurm/v0.0.45/job/allocate -H 'X-SLURM-USER-NAME: daemon' \
  -d '{"job":{"environment":["A=b"],"current_working_directory":"/"}}')"
check "the allocation's user" daemon "$(squeue -h -j "$(field '["job_id"]')" -o %u)"
scancel -u daemon
check "a user cannot act as root" 401 "$(ask GET /slurm/v0.0.45/jobs -H 'X-SLURM-USER-NAME: root')"
queued() { squeue -h -o %i | wc -l; }
before=$(queued)
for field in '"admin_comment":"x"' '"site_factor":{"set":true,"number":9}' '"priority":{"set":true,"number":900000}' \
  '"nice":-5' '"reboot":true' '"user_id":"0"' '"group_id":"0"' '"user_id":0' '"comment":"a\u0000b"' \
  '"comment":"a\u001bb"' '"standard_output":"/tmp/a\u0000b"' '"argv":["a\u0000"]' \
  '"current_working_directory":"/tmp\u0000"'; do
  check "an ordinary user may not set $field" refused \
    "$([ "$(ask POST /slurm/v0.0.45/job/submit -d "${job/\"tasks\":2/$field}")" = 200 ] || echo refused)"
done
check "none of these jobs is queued" "$before" "$(queued)"
brief=$(scontrol token lifespan=4) brief=${brief#*=}
check "root acts for another user" 200 "$(token=$brief ask GET /slurm/v0.0.45/jobs -H 'X-SLURM-USER-NAME: daemon')"
sleep 5     # 5 s: the token's lifespan of 4 s ends
check "an expired token" 401 "$(token=$brief ask GET /slurm/v0.0.45/jobs)"
check "an expired token for another user" 401 \
  "$(token=$brief ask GET /slurm/v0.0.45/jobs -H 'X-SLURM-USER-NAME: daemon')"
check "the error names the wrong field of the body" "400 #/job/time_limit/" \
  "$(ask POST /slurm/v0.0.45/job/submit -d '{"script":"x","job":{"time_limit":"long"}}') \
$(field '["errors"][0]["source"]')"
check "an unsupported field" "422 2036" \
  "$(ask POST /slurm/v0.0.45/job/submit -d "${job/\"tasks\":2/\"selinux_context\":\"x\"}") \
$(field '["errors"][0]["error_number"]')"
ask POST "/slurm/v0.0.45/job/$id" -d '{"comment":"c","none":1}' >/dev/null
check "an unknown field gives a warning" 1 "$(field '["warnings"].__len__()')"
check "the job is changed" c "$(squeue -h -j "$id" -O comment | xargs)"
check "a user may not drain a node" "422 2010" \
  "$(ask POST /slurm/v0.0.45/node/n1 -d '{"state":["DRAIN"],"reason":"x"}') $(field '["errors"][0]["error_number"]')"
check "root may drain a node" "200 drained" \
  "$(token=$root ask POST /slurm/v0.0.45/node/n2 -d '{"state":["DRAIN"],"reason":"x"}') $(sinfo -h -n n2 -o %T)"
soon '[ -s "$dir/work/out-$id" ]'
check "the job has its environment" hello "$(cat "$dir/work/out-$id")"
check "the job is ended" "200 []" "$(ask DELETE "/slurm/v0.0.45/job/$id?signal=KILL") $(field '["errors"]')"
wait_empty
check "accounting: flags of its start" "['STARTED_ON_SCHEDULE', 'START_RECEIVED']" \
  "$(ask GET "/slurmdb/v0.0.45/job/$id" >/dev/null; field '["jobs"][0]["flags"]')"
check "accounting: its state" "200 CANCELLED" \
  "$(ask GET "/slurmdb/v0.0.45/job/$id") $(field '["jobs"][0]["state"]["current"][0]')"
ids() {
  ask GET "/slurmdb/v0.0.45/jobs?$1" >/dev/null
  field '["jobs"]' | grep -o "'job_id': $id," | sort -u | grep -c . || true
}
for filter in scheduled_by_main state=CANCELLED\&users=nobody job_name=over-rest\&node=n1,n2; do
  check "accounting: $filter finds the job" 1 "$(ids "$filter")"
done
for filter in scheduled_by_backfill constraints=none exit_code=77; do
  check "accounting: $filter does not find the job" 0 "$(ids "$filter")"
done
token=$root
qos='{"qos":[{"name":"fast","priority":9,"flags":["DENY_LIMIT"],"limits":{"max":{"wall_clock":{"per":{"job":60}}}}}]}'
check "a QOS is added" 200 "$(ask POST /slurmdb/v0.0.45/qos -d "$qos")"
check "sacctmgr shows the QOS" "fast|9|DenyOnLimit|01:00:00" \
  "$(sacctmgr -nP show qos fast format=name,priority,flags,maxwall)"
check "an account is added" 200 "$(ask POST /slurmdb/v0.0.45/accounts \
  -d '{"accounts":[{"name":"phys","description":"d","organization":"o"}]}')"
check "an association is added" 200 "$(ask POST /slurmdb/v0.0.45/associations \
  -d '{"associations":[{"account":"phys","user":"ann","shares_raw":7,"qos":["fast"],"default":{"qos":"fast"}}]}')"
check "sacctmgr shows the association" "phys|ann|7|fast|fast" \
  "$(sacctmgr -nP show assoc user=ann format=account,user,share,qos,defaultqos)"
aid=$(sacctmgr -nP show assoc user=ann format=id)
for filter in "id=$aid" qos=fast default_qos=fast; do
  ask GET "/slurmdb/v0.0.45/associations?account=phys&user=ann&$filter" >/dev/null
  check "an association by $filter" "[$aid]" "$(field '["associations"] and [a["id"] for a in d["associations"]]')"
done
ask GET "/slurmdb/v0.0.45/associations?account=phys&user=ann&partition=none" >/dev/null
check "no association of an unknown partition" "[]" "$(field '["associations"]')"
ask GET "/slurmdb/v0.0.45/associations?account=phys&Exclude%20parent%20id/name" >/dev/null
check "associations without their parents" "['phys']" "$(field '["associations"] and [a["account"]
  for a in d["associations"] if not a["parent_account"] and not a["user"]]')"
check "a user's default account comes with its associations" "||phys" \
  "$(for q in "" "?without_defaults" "?with_assocs"; do
    ask GET "/slurmdb/v0.0.45/users/$q" >/dev/null
    field '["users"] and [u["default"]["account"] for u in d["users"] if u["name"] == "ann"][0]'
  done | paste -sd'|')"
check "a partition is added" 200 "$(ask POST /slurm/v0.0.45/partitions \
  -d '{"partitions":[{"name":"p2","nodes":{"configured":"n1"},"flags":["LLN"]}]}')"
check "a reservation is added" 200 "$(ask POST /slurm/v0.0.45/reservation \
  -d '{"name":"r","start_time":'$(($(date +%s) + 3600))',"duration":60,"users":["root"],"node_list":["n1"]}')"
check "the partition's nodes" n1 "$(sinfo -h -p p2 -o %N)"
check "the partition's LLN" LLN=YES "$(scontrol show partition p2 | grep -o 'LLN=[A-Z]*')"
check "the reservation's nodes" " Nodes=n1" "$(scontrol show reservation r | grep -o ' Nodes=n1')"
for object in slurm/v0.0.45/partition/p2 slurm/v0.0.45/reservation/r slurmdb/v0.0.45/user/ann \
  slurmdb/v0.0.45/qos/fast; do
  check "DELETE /$object" 200 "$(ask DELETE "/$object")"
done
check "a deleted reservation is an empty list" "200 []" \
  "$(ask GET /slurm/v0.0.45/reservation/r) $(field '["reservations"]')"
ask POST /util/v0.0.45/hostlist -d '{"hostnames":["n1","n2","n3"]}' >/dev/null
check "/util/hostlist" "n[1-3]" "$(field '["hostlist"]')"
check "YAML" "!!str pings: !!seq" "$(curl -s -H "X-SLURM-USER-TOKEN: $token" -H 'Accept: application/yaml' \
    "localhost:$rport/slurm/v0.0.45/ping" | sed -n 3p)"
check "Unix socket: root needs no token" "200" \
  "$(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$dir/work/rest" http://x/slurm/v0.0.45/jobs)"
check "Unix socket: another user needs a token" "401" "$(setpriv --reuid=daemon --regid=daemon --clear-groups \
  curl -s -o /dev/null -w '%{http_code}' --unix-socket "$dir/work/rest" http://x/slurm/v0.0.45/jobs)"
check "a pipe" "HTTP/1.1 200 OK" "$(printf 'GET /slurm/v0.0.45/ping HTTP/1.1\r\n\r\n' \
    | as_nobody slurmrestd -a rest_auth/local 2>/dev/null | head -1 | tr -d '\r')"
check "a pipe with nonsense" 1 "$(printf 'GET / HTTP/1.1\r\nnonsense' | as_nobody slurmrestd >/dev/null 2>&1; echo $?)"
head -c 200000 /dev/urandom > "$dir/noise"
for _ in 1 2 3; do
  curl -s -m 5 --data-binary "@$dir/noise" -H "X-SLURM-USER-TOKEN: $token" "localhost:$rport/slurm/v0.0.45/job/submit" \
    >/dev/null || true
done
cat "$dir/noise" > "/dev/tcp/localhost/$rport" 2>/dev/null || true
check "slurmrestd answers after random bytes" 200 "$(ask GET /slurm/v0.0.45/ping)"
check "slurmrestd logs no error" 0 "$(grep -c ' error: ' "$dir/log/slurmrestd.log" || true)"
kill "$(pid_of slurmrestd)"
wait "$(pid_of slurmrestd)"
check "slurmrestd ends with 0" 0 "$?"
check "the Unix socket is removed" no "$([ -e "$dir/work/rest" ] && echo yes || echo no)"
