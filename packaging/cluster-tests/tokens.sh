#!/usr/bin/env bash
# Tokens (auth/jwt) for commands and for metrics, SlurmctldPrimaryOnProg and -OffProg, and SlurmdUser.
# shows: AuthAltTypes, AuthAltParameters, MetricsType, MetricsParameters, MetricsAuthUsers, PrivateData
# shows: CommunicationParameters, SlurmctldHttpAuthParameters, SlurmctldPrimaryOnProg, SlurmctldPrimaryOffProg
# shows: SlurmdUser
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
id=$(cd "$dir/work"; env "$nobodys" sbatch --parsable -o /dev/null --wrap 'sleep 60')
check "a job submitted with a token is its user's" nobody "$(squeue -h -j "$id" -o %u)"
id=$(as daemon env "$nobodys" sbatch --parsable -D / -o /dev/null --wrap 'sleep 60')
check "a token counts more than the process's user" nobody "$(squeue -h -j "$id" -o %u)"
check "a user gets no token of another user" "scontrol: error: slurm_fetch_token: error with request: Invalid user id" \
  "$(as nobody scontrol token username=root 2>&1 | head -1)"
match "max_token_lifespan" "Requested time limit is invalid" "$(as nobody scontrol token lifespan=101 2>&1 | head -1)"
match "a user gets an own token" '^SLURM_JWT=' "$(as nobody scontrol token lifespan=100)"
match "a bad token" "Protocol authentication error" "$(SLURM_JWT=bad squeue 2>&1 || true)"
match "a token of another key" "Protocol authentication error" "$(SLURM_JWT=${nobodys#*=}x squeue 2>&1 || true)"
brief=$(scontrol token lifespan=1)
sleep 2     # 2 s: the token's lifespan ends
match "an expired token" "Protocol authentication error" "$(env "$brief" squeue 2>&1 || true)"
scancel -u nobody; wait_empty
check "no metrics without MetricsType" 404 "$(get /metrics/jobs)"
conf MetricsType=metrics/openmetrics
sample() { get "$1" >/dev/null; sed -n "s/^$2 //p" "$dir/page"; }
srun -Q -n2 sleep 30 & soon '[ "$(sample /metrics/jobs slurm_jobs_running)" = 1 ]'
for page in jobs jobs-users-accts nodes partitions scheduler; do
  check "/metrics/$page" "200 # EOF" "$(get /metrics/$page) $(tail -1 "$dir/page")"
done
check "/metrics" "200 5" "$(get /metrics) $(grep -c '/metrics/' "$dir/page")"
check "an unknown metrics page" 404 "$(get /metrics/other)"
figure() { check "$3 at $2" "$1" "$(sample "$2" "$3")"; }     # value, page, name of the metric
figure 1 /metrics/jobs slurm_jobs_running
figure 2 /metrics/jobs slurm_jobs_cpus_alloc
figure 1 /metrics/jobs-users-accts 'slurm_user_jobs_running{username="root"}'
figure 1 /metrics/nodes slurm_nodes_mixed
figure 4 /metrics/nodes 'slurm_node_cpus{node="n1"}'
figure 2 /metrics/nodes 'slurm_node_cpus_idle{node="n1"}'
figure 1 /metrics/partitions 'slurm_partition_jobs_running{partition="main"}'
figure 4194304000 /metrics/partitions 'slurm_partition_nodes_mem_tot{partition="main"}'
figure 3 /metrics/scheduler slurm_sdiag_jobs_submitted
kill %1 2>/dev/null || true; wait 2>/dev/null || true
token() { echo "X-SLURM-USER-TOKEN: ${1#*=}"; }
nobody=$(token "$(scontrol token username=nobody)") daemon=$(token "$(scontrol token username=daemon)") \
  root=$(token "$(scontrol token)")
conf PrivateData=jobs
check "PrivateData: metrics without a token" 401 "$(get /metrics)"
check "PrivateData: metrics of a user" 403 "$(get /metrics -H "$nobody")"
check "PrivateData: metrics of an administrator" 200 "$(get /metrics -H "$root")"
conf MetricsParameters=ignore_private_data
check "ignore_private_data: metrics without a token" 200 "$(get /metrics/jobs)"
check "ignore_private_data: metrics of a user" 200 "$(get /metrics/jobs -H "$nobody")"
conf MetricsAuthUsers=nobody
check "MetricsAuthUsers: without a token" 401 "$(get /metrics/jobs)"
check "MetricsAuthUsers: a named user" 200 "$(get /metrics/jobs -H "$nobody")"
check "MetricsAuthUsers: another user" 403 "$(get /metrics/jobs -H "$daemon")"
check "MetricsAuthUsers: an administrator" 200 "$(get /metrics/jobs -H "$root")"
check "a Bearer token" 200 "$(get /metrics/jobs -H "Authorization: Bearer ${nobody#*: }")"
check "a user in root's name" 401 "$(get /metrics -H "$nobody" -H "X-SLURM-USER-NAME: root")"
check "root in a named user's name" 200 "$(get /metrics -H "$root" -H "X-SLURM-USER-NAME: nobody")"
check "root in another user's name" 403 "$(get /metrics -H "$root" -H "X-SLURM-USER-NAME: daemon")"
check "a bad token" 401 "$(get /metrics -H "X-SLURM-USER-TOKEN: x.y.z")"
conf MetricsAuthUsers=
conf PrivateData=
check "/livez" 200 "$(get /livez)"
check "/livez of slurmd" 200 "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$((port + 1))/livez")"
conf CommunicationParameters=disable_http
check "disable_http: /metrics" 404 "$(get /metrics)"
check "disable_http: /livez" 404 "$(get /livez)"
becomes "disable_http: /livez of slurmd" 404 \
  '$(curl -s -o /dev/null -w "%{http_code}" "http://127.0.0.1:$((port + 1))/livez")'
conf CommunicationParameters=
stopped slurmctld
soon '[ -s "$dir/said.off" ]'
check "SlurmctldPrimaryOffProg" root "$(cat "$dir/said.off")"
echo "SlurmctldHttpAuthParameters=jwt_key=$dir/http.key" >> "$SLURM_CONF"; start_ctld
check "SlurmctldHttpAuthParameters: another key for pages" 401 "$(get /metrics -H "$nobody")"
stopped slurmd-n1
sed -i 's/^SlurmdUser=.*/SlurmdUser=nobody/' "$SLURM_CONF"
pattern="You are running slurmd as something other than user nobody\(0\)."
match "SlurmdUser" "slurmd: fatal: $pattern If you want to run as this user add SlurmdUser=root to" \
  "$(timeout 20 slurmd -D -f "$SLURM_CONF" -N n1 </dev/null 2>&1 || true)"
