#!/usr/bin/env bash
# auth/munge, with another munged for slurmdbd. Needs root and munged.
# shows: AccountingStoragePass, AuthInfo
. "$(dirname "$0")/lib.bash"
if ! command -v munged >/dev/null || [ "$(id -u)" != 0 ]; then echo "skipped: no munged, or not root"; exit 0; fi
mkdir -p "$dir/run" "$dir/log"
for m in cluster global; do
  mkdir "$dir/$m"; head -c 1024 /dev/urandom > "$dir/$m/key"; chmod 600 "$dir/$m/key"
  munged --force --key-file="$dir/$m/key" --socket="$dir/$m/s" --pid-file="$dir/run/munge-$m.pid" \
    --log-file="$dir/log/munge-$m.log" --seed-file="$dir/$m/seed" </dev/null >>"$dir/log/munged" 2>&1
done
prepare_dbd; rm -f "$dir/slurm.key"
sed -i "s|^AuthType=.*|AuthType=auth/munge\nAuthInfo=socket=$dir/global/s|" "$dir/slurmdbd.conf"
start_dbd
auth="AuthInfo=socket=$dir/cluster/s"
eval "$(declare -f write_conf | sed 's/AuthType=auth\/slurm/AuthType=auth\/munge/')"
start_cluster 1 2 "$accounting
$auth
AccountingStoragePass=$dir/global/s
SlurmctldParameters=enable_configless"
sacctmgr -i add cluster test >/dev/null 2>&1 || true
check "a job by munge" n1 "$(timeout 30 srun -Q printenv SLURMD_NODENAME </dev/null)"
becomes "slurmdbd accepts the other munged's credentials" "127.0.0.1" \
  '"$(sacctmgr -nP show cluster format=controlhost 2>&1 | head -1)"'
check "sreport refuses an unknown field" " Unknown field 'nosuch'" \
  "$(sreport -nP cluster utilization format=nosuch 2>&1 | head -1)"
check "sreport reaches slurmdbd" 0 \
  "$(sreport -nP cluster utilization format=cluster,nosuch 2>&1 | grep -c 'command service failed')"
stopped slurmd-n1
configless() {
  (unset SLURM_CONF; slurmd --conf-server "127.0.0.1:$port" --authinfo "$1" -N n1 -d "$prefix/sbin/slurmstepd" \
    </dev/null 2>&1)
}
match "--authinfo: an unknown word" "--authinfo: colour is not supported" "$(configless colour)"
configless "socket=$dir/cluster/s" >>"$dir/log/start.out"
becomes "slurmd --authinfo: its munged vouches before there is a configuration" n1 \
  '"$(timeout 30 srun -Q printenv SLURMD_NODENAME </dev/null)"'
sed -i '/^AccountingStoragePass/d' "$SLURM_CONF"
match "slurmdbd refuses the cluster's munged" 'rror' "$(sacctmgr -nP show cluster format=controlhost 2>&1 | head -1)"
