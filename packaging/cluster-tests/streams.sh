#!/usr/bin/env bash
# slurmrestd's event streams through curl: contents, PrivateData, output of jobs, sessions; muster watch, top and page.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
head -c 32 /dev/urandom > "$dir/jwt.key"; chmod 600 "$dir/jwt.key"
start_cluster 2 4 "AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$dir/jwt.key"
chmod 777 "$dir/work"
rport=$(free_port)
slurmrestd -u nobody -g nogroup -a rest_auth/jwt --max-connections 4 "localhost:$rport" </dev/null \
  >"$dir/log/slurmrestd.log" 2>&1 &
echo $! > "$dir/run/slurmrestd.pid"
soon 'curl -s -o /dev/null "localhost:$rport/"'
as() {
  local u=$1
  shift
  setpriv --reuid="$u" --regid=nogroup --clear-groups -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "$@"
}
token() { local t; t=$(scontrol token username="$1"); echo "${t#*=}"; }
root=$(token root) nobody=$(token nobody) daemon=$(token daemon)
streams=()
stream() { # file, token, path, more of curl
  local f=$dir/$1 t=$2 p=$3; shift 3
  curl -sN --max-time 200 -H "X-SLURM-USER-TOKEN: $t" "$@" "http://localhost:$rport/muster/v1/$p" > "$f" 2>/dev/null \
    </dev/null &
  streams+=($!)
}
code() {
  curl -s -o "$dir/answer" -w '%{http_code}' -H "X-SLURM-USER-TOKEN: $1" "http://localhost:$rport/muster/v1/$2"
}
# Waits for a text in a file: prints yes, or the end of the file.
within() {
  local file=$dir/$1 text=$2
  soon 'grep -q -e "$text" "$file"' 20
  if grep -q -e "$text" "$file"; then echo yes; else echo "no $text: $(tail -c 300 "$file")"; fi
}
last_id() { sed -n 's/^id: //p' "$dir/$1" | tail -1; }

stream events "$nobody" events
check "a stream begins with hello" yes "$(within events 'event: hello')"
for i in 1 2 3 4 5 6; do stream "more$i" "$nobody" events; done
check "streams do not count as connections" 200 "$(code "$nobody" jobs)"
id=$(as nobody sbatch --parsable -o "$dir/work/out" -J told \
  --wrap 'for i in 1 2 3; do echo "line $i"; sleep 1; done; echo é')
check "an event of a start" yes "$(within events '"job_id":'"$id"',.*"state":"RUNNING"')"
check "an event of its node" yes "$(within events '"name":"n1","state":"MIXED"')"
stream output "$nobody" "jobs/$id/log?offset=0"
check "an event of its end" yes "$(within events '"job_id":'"$id"',.*"state":"COMPLETED"')"
check "its output to the end" yes "$(within output 'event: end')"
check "its whole output" $'line 1\nline 2\nline 3\né' "$(sed -n 's/^data: //p' "$dir/output" \
    | python3 -c 'import json,sys; print("".join(json.loads(l).get("text", "") for l in sys.stdin), end="")')"
