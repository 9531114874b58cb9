#!/usr/bin/env bash
# JobSubmitPlugins=lua: a site's script reads, changes and refuses jobs; its messages reach the user.
. "$(dirname "$0")/lib.bash"
cat > "$dir/job_submit.lua" <<'C'
function slurm_job_submit(job_desc, part_list, submit_uid)
   slurm.log_user("hello %s", job_desc.name)
   slurm.log_info("job of %d", submit_uid)
   if job_desc.name == "bad" then return slurm.ERROR end
   if job_desc.name == "acct" then return slurm.ESLURM_INVALID_ACCOUNT end
   if job_desc.name == "odd" then return 1234 end
   if job_desc.name == "crash" then local x = nil; return x.y end
   if job_desc.name == "set" then
      job_desc.comment = "from lua"
      job_desc.time_limit = 5
      job_desc.environment["FOO"] = "bar"
   end
   if job_desc.name == "now" then slurm.log_user("immediate %d, %d", job_desc.immediate, slurm.ESPANK_NOSPACE) end
   if job_desc.name == "count" then
      local n = 0
      for id, job in pairs(slurm.jobs) do n = n + 1 end
      for name, part in pairs(part_list) do slurm.log_user("%s has %d nodes", name, part.total_nodes) end
      slurm.log_user("jobs: %s", n > 0 and "some" or "none")
   end
   return slurm.SUCCESS
end
function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
   if job_desc.comment == "tell" or job_rec.name == "told" then
      slurm.log_user("prio %.0f", job_desc.priority); slurm.log_user("two\nthree")
   end
   if job_desc.comment == "no" or job_rec.comment == "keep" then return slurm.ERROR end
   if job_desc.comment == "louder" then job_desc.comment = job_rec.comment .. "!" end
   if job_desc.comment == "later" then job_desc.site_factor = job_desc.site_factor + 7 end
   return slurm.SUCCESS
end
return slurm.SUCCESS
C
start_cluster 1 2 "JobSubmitPlugins=lua"
submit() {
  sbatch -J "$@" -o "$dir/out.%x" --wrap 'echo "FOO=$FOO"' 2>&1 | sed 's/job [0-9][0-9]*/job N/' | paste -sd'|'
}
check "log_user of an accepted job" "sbatch: hello good|Submitted batch job N" "$(submit good)"
failed="sbatch: error: Batch job submission failed:"
check "slurm.ERROR refuses a job" "sbatch: error: hello bad|$failed Unspecified error" "$(submit bad)"
check "an error by name" \
  "sbatch: error: hello acct|$failed Invalid account or account/partition combination specified" "$(submit acct)"
check "an error by number" "sbatch: error: hello odd|$failed Unknown error 1234" "$(submit odd)"
mistake="$dir/job_submit.lua:7: attempt to index a nil value (local 'x')"
check "a runtime error in the script refuses the job" \
  "sbatch: error: hello crash|sbatch: error: $mistake|$failed Lua function execution failed due to runtime error" \
  "$(submit crash)"
match "the log has the runtime error" "job_submit/lua: $dir/job_submit.lua: .*attempt to index" \
  "$(cat "$dir/log/slurmctld.log")"
check "log_user with srun" "srun: hello run|done" "$(srun -J run echo done 2>&1 | grep -v 'srun: job' | paste -sd'|')"
check "job_desc.immediate and slurm.ESPANK_NOSPACE" "srun: hello now|srun: immediate 1, 3005|done" \
  "$(srun -I -J now echo done 2>&1 | grep -v 'srun: job' | paste -sd'|')"
check "part_list and slurm.jobs" \
  "sbatch: hello count|sbatch: main has 1 nodes|sbatch: jobs: some|Submitted batch job N" \
  "$(submit count)"
id=$(sbatch --parsable -H -J set -o "$dir/out.set" --wrap 'echo "FOO=$FOO"' 2>/dev/null)
check "changed: comment" "Comment=from lua" "$(scontrol show job "$id" | grep -o '\bComment=.*')"
check "changed: time limit" "TimeLimit=00:05:00" "$(scontrol show job "$id" | grep -o 'TimeLimit=[^ ]*')"
scontrol release "$id"; wait_empty
check "changed: the environment" "FOO=bar" "$(cat "$dir/out.set")"
id=$(sbatch --parsable -H -J old --comment=a --wrap true 2>/dev/null)
check "slurm_job_modify refuses a change" "Unspecified error for job $id" "$(scontrol update job "$id" comment=no 2>&1)"
scontrol update job "$id" comment=louder
check "slurm_job_modify changes a change" "Comment=a!" "$(scontrol show job "$id" | grep -o 'Comment=.*')"
scancel "$id"
# Heterogeneous jobs: each line names its component. Components of an allocation are checked one by one, those of a
# script together.
het() { "$@" 2>&1 | sed 's/job [0-9][0-9]*/job N/' | paste -sd'|'; }
check "log_user of each component" "sbatch: 0: hello a|sbatch: 1: hello b|Submitted batch job N" \
  "$(het sbatch -H -o /dev/null -n1 -J a : -H -n1 -J b --wrap true)"
