#!/usr/bin/env bash
# SlurmctldParameters=rl_enable: commands of a user above the rate are delayed and none is lost; root is exempt; a REST
# client gets status 429.
# shows: SlurmctldParameters
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
head -c 32 /dev/urandom > "$dir/jwt.key"; chmod 600 "$dir/jwt.key"
start_cluster 1 4 "AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$dir/jwt.key
SlurmctldParameters=rl_enable,rl_bucket_size=5,rl_refill_rate=2,rl_refill_period=2"
chmod 777 "$dir/work"
as() { setpriv --reuid="$1" --regid=nogroup --clear-groups -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "${@:2}"; }
many() {
  local s e n
  s=$(date +%s%N)
  for n in 1 2 3 4 5 6 7 8 9 10; do
    as "$1" sbatch --parsable -H -D / -o /dev/null --wrap true || true
  done > "$dir/work/out.$1"
  e=$(date +%s%N)
  [ $(((e-s)/1000000)) -ge "$2" ] && [ $(((e-s)/1000000)) -lt 60000 ] && echo yes || echo $(((e-s)/1000000))
}
check "ten submissions of a user are delayed" yes "$(many nobody 2500)"
check "no submission is lost or refused" 10 "$(grep -c '^[0-9]*$' "$dir/work/out.nobody")"
for n in 1 2 3 4 5 6 7 8 9 10; do squeue >/dev/null; done
check "root is not limited" 0 "$(grep -c 'exceeded by uid 0 ' "$dir/log/slurmctld.log" || true)"
match "the log names the user" "RPC rate limit exceeded by uid $(id -u nobody) with [A-Za-z]*, telling to back off" \
  "$(grep exceeded "$dir/log/slurmctld.log" | head -1)"
sed -i 's/rl_refill_rate=2,rl_refill_period=2/rl_refill_rate=1,rl_refill_period=30/' "$SLURM_CONF"; reread
rport=$(free_port)
slurmrestd -u nobody -g nogroup -a rest_auth/jwt "localhost:$rport" </dev/null >"$dir/log/slurmrestd.log" 2>&1 &
echo $! > "$dir/run/slurmrestd.pid"
soon 'curl -s -o /dev/null "localhost:$rport/openapi"'
token=$(scontrol token username=daemon)
ask() {
  curl -s -o "$dir/answer" -w '%{http_code} ' -H "X-SLURM-USER-TOKEN: ${token#*=}" \
    "http://localhost:$rport/slurm/v0.0.45/ping"
}
check "the sixth REST request gets status 429" "200 200 200 200 200 429 " "$(for n in 1 2 3 4 5 6; do ask; done)"
match "the error number of the answer" '"error_number":1804' "$(cat "$dir/answer")"
