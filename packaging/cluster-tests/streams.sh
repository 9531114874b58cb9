#!/usr/bin/env bash
# What happens, as it happens: slurmrestd's streams by curl, who sees whose jobs and output, sessions, muster watch, top and page.
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
n=0
until curl -s -o /dev/null "localhost:$rport/"; do
  n=$((n+1))
  [ $n -lt 100 ] || { cat "$dir/log/slurmrestd.log"; exit 1; }
  sleep 0.2
done
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
within() {
  local n=0
  until grep -q -e "$2" "$dir/$1"; do
    n=$((n+1))
    [ $n -lt 100 ] || { echo "no $2: $(tail -c 300 "$dir/$1")"; return; }
    sleep 0.1
  done
  echo yes
}
last_id() { sed -n 's/^id: //p' "$dir/$1" | tail -1; }

stream events "$nobody" events
check "it begins" yes "$(within events 'event: hello')"
for i in 1 2 3 4 5 6; do stream "more$i" "$nobody" events; done
check "streams take no place of other connections" 200 "$(code "$nobody" jobs)"
id=$(as nobody sbatch --parsable -o "$dir/work/out" -J told \
  --wrap 'for i in 1 2 3; do echo "line $i"; sleep 1; done; echo é')
check "a start" yes "$(within events '"job_id":'"$id"',.*"state":"RUNNING"')"
check "its node" yes "$(within events '"name":"n1","state":"MIXED"')"
stream output "$nobody" "jobs/$id/log?offset=0"
check "its end" yes "$(within events '"job_id":'"$id"',.*"state":"COMPLETED"')"
check "its output, to the end" yes "$(within output 'event: end')"
check "whole" $'line 1\nline 2\nline 3\né' "$(sed -n 's/^data: //p' "$dir/output" \
    | python3 -c 'import json,sys; print("".join(json.loads(l).get("text", "") for l in sys.stdin), end="")')"
check "from where it was" '"offset":21,"text":"é\n"' "$(curl -sN --max-time 20 -H "X-SLURM-USER-TOKEN: $nobody" \
    -H 'Last-Event-ID: 1.21' "localhost:$rport/muster/v1/jobs/$id/log" | grep -o '"offset":[0-9]*,"text":"[^"]*"')"
turned=$(as nobody sbatch --parsable -o "$dir/work/turned" --wrap \
  "echo first; sleep 2; mv $dir/work/turned $dir/work/turned.1; echo 'longer than before' > $dir/work/turned; sleep 6")
running "$turned" 0.5
stream turned "$nobody" "jobs/$turned/log?offset=0"
check "a file that another one has replaced, to its end" yes "$(within turned 'event: end')"
check "is read from its beginning" '"text":"first\n" event: again "text":"longer than before\n"' \
  "$(grep -o '"text":"[^"]*"\|event: again' "$dir/turned" | paste -sd' ')"
check "others do not read it" 403 "$(code "$daemon" "jobs/$id/log")"
check "root does" "line 1" "$(curl -sN --max-time 20 -H "X-SLURM-USER-TOKEN: $root" \
    "localhost:$rport/muster/v1/jobs/$id/log" | grep -o 'line 1')"
check "nor its script" 403 "$(code "$daemon" "jobs/$id/script")"
ln -s /etc/shadow "$dir/work/link"
secret=$(as nobody sbatch --parsable -o /dev/null -e "$dir/work/link" --wrap true) || true
wait_empty
match "a link to what its user may not read" "Permission denied" \
  "$(code "$nobody" "jobs/$secret/log?stream=stderr" >/dev/null; cat "$dir/answer")"

before=$(last_id events)
scontrol update nodename=n2 state=drain reason=fan
check "a drained node" yes "$(within events '"flags":\["DRAIN"\].*"reason":"fan"')"
stream resumed "$nobody" events -H "Last-Event-ID: $before"
check "who comes back gets what was missed" yes "$(within resumed '"reason":"fan"')"
check "and nothing before it" "" "$(grep -e '"job_id":'"$id," -e hello "$dir/resumed" || true)"
scontrol update nodename=n2 state=resume

kill "$(pid_of slurmctld)"; while kill -0 "$(pid_of slurmctld)" 2>/dev/null; do sleep 0.1; done
check "slurmctld is away" yes "$(within events 'event: away')"
start_ctld
check "and back: begin anew" yes "$(within events 'event: reset')"
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
check "his own" yes "$(within theirs '"job_id":'"$id2"',')"
check "and nobody else's" "" "$(grep -e private "$dir/theirs"; grep -e '"job_id":'"$id2," "$dir/mine" || true)"
check "nor in lists" "" "$(code "$daemon" jobs >/dev/null; grep -e private "$dir/answer" || true)"
check "nor its output" 404 "$(code "$daemon" "jobs/$id/log")"
kill "${streams[@]}" 2>/dev/null || true
wait_empty

check "without a token" 401 "$(curl -s -o /dev/null -w '%{http_code}' "localhost:$rport/muster/v1/events")"
link=$(as nobody muster page "localhost:$rport")
match "a link" "^http://localhost:$rport/#code=" "$link"
login() {
  curl -s -c "$dir/cookies" -H 'Content-Type: application/json' -d "{\"code\":\"${link#*code=}\"}" \
    "localhost:$rport/muster/v1/session"
}
key=$(login | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
match "logs in once" '"status": *"?401|1007' "$(login)"
link=$(as nobody muster page "localhost:$rport"); key=$(login | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
with() { curl -s -o /dev/null -w '%{http_code}' -b "$dir/cookies" "$@"; }
check "the cookie with its key" 200 "$(with -H "X-Muster-Key: $key" "localhost:$rport/slurm/v0.0.45/jobs")"
check "alone" 403 "$(with "localhost:$rport/slurm/v0.0.45/jobs")"
check "from elsewhere" 403 \
  "$(with -H "X-Muster-Key: $key" -H 'Sec-Fetch-Site: same-site' "localhost:$rport/slurm/v0.0.45/jobs")"
check "sview is the page" "http://localhost:$rport/#code=" \
  "$(as nobody env MUSTER_PAGE="localhost:$rport" sview | sed 's/=.*/=/')"
match "where nothing listens" "no slurmrestd with a page is reached at http://localhost:1:" \
  "$(as nobody muster page localhost:1 2>&1 || true)"

id=$(as nobody sbatch --parsable -o /dev/null -J watched --wrap 'sleep 2')
watched=$(timeout 30 setpriv --reuid=nobody --regid=nogroup --clear-groups -- env SLURM_CONF="$SLURM_CONF" \
  PATH="$PATH" muster watch "$id"
echo "rc=$?")
match "muster watch" "watched.*RUNNING.*n1.*watched.*COMPLETED.*rc=0" "$(echo "$watched" | tr '\n' ' ')"
id=$(sbatch --parsable -o /dev/null --wrap 'sleep 1; exit 3')
check "how it ended" 1 "$(timeout 30 muster watch "$id" >/dev/null; echo $?)"
match "muster top" "0 running, 0 waiting.*of 8.*2 idle" "$(muster top | tr '\n' ' ')"
asked() { sdiag | sed -n 's/.*Follow *( *0) *count:\([0-9]*\).*/\1/p' | head -1; }
stream quiet "$root" events
check "quiet begins" yes "$(within quiet 'event: hello')"
sleep 3; a=$(asked); sleep 6; b=$(asked)
match "streams are counted" '^[1-9]' "$a"
check "nothing is asked while nothing happens" "$a" "$b"
kill "${streams[@]}" 2>/dev/null || true