check "the rest of the output after Last-Event-ID" '"offset":21,"text":"é\n"' \
  "$(curl -sN --max-time 20 -H "X-SLURM-USER-TOKEN: $nobody" \
    -H 'Last-Event-ID: 1.21' "localhost:$rport/muster/v1/jobs/$id/log" | grep -o '"offset":[0-9]*,"text":"[^"]*"')"
turned=$(as nobody sbatch --parsable -o "$dir/work/turned" --wrap \
  "echo first; sleep 2; mv $dir/work/turned $dir/work/turned.1; echo 'longer than before' > $dir/work/turned; sleep 6")
running "$turned" 0.5
stream turned "$nobody" "jobs/$turned/log?offset=0"
check "the output of a replaced file to its end" yes "$(within turned 'event: end')"
check "a replaced file is read from its beginning" '"text":"first\n" event: again "text":"longer than before\n"' \
  "$(grep -o '"text":"[^"]*"\|event: again' "$dir/turned" | paste -sd' ')"
check "another user may not read the output" 403 "$(code "$daemon" "jobs/$id/log")"
check "root may read the output" "line 1" "$(curl -sN --max-time 20 -H "X-SLURM-USER-TOKEN: $root" \
    "localhost:$rport/muster/v1/jobs/$id/log" | grep -o 'line 1')"
check "another user may not read the script" 403 "$(code "$daemon" "jobs/$id/script")"
ln -s /etc/shadow "$dir/work/link"
secret=$(as nobody sbatch --parsable -o /dev/null -e "$dir/work/link" --wrap true) || true
wait_empty
match "an output file that links to a file its user may not read" "Permission denied" \
  "$(code "$nobody" "jobs/$secret/log?stream=stderr" >/dev/null; cat "$dir/answer")"

before=$(last_id events)
scontrol update nodename=n2 state=drain reason=fan
check "an event of a drained node" yes "$(within events '"flags":\["DRAIN"\].*"reason":"fan"')"
stream resumed "$nobody" events -H "Last-Event-ID: $before"
check "a resumed stream has the missed event" yes "$(within resumed '"reason":"fan"')"
check "a resumed stream has no earlier event" "" "$(grep -e '"job_id":'"$id," -e hello "$dir/resumed" || true)"
scontrol update nodename=n2 state=resume

stopped slurmctld
check "an event: slurmctld is away" yes "$(within events 'event: away')"
start_ctld
check "an event: slurmctld is back, reset" yes "$(within events 'event: reset')"
soon '[ "$(sinfo -h -N -o %T | grep -c idle)" = 2 ]'

echo PrivateData=jobs >> "$SLURM_CONF"; scontrol reconfigure
kill "${streams[@]}" 2>/dev/null || true
stream mine "$nobody" events; stream theirs "$daemon" events; stream all "$root" events
for f in mine theirs all; do check "$f begins" yes "$(within $f 'event: hello')"; done
id=$(as nobody sbatch --parsable -o /dev/null -J private --wrap 'sleep 1')
wait_empty
for f in mine all; do
  check "$f: the private job's end" yes "$(within $f '"job_id":'"$id"',.*"state":"COMPLETED"')"
done
id2=$(as daemon sbatch --parsable -D / -o /dev/null -J theirs --wrap true)
check "PrivateData: a user sees an own job" yes "$(within theirs '"job_id":'"$id2"',')"
check "PrivateData: a user sees no job of another user" "" "$(grep -e private "$dir/theirs" || true)"
check "PrivateData: the stream of the first user has no job of the second" "" \
  "$(grep -e '"job_id":'"$id2," "$dir/mine" || true)"
check "PrivateData: lists have no job of another user" "" \
  "$(code "$daemon" jobs >/dev/null; grep -e private "$dir/answer" || true)"
check "PrivateData: its output is not found" 404 "$(code "$daemon" "jobs/$id/log")"
kill "${streams[@]}" 2>/dev/null || true
wait_empty

check "without a token" 401 "$(curl -s -o /dev/null -w '%{http_code}' "localhost:$rport/muster/v1/events")"
link=$(as nobody muster page "localhost:$rport")
match "muster page prints a link" "^http://localhost:$rport/#code=" "$link"
login() {
  curl -s -c "$dir/cookies" -H 'Content-Type: application/json' -d "{\"code\":\"${link#*code=}\"}" \
    "localhost:$rport/muster/v1/session"
}
key=$(login | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
match "a link logs in once" '"status": *"?401|1007' "$(login)"
link=$(as nobody muster page "localhost:$rport"); key=$(login | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
with() { curl -s -o /dev/null -w '%{http_code}' -b "$dir/cookies" "$@"; }
check "the cookie with its key" 200 "$(with -H "X-Muster-Key: $key" "localhost:$rport/slurm/v0.0.45/jobs")"
check "the cookie alone" 403 "$(with "localhost:$rport/slurm/v0.0.45/jobs")"
check "the cookie from another site" 403 \
  "$(with -H "X-Muster-Key: $key" -H 'Sec-Fetch-Site: same-site' "localhost:$rport/slurm/v0.0.45/jobs")"
check "sview prints the link" "http://localhost:$rport/#code=" \
  "$(as nobody env MUSTER_PAGE="localhost:$rport" sview | sed 's/=.*/=/')"
match "muster page without slurmrestd" "no slurmrestd with a page is reached at http://localhost:1:" \
  "$(as nobody muster page localhost:1 2>&1 || true)"

id=$(as nobody sbatch --parsable -o /dev/null -J watched --wrap 'sleep 2')
watched=$(timeout 30 setpriv --reuid=nobody --regid=nogroup --clear-groups -- env SLURM_CONF="$SLURM_CONF" \
  PATH="$PATH" muster watch "$id"
echo "rc=$?")
match "muster watch" "watched.*RUNNING.*n1.*watched.*COMPLETED.*rc=0" "$(echo "$watched" | tr '\n' ' ')"
id=$(sbatch --parsable -o /dev/null --wrap 'sleep 1; exit 3')
check "muster watch exits with 1 for a failed job" 1 "$(timeout 30 muster watch "$id" >/dev/null; echo $?)"
match "muster top" "0 running, 0 waiting.*of 8.*2 idle" "$(muster top | tr '\n' ' ')"
asked() { sdiag | sed -n 's/.*Follow *( *0) *count:\([0-9]*\).*/\1/p' | head -1; }
stream quiet "$root" events
check "the idle stream begins" yes "$(within quiet 'event: hello')"
sleep 3     # 3 s: the new stream's requests are over
a=$(asked)
sleep 6     # 6 s: no request is made within them
b=$(asked)
match "sdiag counts requests of streams" '^[1-9]' "$a"
check "an idle stream makes no request" "$a" "$b"
kill "${streams[@]}" 2>/dev/null || true
