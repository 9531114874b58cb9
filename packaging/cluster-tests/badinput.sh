#!/usr/bin/env bash
# Bad input of every kind gets Slurm's sentence and exit code, or a closed connection; the daemons go on.
. "$(dirname "$0")/lib.bash"
start_cluster 1 8
printf '#!/bin/bash\ntrue\n' > ok.sh
printf '   \n' > blank.sh
(echo '#!/bin/bash'; head -c 5000000 /dev/zero | tr '\0' 'x') > big.sh
head -c 300 /dev/urandom > binary.sh
printf 'echo hi\n' > plain.sh
: > empty.sh
printf '#!/bin/bash\r\ntrue\r\n' > dos.sh
# Exit code, a line of the error, command. srun's own lines and those of its tasks come in any order.
while IFS='|' read -r code line command; do
  eval "set -- $command"
  rc=0; timeout 20 "$@" </dev/null >"$dir/out" 2>"$dir/err" || rc=$?
  sed -i -e '/^Try/d' -e "s|^$prefix/bin/||" "$dir/err"
  check "$command" "$code|$line" "$rc|$(grep -m 1 -Fx -- "$line" "$dir/err" || tail -1 "$dir/err")"
done <<'T'
255|sbatch: unrecognized option '--nosuch'|sbatch --nosuch ok.sh
1|sbatch: error: Unable to open file /nonexistent.sh|sbatch /nonexistent.sh
1|sbatch: error: Batch job submission failed: Pathname of a file, directory or other parameter too long|sbatch big.sh
1|sbatch: error: For instance: #!/bin/sh|sbatch plain.sh
1|sbatch: error: For instance: #!/bin/sh|sbatch binary.sh
1|sbatch: error: Batch script is empty!|sbatch empty.sh
1|sbatch: error: instead of expected UNIX line breaks (\n).|sbatch dos.sh
1|sbatch: error: Batch job submission failed: Invalid job array specification|sbatch --array=1-a ok.sh
1|sbatch: error: Batch job submission failed: Invalid job array specification|sbatch --array=5-1 ok.sh
1|sbatch: error: Batch job submission failed: Invalid job array specification|sbatch --array=1-99999999 ok.sh
1|sbatch: error: Batch job submission failed: Invalid node name specified|sbatch -w 'n[1-' ok.sh
1|sbatch: error: Batch job submission failed: Invalid node name specified|sbatch -w nosuch ok.sh
1|sbatch: error: Batch job submission failed: Requested node configuration is not available|sbatch --mem=1T ok.sh
255|sbatch: error: Invalid --mem specification|sbatch --mem=abc ok.sh
255|sbatch: error: Invalid --time specification|sbatch -t abc ok.sh
1|sbatch: error: Batch job submission failed: Invalid partition name specified|sbatch -p nosuch ok.sh
255|sbatch: error: Maximum node count 1 is less than minimum node count 2|sbatch -N 2-1 ok.sh
1|sbatch: error: Invalid numeric value "0" for --ntasks.|sbatch -n 0 ok.sh
1|sbatch: error: Invalid numeric value "-1" for --cpus-per-task.|sbatch -c -1 ok.sh
1|sbatch: error: Invalid generic resource (gres) specification|sbatch --gres=gpu:x:y:z ok.sh
1|sbatch: error: Batch job submission failed: Invalid feature specification|sbatch -C nosuch ok.sh
1|sbatch: error: Batch job submission failed: Job dependency problem|sbatch -d afterok:abc ok.sh
255|sbatch: error: Invalid --begin specification|sbatch --begin=tomorrowish ok.sh
1|sbatch: error: Batch job submission failed: Requested reservation is invalid|sbatch --reservation=nosuch ok.sh
1|sbatch: error: Script arguments not permitted with --wrap option|sbatch --wrap true ok.sh
1|srun: fatal: No command given to execute.|srun
2|srun: error: n1: task 0: Exited with exit code 2|srun /nonexistent
1|srun: error: Invalid numeric value "x" for --ntasks.|srun -n x true
1|srun: error: Could not open stdout file: No such file or directory|srun -o /proc/nonexistent/x true
1|srun: error: task 0 launch failed: Slurmd could not connect IO|srun -i /proc/nonexistent/%t cat
1|srun: error: task 0 launch failed: Slurmd could not connect IO|srun -o /proc/nonexistent/%t true
1|sbatch: error: Batch script contains only whitespace!|sbatch blank.sh
1|sbatch: error: Batch job submission failed: Requested operation not supported on this system|sbatch -d expand:1 ok.sh
1|scancel: error: Invalid job id abc|scancel abc
1|scancel: error: No job identification provided|scancel
1|squeue: unrecognized option '--nosuch'|squeue --nosuch
1|squeue: error: Invalid job id: abc|squeue -j abc
1|slurm_load_jobs error: Invalid job id specified|scontrol show job 99999
1|invalid keyword: nosuch|scontrol nosuch
1|Invalid job id specified for job 99999|scontrol update jobid=99999 name=x
1|slurm_update error: Invalid partition name specified|scontrol update partitionname=nosuch state=up
1|slurm_update error: Invalid node name specified|scontrol update nodename=nosuch state=drain reason=x
T
port=$(sed -n 's/^SlurmctldPort=//p' "$SLURM_CONF")
throw() { # port, bytes from stdin: whatever comes back, the connection ends
  timeout 15 bash -c 'exec 3<>/dev/tcp/127.0.0.1/'"$1"'; cat >&3; exec 3>&-' 2>/dev/null || true
}
for p in "$port" $((port + 1)); do
  for i in $(seq 20); do head -c $((RANDOM * 4)) /dev/urandom | throw "$p" || true; done
  printf 'POST /muster/v1/Submit HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n{"job":' | throw "$p" || true
  printf 'POST /muster/v1/Submit HTTP/1.1\r\nContent-Length: 40\r\n\r\n{"job":' | throw "$p" || true
  printf 'POST /muster/v1/Submit HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\nx' | throw "$p" || true
  (printf 'GET / HTTP/1.1\r\nX: '; head -c 3000000 /dev/zero | tr '\0' 'a') | throw "$p" || true
  printf '\x00\x00\x00\x10%s' garbage | throw "$p" || true
  (printf 'POST /muster/v1/Submit HTTP/1.1\r\nContent-Length: 100000\r\n\r\n'; head -c 100000 /dev/zero | tr '\0' '[') \
    | throw "$p" || true
done
check "slurmctld goes on" UP "$(scontrol ping | grep -o UP)"
check "slurmd goes on" "ran" "$(srun echo ran)"
check "the logs have no exception" 0 \
  "$(grep -ciE 'exception|fatal' "$dir"/log/slurmctld.log "$dir"/log/slurmd-n1.log | awk -F: '{s+=$2} END{print s}')"
