#!/usr/bin/env bash
# Who looks on: streams of events with readers that stop reading, that come back, and that are many; muster watch and
# muster top in a terminal.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
head -c 32 /dev/urandom > "$dir/jwt.key"; chmod 600 "$dir/jwt.key"
start_cluster 2 4 "AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$dir/jwt.key"
chmod 777 "$dir/work"
rport=$(free_port)
slurmrestd -u nobody -g nogroup -a rest_auth/jwt "localhost:$rport" </dev/null >"$dir/log/slurmrestd.log" 2>&1 &
echo $! > "$dir/run/slurmrestd.pid"
n=0; until curl -s -o /dev/null "localhost:$rport/"; do n=$((n+1)); \
  [ $n -lt 100 ] || { cat "$dir/log/slurmrestd.log"; exit 1; }; sleep 0.2; done
check "muster tells its own version" \
  "muster $(sed -n 's:.*<version>\([0-9.]*\)</version>.*:\1:p' "$here/../../pom.xml" \
    | head -1), in place of $(squeue --version)" "$(muster --version)"
token=$(scontrol token) rc=0
timeout 200 python3 "$here/follow.py" "$rport" "${token#*=}" "$(pid_of slurmrestd)" </dev/null || rc=$?
check "all of it" 0 "$rc"
check "no error of its own" 0 "$(grep -c ' error: ' "$dir/log/slurmrestd.log" || true)"
