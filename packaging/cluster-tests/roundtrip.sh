#!/usr/bin/env bash
# Every field that the REST API can change is set over REST and read back by the commands. A posted answer of a GET
# changes nothing.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
command -v python3 >/dev/null || { echo "skipped: needs python3"; exit 0; }
prepare_dbd
head -c 32 /dev/urandom > "$dir/jwt.key"; chmod 600 "$dir/jwt.key"
tokens="AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$dir/jwt.key"
printf '%s\nTrackWCKey=yes\n' "$tokens" >> "$dir/slurmdbd.conf"
start_dbd
echo "SwitchName=s1 Nodes=n[1-4]" > "$dir/topology.conf"
start_cluster 4 4 "$accounting
$tokens
TrackWCKey=yes
GresTypes=gpu
AccountingStorageTRES=gres/gpu
Licenses=fluent:10
PriorityType=priority/multifactor
RebootProgram=/bin/true
PrologFlags=Contain
TopologyPlugin=topology/tree
NodeName=DEFAULT Feature=big Gres=gpu:4"
chmod 777 "$dir/work"
rport=$(free_port)
slurmrestd -u nobody -g nogroup "localhost:$rport" </dev/null >"$dir/log/slurmrestd.log" 2>&1 &
echo $! > "$dir/run/slurmrestd.pid"
soon 'curl -s -o /dev/null "localhost:$rport/openapi"'
token=$(scontrol token)
result=0
python3 "$here/roundtrip.py" "http://localhost:$rport" "${token#*=}" > "$dir/log/roundtrip" 2>&1 </dev/null || result=$?
grep -E '^(FAIL|Traceback|[A-Za-z]*Error)' "$dir/log/roundtrip" || true
match "number of fields" '^2[0-9][0-9]$' "$(grep -c '^ok' "$dir/log/roundtrip")"
check "roundtrip.py" 0 "$result"
check "slurmrestd logs no error" 0 "$(grep -c ' error: ' "$dir/log/slurmrestd.log" || true)"
