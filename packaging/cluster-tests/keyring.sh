#!/usr/bin/env bash
# slurm.jwks: several keys of a cluster that are replaced while it runs; a removed key; callers without a valid key.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
secret() { head -c 32 /dev/urandom | base64 -w0 | tr '+/' '-_'; }
a=$(secret) b=$(secret)
key() { printf '{"kty":"oct","alg":"HS256","kid":"%s","k":"%s"%s}' "$1" "$2" "${3:-}"; }
keys() {
  local IFS=,
  echo "{\"keys\":[$*]}" > "$dir/slurm.jwks.new"
  chmod 600 "$dir/slurm.jwks.new"
  mv "$dir/slurm.jwks.new" "$dir/slurm.jwks"
  sleep 1    # 1 s: the daemons look at the file every 0.5 s
}
works() {
  local id
  id=$(sbatch --parsable -o /dev/null --wrap 'srun true') && wait_empty && sacct -X -n -j "$id" -o State | xargs
}
as_nobody() {
  (cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "$@" 2>&1)
}
echo broken > "$dir/slurm.jwks"; chmod 600 "$dir/slurm.jwks"
printf 'ClusterName=test\nSlurmctldHost=localhost\nStateSaveLocation=%s\nNodeName=n1\nPartitionName=p Nodes=n1\n' \
  "$dir" > "$SLURM_CONF"
match "an invalid slurm.jwks is refused at the start" "slurm.jwks: it is no JSON" \
  "$(slurmctld -D -f "$SLURM_CONF" 2>&1 </dev/null | head -5 || true)"
keys "$(key a "$a")"
start_cluster 2 4
check "slurmctld generates no slurm.key" no "$([ -e "$dir/state/slurm.key" ] && echo yes || echo no)"
check "a cluster with one key works" COMPLETED "$(works)"
check "a command of another user is authenticated" nobody "$(as_nobody squeue -h -o %u >/dev/null && echo nobody)"
keys "$(key a "$a" ',"use":"default"')" "$(key b "$b")"
check "a cluster with an additional key works" COMPLETED "$(works)"
keys "$(key a "$a")" "$(key b "$b" ',"use":"default"')"
check "a cluster with another default key works" COMPLETED "$(works)"
sleep 32    # 32 s: credentials of the former key expire
keys "$(key b "$b")"
check "a cluster without the former key works" COMPLETED "$(works)"
check "a command of another user is authenticated with the new key" nobody \
  "$(as_nobody squeue -h -o %u >/dev/null && echo nobody)"
stopped slurmd-n2; start_node n2
soon 'sinfo -h -n n2 -o %T | grep -q "^idle$"'
check "a restarted slurmd registers with the new key" idle "$(sinfo -h -n n2 -o %T)"
mkdir "$dir/other"
sed "s#^StateSaveLocation=.*#StateSaveLocation=$dir/other#;s#PidFile=.*/#PidFile=$dir/other/#" \
  "$SLURM_CONF" > "$dir/other/slurm.conf"
echo "{\"keys\":[$(key a "$a")]}" > "$dir/other/slurm.jwks"; chmod 600 "$dir/other/slurm.jwks"
match "a caller with the former key is refused" "Protocol authentication error" \
  "$(SLURM_CONF=$dir/other/slurm.conf squeue 2>&1 || true)"
echo broken > "$dir/slurm.jwks"
sleep 1    # 1 s: the daemons look at the file every 0.5 s
check "the daemons keep their keys when the file becomes invalid" COMPLETED "$(works)"
