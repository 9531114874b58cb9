#!/usr/bin/env bash
# priority/multifactor through the commands: sprio's columns, sshare's tree, usage that survives the controller.
# shows: PriorityCalcPeriod, PriorityType, PriorityWeightAge, PriorityWeightAssoc, PriorityWeightFairShare
# shows: PriorityWeightJobSize
# shows: PriorityWeightPartition, PriorityWeightQOS, PriorityWeightTRES
. "$(dirname "$0")/lib.bash"
prepare_dbd
start_dbd
me=$(id -un)
sacctmgr -i add cluster test >/dev/null
sacctmgr -i add account lab fairshare=3 >/dev/null
sacctmgr -i add account guests fairshare=1 >/dev/null
sacctmgr -i add user "$me" account=lab >/dev/null 2>&1 || true
sacctmgr -i add user nobody account=guests >/dev/null 2>&1 || true
start_cluster 1 4 "$accounting
PriorityType=priority/multifactor
PriorityCalcPeriod=0:01
PriorityWeightAge=1000
PriorityWeightFairshare=10000
PriorityWeightJobSize=2000
PriorityWeightPartition=3000
PriorityWeightQOS=500
PriorityWeightAssoc=700
PriorityWeightTRES=CPU=100,Mem=200"
first=$(sbatch --parsable -A lab -o /dev/null -n4 --wrap 'sleep 4')
second=$(sbatch --parsable -A lab -o /dev/null -n4 --nice=5 --wrap true)
check "sprio's columns" \
  "          JOBID PARTITION   PRIORITY       SITE        AGE      ASSOC  FAIRSHARE    JOBSIZE  PARTITION        QOS                 TRES" \
  "$(sprio | head -1)"
check "sprio's weights" \
  "        Weights                               1       1000        700      10000       2000       3000        500      CPU=100,Mem=200" \
  "$(sprio -w | tail -1)"
check "sprio's factors" "$second main 2000 3000 5 cpu=100,mem=2" "$(sprio -h -j "$second" -o '%i %r %J %P %N %T')"
check "sprio's normalised factors" "1.0000000 1.0000000 cpu=1.00,mem=0.01" "$(sprio -h -j "$second" -o '%j %p %t')"
check "an unknown format letter" "sprio: error: Invalid job format specification: Z" \
  "$(sprio -o '%i %Z' 2>&1 >/dev/null)"
# sprio computes the priority now; squeue shows the one of the last PriorityCalcPeriod.
soon 'total=$(sprio -h -j "$second" -o %Y); shown=$(squeue -h -j "$second" -o %Q); [ "$total" = "$shown" ]' 10
check "squeue shows sprio's priority" "$total" "$shown"
scontrol update jobid="$second" sitefactor=50
check "a site factor" 50 "$(sprio -h -j "$second" -o %S)"
wait_empty
sleep 2     # 2 s: PriorityCalcPeriod=0:01 passes, and with it the last charge and a first decay
usage() { sshare -a -n -P -o User,RawUsage 2>/dev/null | grep "^$me|" | tail -1 | cut -d'|' -f2 || true; }
used=$(usage)
check "the first job is charged" yes "$([ "${used:-0}" -ge 12 ] && [ "$used" -le 24 ] && echo yes || echo "no: $used")"
killed slurmctld; start_ctld
soon 'again=$(usage); [ "${again:-0}" -ge $((used-1)) ]'
check "the charge survives a kill of slurmctld" yes \
  "$([ "$again" -ge $((used-1)) ] && [ "$again" -le "$used" ] && echo yes || echo "no: $again")"
check "sshare's header" "Account                    User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare " \
  "$(sshare | head -1)"
match "shares among siblings" ' lab\|\|3\|0\.600000\|' "$(sshare -a -n -P)"
check "a user without usage has FairShare 1" "1.000000" \
  "$(sshare -a -n -P -o User,FairShare | sed -n 's/^nobody|//p')"
match "LevelFS of a user without usage" 'inf' "$(sshare -a -l -n -P -o LevelFS)"
match "show assoc_mgr: an association" "ClusterName=test Account=lab UserName=$me\(0\) Partition= Priority=0 ID=" \
  "$(scontrol show assoc_mgr account=lab flags=assoc)"
match "show assoc_mgr: limits" "GrpJobs=N\(0\)" "$(scontrol -o show assoc_mgr qos=normal flags=qos)"
match "show assoc_mgr: usage" "GrpWall=N\((0\.0[1-9]|0\.[1-9]|[1-9]).* GrpTRESMins=cpu=N\([0-9]" \
  "$(scontrol -o show assoc_mgr qos=normal flags=qos)"
running "$(sbatch --parsable -o /dev/null -w n1 --exclusive -t 1:00:00 --wrap 'sleep 60')" 0
sbatch -o /dev/null -w n1 --exclusive -t 9 --wrap true >/dev/null
sbatch -H --wrap true >/dev/null
comes "show assoc_mgr: running, accruing and submitted jobs, TRES minutes" \
  "GrpJobs=N\(1\) GrpJobsAccrue=N\(1\) GrpSubmitJobs=N\(3\).* GrpTRESRunMins=cpu=N\([1-9]" \
  '"$(scontrol -o show assoc_mgr qos=normal flags=qos)"'
