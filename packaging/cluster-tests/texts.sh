#!/usr/bin/env bash
# Texts of a job in accounting: script, environment, comments, workload key; in slurmctld's own tables and in
# slurmdbd's.
# shows: AccountingStoreFlags, TrackWCKey
. "$(dirname "$0")/lib.bash"
me=$(id -un)
line=$(printf -- '-%.0s' $(seq 80))
texts_of() { # slurmctld or slurmdbd: the checks are the same for both tables
  printf '#!/bin/sh\necho hello\n' > "$dir/job.sh"
  local j k
  j=$(WHAT=ever sbatch --parsable --comment=why --extra=more -o /dev/null "$dir/job.sh")
  k=$(sbatch --parsable --export=NONE -o /dev/null "$dir/job.sh"); wait_empty
  check "$1: the script" "Batch Script for $j
$line
#!/bin/sh
echo hello" "$(sacct -j "$j" --batch-script)"
  check "$1: without a header" "#!/bin/sh|echo hello" "$(sacct -n -j "$j" --batch-script | paste -sd '|')"
  check "$1: scripts of two jobs" 2 "$(sacct -B -j "$j,$k" | grep -c '^echo hello$')"
  match "$1: the environment" "^Environment used for $j .must be batch to display." \
    "$(sacct -j "$j" --env-vars | head -1)"
  check "$1: the environment has the exported variable" 1 "$(sacct -j "$j" --env-vars | grep -c '^WHAT=ever$')"
  check "$1: not in the environment of the other job" 0 "$(sacct -j "$k" --env-vars | grep -c '^WHAT=ever$' || true)"
  srun -J direct true
  check "$1: a job without a script" NONE "$(sacct -X -B -j "$(sacct -n -X -P -o JobID --name=direct)" | tail -n +3 \
      | head -1)"
  check "$1: the comments" "why|more" "$(sacct -n -X -P -j "$j" -o Comment,Extra)"
}
start_cluster 1 4 "AccountingStoreFlags=job_comment,job_env,job_extra,job_script"
texts_of slurmctld
match "sacct -B without a job" "When requesting job scripts you must also request specific jobs with the '-j' option." \
  "$(sacct -B 2>&1)"
j=$(sacct -n -X -P -o JobID | head -1)
kill -9 "$(pid_of slurmctld)"; start_ctld
check "the script survives a kill of slurmctld" 1 "$(sacct -B -j "$j" | grep -c '^echo hello$')"
sed -i '/^AccountingStoreFlags/d' "$SLURM_CONF"; scontrol reconfigure
j=$(sbatch --parsable --comment=why -o /dev/null "$dir/job.sh"); wait_empty
check "no script without AccountingStoreFlags" "NONE" "$(sacct -B -j "$j" | sed -n 3p)"
check "no comment without AccountingStoreFlags" "" "$(sacct -n -X -P -j "$j" -o Comment)"
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
texts_of slurmdbd
check "a wckey that the user does not have" "sbatch: error: Batch job submission failed: Invalid wckey specification" \
  "$(sbatch --wckey=red -A lab --wrap true 2>&1 || true)"
j=$(sbatch --parsable -A lab -o /dev/null --wrap true); wait_empty
check "the default wckey has a star" "*blue|*blue" \
  "$(squeue -h -t all -j "$j" -o %w)|$(sacct -n -X -P -j "$j" -o WCKey)"
match "scontrol shows the default wckey" ' WCKey=[*]blue' "$(scontrol show job "$j")"
j=$(sbatch --parsable -A lab --wckey=Blue -o /dev/null --wrap true); wait_empty
check "a requested wckey has no star" "$j" "$(sacct -n -X -P -W blue -o JobID)"
