#!/usr/bin/env bash
# cli_filter.lua: the site's script before and after a submission.
. "$(dirname "$0")/lib.bash"
start_cluster 1 4 "CliFilterPlugins=cli_filter/lua"
cat > "$dir/cli_filter.lua" <<'L'
function slurm_cli_setup_defaults(o, early) o.time = '7' return slurm.SUCCESS end
function slurm_cli_pre_submit(o, off)
  if o.comment == 'bad' then slurm.log_error('no %s here', o.comment) return slurm.ERROR end
  o.comment = string.format('%s %.2f', o.type, 2)
  local pipe = io.popen('echo quota') slurm.cli_store(off, pipe:read('*l')) pipe:close()
  return slurm.SUCCESS
end
function slurm_cli_post_submit(off, job, step)
  slurm.log_info('%s of %d', slurm.cli_retrieve(off), job)
  return slurm.SUCCESS
end
L
one() { scontrol -o show job "$1"; }
out=$(sbatch -H --wrap true 2>&1)
check "the script's messages come before the submission" "sbatch: lua: quota of 1 Submitted batch job 1" \
  "$(xargs <<<"$out")"
match "the script sets fields of the job" 'TimeLimit=00:07:00 .*Comment=sbatch 2.00' "$(one 1)"
sbatch -Q -H -t 9 --wrap true 2>/dev/null
match "the command line overrides the script's defaults" 'TimeLimit=00:09:00' "$(one 2)"
set +e
err=$(sbatch --comment=bad --wrap true 2>&1)
check "the script refuses a job" \
  "1 sbatch: error: lua: no bad here sbatch: error: cli_filter plugin terminated with error" "$? $(xargs <<<"$err")"
set -e
scancel 1 2
match "the script runs for srun" 'Comment=srun 2.00' \
  "$(srun -n1 sh -c 'scontrol -o show job $SLURM_JOB_ID' 2>/dev/null)"
if [ "$(id -u)" = 0 ]; then
  match "the script runs for an ordinary user" 'sbatch: lua: quota of [0-9]+' \
    "$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups sbatch -o /dev/null --wrap true 2>&1)"
fi
match "the script runs for a step in an allocation" 'srun: lua: quota of [0-9]+' \
  "$(salloc -Q sh -c 'srun -n1 true' 2>&1 | grep srun)"
mv "$dir/cli_filter.lua" "$dir/elsewhere.lua"
set +e
match "a missing script is an error" 'Unable to stat .*cli_filter.lua' "$(sbatch --wrap true 2>&1)"
set -e
echo "CliFilterParameters=cli_filter_lua_path=$dir/elsewhere.lua" >> "$SLURM_CONF"
match "cli_filter_lua_path is the path of the script" 'quota of' "$(sbatch -H --wrap true 2>&1)"