check "messages up to the refused component" \
  "sbatch: error: 0: hello a|sbatch: error: 1: hello bad|$failed Unspecified error" \
  "$(het sbatch -o /dev/null -J a : -J bad : -J c --wrap true)"
hello="sbatch: error: 0: hello a|sbatch: error: 1: hello b"
check "messages before another error" \
  "$hello|sbatch: error: invalid partition specified: nope|$failed Invalid partition name specified" \
  "$(het sbatch -o /dev/null -J a : -J b -p nope --wrap true)"
wrong="error: invalid partition specified: nope"
name="Invalid partition name specified"
check "an allocation: no messages of components after the error" \
  "salloc: error: 0: hello a|salloc: $wrong|salloc: error: Job submit/allocate failed: $name" \
  "$(het salloc -J a -p nope : -J b true)"
check "a job of one component: messages without a number" \
  "srun: error: hello a|srun: $wrong|srun: error: Unable to allocate resources: Invalid partition name specified" \
  "$(het srun -J a -p nope true)"
scancel -u "$(id -un)"
# Messages of slurm_job_modify.
id=$(sbatch --parsable -H -J told -o /dev/null --wrap true 2>/dev/null)
told() { "$@" 2>&1 | sed -E "s/(^|job )$id/\1N/" | paste -sd'|'; }
check "log_user of a change" "scontrol: error: prio 4294967294|scontrol: error: two|scontrol: error: three" \
  "$(told scontrol update job "$id" nice=3)"
check "log_user of a hold" "scontrol: error: prio 0|scontrol: error: two|scontrol: error: three" \
  "$(told scontrol hold "$id")"
lines="scontrol: error: two|scontrol: error: three"
check "log_user before the error of a change" \
  "scontrol: error: prio 4294967294|$lines|Invalid partition name specified for job N" \
  "$(told scontrol update job "$id" partition=nope)"
scontrol update job "$id" comment=keep 2>/dev/null
check "slurm_job_modify refuses a release" "scontrol: error: prio 4294967295|$lines|Unspecified error for job N" \
  "$(told scontrol release "$id")"
check "a refused release keeps the hold" JobHeldAdmin "$(squeue -h -j "$id" -o %r)"
scancel "$id"; id=$(sbatch --parsable -H -a 1-4 -J told -o /dev/null --wrap true 2>/dev/null)
check "log_user names array tasks together" "N_[1-4]: prio 4294967294|two|three" \
  "$(told scontrol update job "$id" nice=4)"
check "log_user of array tasks goes to standard output" "N_[3-4]: prio 4294967294|two|three" \
  "$(scontrol update "job=${id}_[3-6]" nice=5 2>"$dir/e" | sed "s/^$id/N/" | paste -sd'|')"
check "missing array tasks" "${id}_[5-6]: Invalid job id specified" "$(cat "$dir/e")"
check "log_user of a refused change of a task" "N_[2]: Unspecified error (prio 4294967294|two|three)" \
  "$(told scontrol update "job=${id}_2" comment=no)"
check "a hold of array tasks prints nothing" "" "$(told scontrol hold "$id")"
scancel "$id"
full=$(sbatch --parsable -J full -n2 -o /dev/null --wrap 'sleep 60' 2>/dev/null)
running "$full" 0
id=$(sbatch --parsable -J waits -n2 -o /dev/null --wrap true 2>/dev/null)
scontrol update job "$id" sitefactor=30 comment=later
check "job_desc.site_factor is read and changed" 37 "$(sprio -h -j "$id" -o %S)"
scancel "$full" "$id"; wait_empty
echo 'this is no lua' > "$dir/job_submit.lua"; touch -d '+1 minute' "$dir/job_submit.lua"
check "a broken script leaves the last good one in use" "sbatch: hello last|Submitted batch job N" "$(submit last)"
