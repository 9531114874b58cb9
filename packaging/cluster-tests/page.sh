#!/usr/bin/env bash
# The web page in a real browser: log in by a link, browse, follow events, submit, cancel, drain; with 10,000 nodes and
# 100,000 jobs.
here=$(cd "$(dirname "$0")" && pwd)
MUSTER_TEST_LIMIT_S=${MUSTER_TEST_LIMIT_S:-400}
. "$here/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
{ command -v chromium && command -v chromedriver; } >/dev/null || {
  echo "skipped: needs chromium and chromedriver (Debian: chromium, chromium-driver)"
  exit 0
}
head -c 32 /dev/urandom > "$dir/jwt.key"; chmod 600 "$dir/jwt.key"
prepare_dbd
printf 'AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key=%s\n' "$dir/jwt.key" >> "$dir/slurmdbd.conf"
start_dbd
sacctmgr -i add cluster test >/dev/null
cat > "$dir/topology.conf" <<C
SwitchName=s1 Nodes=n[1-2]
SwitchName=s2 Nodes=n3
SwitchName=s3 Nodes=x[1-${PAGE_NODES:-10000}]
SwitchName=top Switches=s[1-3]
C
start_cluster 3 8 "$accounting
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$dir/jwt.key
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
TopologyPlugin=topology/tree
NodeName=x[1-${PAGE_NODES:-10000}] NodeAddr=127.0.0.1 CPUs=64 RealMemory=256000 State=DOWN
PartitionName=huge Nodes=x[1-${PAGE_NODES:-10000}]"
chmod 777 "$dir/work"
at=$(($(date +%s) - 40 * 86400))
cat > "$dir/past.sql" <<C
insert into job_table (jobid, cluster, account, uid, submit, eligible, start, end, state, name)
values ('900001', 'test', 'past', '65534', $at, $at, $((at + 60)), $((at + 600)), '5', 'long-gone');
C
sacctmgr -i archive load "$dir/past.sql" >/dev/null
rport=$(free_port)
slurmrestd -u nobody -g nogroup -a rest_auth/jwt "localhost:$rport" </dev/null >"$dir/log/slurmrestd.log" 2>&1 &
echo $! > "$dir/run/slurmrestd.pid"
soon 'curl -s -o /dev/null "localhost:$rport/"'
rc=0
timeout 340 python3 "$here/page.py" "http://localhost:$rport" "$dir" $((rport + 1)) </dev/null || rc=$?
check "page.py" 0 "$rc"
