#!/usr/bin/env bash
# Streams of events: readers that stop reading, readers that reconnect, many readers; muster watch and muster top in a
# terminal.
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
soon 'curl -s -o /dev/null "localhost:$rport/"'
curl -s -o /dev/null "localhost:$rport/" || { cat "$dir/log/slurmrestd.log"; exit 1; }
version=$(sed -n 's:.*<version>\([0-9.]*\)</version>.*:\1:p' "$here/../../pom.xml" | head -1)
check "muster --version" "muster $version, in place of $(squeue --version)" "$(muster --version)"
token=$(scontrol token) rc=0
timeout 200 python3 "$here/follow.py" "$rport" "${token#*=}" "$(pid_of slurmrestd)" </dev/null || rc=$?
check "follow.py ends with 0" 0 "$rc"
check "slurmrestd logs no error" 0 "$(grep -c ' error: ' "$dir/log/slurmrestd.log" || true)"
