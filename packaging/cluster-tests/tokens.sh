#!/usr/bin/env bash
# Tokens (auth/jwt) for commands and for metrics, the programs of a controller that begins and ends, and whose slurmd it is.
# shows: AuthAltTypes, AuthAltParameters, MetricsType, MetricsParameters, MetricsAuthUsers, PrivateData, CommunicationParameters
# shows: SlurmctldHttpAuthParameters, SlurmctldPrimaryOnProg, SlurmctldPrimaryOffProg, SlurmdUser
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
conf() { sed -i "/^${1%%=*}=/d" "$SLURM_CONF"; [ -z "${1#*=}" ] || echo "$1" >> "$SLURM_CONF"; reread; }
get() { local path=$1; shift; curl -s -o "$dir/page" -w '%{http_code}' "$@" "http://127.0.0.1:$port$path"; }
head -c 32 /dev/urandom > "$dir/jwt.key"; head -c 32 /dev/urandom > "$dir/http.key"; chmod 600 "$dir"/*.key
for p in on off; do printf '#!/bin/bash\nid -un > %s\n' "$dir/said.$p" > "$dir/$p.sh"; chmod 755 "$dir/$p.sh"; done
start_cluster 1 4 "AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$dir/jwt.key,max_token_lifespan=100
SlurmctldPrimaryOnProg=$dir/on.sh
SlurmctldPrimaryOffProg=$dir/off.sh"
chmod 777 "$dir/work"
as() { setpriv --reuid="$1" --regid=nogroup --clear-groups -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "${@:2}"; }
check "SlurmctldPrimaryOnProg" root "$(cat "$dir/said.on")"
match "scontrol token" '^SLURM_JWT=ey[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*$' "$(scontrol token)"
nobodys=$(scontrol token username=nobody lifespan=3600)
check "a token is who it names" nobody \
  "$(cd "$dir/work"; id=$(env "$nobodys" sbatch --parsable -o /dev/null --wrap 'sleep 60'); squeue -h -j "$id" -o %u)"
check "whatever process shows it" nobody \
  "$(id=$(as daemon env "$nobodys" sbatch --parsable -D / -o /dev/null --wrap 'sleep 60'); squeue -h -j "$id" -o %u)"
check "no other user's for a user" "scontrol: error: slurm_fetch_token: error with request: Invalid user id" \
  "$(as nobody scontrol token username=root 2>&1 | head -1)"
match "max_token_lifespan" "Requested time limit is invalid" "$(as nobody scontrol token lifespan=101 2>&1 | head -1)"
match "nobody's own" '^SLURM_JWT=' "$(as nobody scontrol token lifespan=100)"
match "a token that is none" "Protocol authentication error" "$(SLURM_JWT=bad squeue 2>&1 || true)"
match "a token of another key" "Protocol authentication error" "$(SLURM_JWT=${nobodys#*=}x squeue 2>&1 || true)"
brief=$(scontrol token lifespan=1); sleep 2
match "a token whose time is over" "Protocol authentication error" "$(env "$brief" squeue 2>&1 || true)"
scancel -u nobody; wait_empty
check "no metrics unless asked for" 404 "$(get /metrics/jobs)"
conf MetricsType=metrics/openmetrics
srun -Q -n2 sleep 30 & soon '[ -n "$(squeue -h -t R)" ]'; sleep 0.5
for page in jobs jobs-users-accts nodes partitions scheduler; do
  check "/metrics/$page" "200 # EOF" "$(get /metrics/$page) $(tail -1 "$dir/page")"
done
check "/metrics" "200 5" "$(get /metrics) $(grep -c '/metrics/' "$dir/page")"
check "no other page" 404 "$(get /metrics/other)"
sample() { get "$1" >/dev/null; sed -n "s/^$2 //p" "$dir/page"; }
check "slurm_jobs_running, cpus" "1 2" \
  "$(sample /metrics/jobs slurm_jobs_running) $(sample /metrics/jobs slurm_jobs_cpus_alloc)"
check "of a user" 1 "$(sample /metrics/jobs-users-accts 'slurm_user_jobs_running{username="root"}')"
check "of a node" "1 4 2" \
  "$(sample /metrics/nodes slurm_nodes_mixed) $(sample /metrics/nodes 'slurm_node_cpus{node="n1"}') $(sample \
  /metrics/nodes 'slurm_node_cpus_idle{node="n1"}')"
check "of a partition" "1 4194304000" \
  "$(sample /metrics/partitions 'slurm_partition_jobs_running{partition="main"}') $(sample \
  /metrics/partitions 'slurm_partition_nodes_mem_tot{partition="main"}')"
check "of the scheduler" 3 "$(sample /metrics/scheduler slurm_sdiag_jobs_submitted)"
kill %1 2>/dev/null || true; wait 2>/dev/null || true
token() { echo "X-SLURM-USER-TOKEN: ${1#*=}"; }
nobody=$(token "$(scontrol token username=nobody)") daemon=$(token "$(scontrol token username=daemon)") \
  root=$(token "$(scontrol token)")
conf PrivateData=jobs
check "PrivateData closes them but for administrators" "401 403 200" \
  "$(get /metrics) $(get /metrics -H "$nobody") $(get /metrics -H "$root")"
conf MetricsParameters=ignore_private_data
check "MetricsParameters" "200 200" "$(get /metrics/jobs) $(get /metrics/jobs -H "$nobody")"
conf MetricsAuthUsers=nobody
check "MetricsAuthUsers" "401 200 403 200" "$(get /metrics/jobs) $(get /metrics/jobs -H "$nobody") $(get \
    /metrics/jobs -H "$daemon") $(get /metrics/jobs -H "$root")"
check "as Bearer" 200 "$(get /metrics/jobs -H "Authorization: Bearer ${nobody#*: }")"
check "in another's name" "401 200 403" "$(get /metrics -H "$nobody" -H "X-SLURM-USER-NAME: root") $(get \
    /metrics -H "$root" -H "X-SLURM-USER-NAME: nobody") $(get /metrics -H "$root" -H "X-SLURM-USER-NAME: daemon")"
check "a bad token" 401 "$(get /metrics -H "X-SLURM-USER-TOKEN: x.y.z")"
conf MetricsAuthUsers=
conf PrivateData=
check "/livez" 200 "$(get /livez)"
check "/livez of slurmd" 200 "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$((port + 1))/livez")"
conf CommunicationParameters=disable_http
check "CommunicationParameters=disable_http" "404 404" "$(get /metrics) $(get /livez)"
becomes "of slurmd as well" 404 '$(curl -s -o /dev/null -w "%{http_code}" "http://127.0.0.1:$((port + 1))/livez")'
conf CommunicationParameters=
kill "$(pid_of slurmctld)"; n=0; while [ ! -s "$dir/said.off" ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
check "SlurmctldPrimaryOffProg" root "$(cat "$dir/said.off")"; sleep 1
echo "SlurmctldHttpAuthParameters=jwt_key=$dir/http.key" >> "$SLURM_CONF"; start_ctld
check "SlurmctldHttpAuthParameters: another key for pages" 401 "$(get /metrics -H "$nobody")"
kill "$(pid_of slurmd-n1)"; sleep 1; sed -i 's/^SlurmdUser=.*/SlurmdUser=nobody/' "$SLURM_CONF"
match "SlurmdUser" \
  "slurmd: fatal: You are running slurmd as something other than user nobody\(0\). If you want to run as this user add SlurmdUser=root to" \
  "$(timeout 20 slurmd -D -f "$SLURM_CONF" -N n1 </dev/null 2>&1 || true)"
