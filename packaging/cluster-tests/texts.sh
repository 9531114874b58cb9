#!/usr/bin/env bash
# What accounting keeps of a job beside its numbers: script, environment, comment, key. In slurmctld's own tables, and in slurmdbd's.
# shows: AccountingStoreFlags, TrackWCKey
. "$(dirname "$0")/lib.bash"
me=$(id -un)
line=$(printf -- '-%.0s' $(seq 80))
kept() { # where: the same of either kind of tables
  printf '#!/bin/sh\necho hello\n' > "$dir/job.sh"
  local j k
  j=$(WHAT=ever sbatch --parsable --comment=why --extra=more -o /dev/null "$dir/job.sh")
  k=$(sbatch --parsable --export=NONE -o /dev/null "$dir/job.sh"); wait_empty
  check "$1: the script" "Batch Script for $j
$line
#!/bin/sh
echo hello" "$(sacct -j "$j" --batch-script)"
  check "$1: without a header" "#!/bin/sh|echo hello" "$(sacct -n -j "$j" --batch-script | paste -sd '|')"
  check "$1: of two jobs" 2 "$(sacct -B -j "$j,$k" | grep -c '^echo hello$')"
  match "$1: the environment" "^Environment used for $j .must be batch to display." \
    "$(sacct -j "$j" --env-vars | head -1)"
  check "$1: a variable in it" 1 "$(sacct -j "$j" --env-vars | grep -c '^WHAT=ever$')"
  check "$1: not of the other job" 0 "$(sacct -j "$k" --env-vars | grep -c '^WHAT=ever$' || true)"
  srun -J direct true
  check "$1: a job without a script" NONE "$(sacct -X -B -j "$(sacct -n -X -P -o JobID --name=direct)" | tail -n +3 \
      | head -1)"
  check "$1: the comments" "why|more" "$(sacct -n -X -P -j "$j" -o Comment,Extra)"
}
start_cluster 1 4 "AccountingStoreFlags=job_comment,job_env,job_extra,job_script"
kept slurmctld
match "no job, no script" "When requesting job scripts you must also request specific jobs with the '-j' option." \
  "$(sacct -B 2>&1)"
j=$(sacct -n -X -P -o JobID | head -1)
kill -9 "$(pid_of slurmctld)"; start_ctld
check "after a kill" 1 "$(sacct -B -j "$j" | grep -c '^echo hello$')"
sed -i '/^AccountingStoreFlags/d' "$SLURM_CONF"; scontrol reconfigure
j=$(sbatch --parsable --comment=why -o /dev/null "$dir/job.sh"); wait_empty
check "without the flags nothing is kept" "NONE" "$(sacct -B -j "$j" | sed -n 3p)"
check "nor the comment" "" "$(sacct -n -X -P -j "$j" -o Comment)"
stop_cluster
rm -rf "$dir/state" "$dir/spool"
prepare_dbd
start_dbd
sacctmgr -i add cluster test >/dev/null
sacctmgr -i add account lab >/dev/null
sacctmgr -i add user "$me" account=lab >/dev/null 2>&1 || true
sacctmgr -i add user "$me" wckey=blue >/dev/null
sacctmgr -i modify user "$me" set defaultwckey=blue >/dev/null
start_cluster 1 4 "$accounting
AccountingStorageEnforce=wckeys
AccountingStoreFlags=job_comment,job_env,job_extra,job_script"
kept slurmdbd
check "a key that is not the user's" "sbatch: error: Batch job submission failed: Invalid wckey specification" \
  "$(sbatch --wckey=red -A lab --wrap true 2>&1 || true)"
j=$(sbatch --parsable -A lab -o /dev/null --wrap true); wait_empty
check "the default key has a star" "*blue|*blue" "$(squeue -h -t all -j "$j" -o %w)|$(sacct -n -X -P -j "$j" -o WCKey)"
match "in scontrol" ' WCKey=[*]blue' "$(scontrol show job "$j")"
j=$(sbatch --parsable -A lab --wckey=Blue -o /dev/null --wrap true); wait_empty
check "one that is asked for has none" "$j" "$(sacct -n -X -P -W blue -o JobID)"
