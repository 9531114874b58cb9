#!/usr/bin/env bash
# The pages for users: each block of code marked "bash" in the pages below runs as it is, page by page, on a cluster
# with accounting and GPUs.
# A page's blocks run in one shell, in order, with set -e; blocks marked otherwise ("sh", "text") are for reading, or
# need another host or root.
. "$(dirname "$0")/lib.bash"
docs=$(cd "$(dirname "$0")/../../docs" && pwd)
pages=${*:2}
pages=${pages:-quickstart jobs arrays gpus containers mpi ai accounting troubleshooting monitoring migrate}
prepare_dbd; start_dbd
for g in 0 1; do touch "$dir/gpu$g"; done
printf 'Name=gpu Type=a100 File=%s/gpu[0-1]\n' "$dir" > "$dir/gres.conf"
head -c 32 /dev/urandom > "$dir/jwt.key"; chmod 600 "$dir/jwt.key"
sacctmgr -i add cluster test >/dev/null
start_cluster 2 8 "$accounting
AccountingStorageTRES=gres/gpu
PriorityType=priority/multifactor
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$dir/jwt.key
MetricsType=metrics/openmetrics
GresTypes=gpu
NodeName=DEFAULT Gres=gpu:a100:2"

blocks() {
  awk '/^ *```/ { if (on) { on = 0; next } on = ($1 == "```bash"); next } on { sub(/^   /, ""); print }' "$1"
}
for page in $pages; do
  mkdir -p "$dir/work/$page"; cd "$dir/work/$page"
  { echo 'set -euo pipefail'; blocks "$docs/$page.md"; } > "$dir/$page.sh"
  match "$page.md has steps" '[1-9]' "$(($(wc -l < "$dir/$page.sh") - 1))"
  if bash "$dir/$page.sh" > "$dir/log/$page.out" 2>&1 </dev/null; then echo "ok   the steps of $page.md"
  else echo "FAIL the steps of $page.md"; tail -n 20 "$dir/log/$page.out"; fails=$((fails+1)); fi
  scancel -u "$(id -un)"; wait_empty
done
