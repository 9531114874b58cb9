#!/usr/bin/env bash
# slurm.jwks: several keys of a cluster, exchanged while it runs; a key that has come to its end; nobody without one
# of them gets in.
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
  sleep 1
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
match "a file that is none" "slurm.jwks: it is no JSON" \
  "$(slurmctld -D -f "$SLURM_CONF" 2>&1 </dev/null | head -5 || true)"
keys "$(key a "$a")"
start_cluster 2 4
check "no other key was made" no "$([ -e "$dir/state/slurm.key" ] && echo yes || echo no)"
check "one key" COMPLETED "$(works)"
check "others are vouched for" nobody "$(as_nobody squeue -h -o %u >/dev/null && echo nobody)"
keys "$(key a "$a" ',"use":"default"')" "$(key b "$b")"
check "a new one is known" COMPLETED "$(works)"
keys "$(key a "$a")" "$(key b "$b" ',"use":"default"')"
check "it is used" COMPLETED "$(works)"
sleep 32    # what was vouched for with the old one is over
keys "$(key b "$b")"
check "the old one has gone" COMPLETED "$(works)"
check "for others as well" nobody "$(as_nobody squeue -h -o %u >/dev/null && echo nobody)"
stopped slurmd-n2; start_node n2
n=0; until sinfo -h -n n2 -o %T | grep -q '^idle$' || [ $n -gt 100 ]; do n=$((n+1)); sleep 0.2; done
check "a node that comes anew" idle "$(sinfo -h -n n2 -o %T)"
mkdir "$dir/other"
sed "s#^StateSaveLocation=.*#StateSaveLocation=$dir/other#;s#PidFile=.*/#PidFile=$dir/other/#" \
  "$SLURM_CONF" > "$dir/other/slurm.conf"
echo "{\"keys\":[$(key a "$a")]}" > "$dir/other/slurm.jwks"; chmod 600 "$dir/other/slurm.jwks"
match "who has the old one is a stranger" "Protocol authentication error" \
  "$(SLURM_CONF=$dir/other/slurm.conf squeue 2>&1 || true)"
echo broken > "$dir/slurm.jwks"; sleep 1
check "a broken file takes nothing from the daemons" COMPLETED "$(works)"
