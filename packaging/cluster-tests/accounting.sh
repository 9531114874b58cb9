#!/usr/bin/env bash
# slurmdbd with its embedded tables: sacctmgr's changes reach the controller at once, and rows survive kills of
# slurmdbd.
# shows: AccountingStorageBackupHost, AccountingStorageEnforce, AccountingStorageHost, AccountingStoragePort
# shows: AccountingStorageType
. "$(dirname "$0")/lib.bash"
prepare_dbd
start_dbd
me=$(id -un)
sacctmgr -i add cluster test >/dev/null
sacctmgr -i add account lab >/dev/null
sacctmgr -i add user "$me" account=lab >/dev/null 2>&1 || true
# AccountingStorageType and AccountingStoragePort are those of prepare_dbd. No host answers at AccountingStorageHost:
# every connection goes to the backup.
start_cluster 1 4 "${accounting/Host=127.0.0.1/Host=255.255.255.255
AccountingStorageBackupHost=127.0.0.1}
AccountingStorageTRES=license/lic
Licenses=lic:7
AccountingStorageEnforce=associations,limits,qos"
match "slurmctld registers its address and port" '^127.0.0.1\|[1-9][0-9]*$' \
  "$(sacctmgr -nP show cluster format=controlhost,controlport)"
check "a job without an association is refused" 1 "$(sbatch -A nowhere --wrap true >/dev/null 2>&1; echo $?)"
sacctmgr -i modify account lab set grpjobs=1 >/dev/null
a=$(sbatch --parsable -A lab -o /dev/null --wrap "until [ -e $dir/go ]; do sleep 0.1; done")
b=$(sbatch --parsable -A lab -o /dev/null --wrap true)
check "a job is in sacct at once" 2 "$(sacct -X -n -P -o JobID -j "$a,$b" | wc -l)"
becomes "a changed limit holds for the next job" "PENDING AssocGrpJobsLimit" '"$(squeue -h -o '\''%T %r'\'' -j "$b")"'
becomes "sacct shows the pending reason" AssocGrpJobsLimit '"$(sacct -X -n -P -o Reason -j "$b")"'
sacctmgr -i modify account lab set grpjobs=-1 >/dev/null; touch "$dir/go"
wait_empty
check "without the limit both jobs ran" "COMPLETED COMPLETED" \
  "$(sacct -X -n -P -o State -j "$a,$b" | tr '\n' ' ' | sed 's/ $//')"
check "sacct keeps the pending reason of a job that has ended" "None AssocGrpJobsLimit" \
  "$(sacct -X -n -P -o Reason -j "$a,$b" | xargs)"
if [ "$(id -u)" = 0 ]; then
  as() { (cd /; setpriv --reuid=65534 --regid=65534 --clear-groups "$@" 2>&1 >/dev/null || true); }
  op() { sacctmgr -i modify user "$no" set adminlevel="$1" >/dev/null; }
  no=$(id -un 65534); sacctmgr -i add user "$no" account=lab >/dev/null
  c=$(sbatch --parsable -H -A lab -o /dev/null --wrap true)
  check "scancel of another user's job is refused" \
    "scancel: error: Kill job error on job id $c: Access/permission denied" "$(as scancel "$c")"
  check "scancel of another user's jobs by a filter is refused" \
    "scancel: error: Kill job error on job id $c: Access/permission denied" "$(as scancel -u "$(id -un)")"
  check "scancel --ctld skips another user's jobs" "" "$(as scancel --ctld -u "$(id -un)")"
  check "scontrol release of another user's job is refused" \
    "Invalid user id for job $c slurm_suspend error:Invalid user id" "$(as scontrol release "$c" | xargs)"
  op operator
  check "an operator may update another user's job" "" "$(as scontrol update jobid="$c" nice=-7)"
  check "an operator may not update a node" "slurm_update error: Invalid user id" \
    "$(as scontrol update nodename=n1 comment=x)"
  op administrator
  check "an administrator may update a node" "" "$(as scontrol update nodename=n1 comment=x)"
  op none; sacctmgr -i add coordinator account=lab name="$no" >/dev/null
  check "a coordinator may cancel a job of the account" "" "$(as scancel "$c")"
  b=$c
fi
scontrol update nodename=n1 state=drain reason=fan
scontrol update nodename=n1 state=resume
match "a drained node is an event" 'n1\|DRAIN\|fan\|Node' "$(sacctmgr -nP show event format=node,state,reason,event)"
match "the cluster's event has every TRES" \
  '^Cluster\|billing=4,cpu=4,energy=0,fs/disk=0,license/lic=7,mem=4000M,node=1,pages=0,vmem=0$' \
  "$(sacctmgr -nP show event all_time event=cluster format=event,tres | tail -1)"
match "licenses are in the report" '^license/lic\|[1-9]' \
  "$(sreport -nP -tsec -T license/lic cluster utilization start=now-1hour end=now+1hour format=tresname,reported)"
scontrol update nodename=n1 instanceid=i-1 instancetype=large
scontrol update nodename=n1 extra=rack4
scontrol update nodename=n1 instanceid= instancetype=
instances() {
  sacctmgr -nP show instance format=cluster,node,instanceid,instancetype,extra,end
}
check "the instances of a node are kept" "test|n1|i-1|large| n1 is open: 0 test|n1|i-1|large|rack4 n1 is open: 0 " \
  "$(instances | while IFS='|' read -r c n i t e end; do
    echo "$c|$n|$i|$t|$e n1 is open: $([ "$end" = Unknown ] && echo 1 || echo 0)"
  done | tr '\n' ' ')"
match "an instance is found by its fields" '^i-1$' \
  "$(sacctmgr -nP show instance instancetype=large extra=rack4 nodes=n1 format=instanceid)"
check "an unknown instance is not found" "" "$(sacctmgr -nP show instance instanceid=i-2)"
# The ledger: the ids of all acknowledged jobs with the exit code of each job. sacct must show exactly these jobs, each
# once.
ledger=$dir/ledger; : > "$ledger"
first=$b
in_sacct() { sacct -a -X -n -P -D -S now-1hour -o "$1" | awk -F'|' -v f="$first" '$1 + 0 > f + 0'; }
ids_are_those_of_the_ledger() { # what: compares ids and exit codes, and names every difference
  local difference
  in_sacct JobID,ExitCode | sed 's/:0$//' | sort > "$dir/in_sacct"
  sort "$ledger" > "$dir/in_ledger"
  difference=$(diff "$dir/in_ledger" "$dir/in_sacct" \
    | grep '^[<>]' | sed 's/^</missing in sacct:/; s/^>/only in sacct:/' | tr '\n' ' ' || true)
  check "$1" "" "$difference"
}
for i in $(seq 40); do
  id=$(sbatch --parsable -A lab -o /dev/null --wrap "exit $((i % 3))") || { check "job $i is taken" 0 $?; continue; }
  echo "$id|$((i % 3))" >> "$ledger"
  if [ $((i % 10)) = 5 ]; then kill -9 "$(pid_of slurmdbd)"; fi
  if [ $((i % 10)) = 9 ]; then start_dbd; fi
done
check "every job was acknowledged" 40 "$(sort -u "$ledger" | wc -l)"
check "a job that was acknowledged is in sacct at once" 40 "$(in_sacct JobID | sort -u | wc -l)"
wait_empty 120
ids_are_those_of_the_ledger "every job once, with its exit code"
kill -9 "$(pid_of slurmdbd)"; start_dbd
ids_are_those_of_the_ledger "every job is kept over a kill of slurmdbd right after its answer"
kill -9 "$(pid_of slurmdbd)"; kill -9 "$(pid_of slurmctld)"
start_dbd; start_ctld
ids_are_those_of_the_ledger "every job is kept over a kill of slurmdbd and slurmctld"
check "a restart adds no event of the cluster" 1 \
  "$(sacctmgr -nP show event all_time event=cluster format=tres | wc -l)"

# Options and signals of the daemon.
check "no job has run away" "Runaway Jobs: No runaway jobs found on cluster test" "$(sacctmgr show runawayjobs)"
check "-R is refused" 1 "$(slurmdbd -R -f "$dir/slurmdbd.conf" >/dev/null 2>&1; echo $?)"
check "a niceness out of range is refused" 1 "$(slurmdbd -n 99 -f "$dir/slurmdbd.conf" >/dev/null 2>&1; echo $?)"
old=$(pid_of slurmdbd); kill "$old"
soon '! kill -0 "$old" 2>/dev/null'
slurmdbd -n 5 -s -f "$dir/slurmdbd.conf" </dev/null >>"$dir/log/start.out" 2>&1
check "slurmdbd -n sets the niceness of every thread" 5 \
  "$(awk '{sub(/.*\) /, ""); print $17}' "/proc/$(pid_of slurmdbd)"/task/*/stat | sort -u)"
check "slurmdbd -s changes to the directory of the log" "$dir/log" "$(readlink "/proc/$(pid_of slurmdbd)/cwd")"
sed -i "s,^LogFile=.*,LogFile=$dir/log/second.log,; \$aDebugLevel=debug" "$dir/slurmdbd.conf"
kill -HUP "$(pid_of slurmdbd)"
soon 'sacctmgr ping >/dev/null; [ -s "$dir/log/second.log" ]' 15
check "HUP reads the file again" "debug $dir/log/second.log" \
  "$(sacctmgr -n show configuration | awk '$1 == "DebugLevel" {l = $3} $1 == "LogFile" {f = $3} END {print l, f}')"
sed -i "s,^DebugLevel=.*,DebugLevel=nonsense," "$dir/slurmdbd.conf"
sacctmgr reconfigure
match "a file with mistakes changes nothing" 'stays as it was' "$(cat "$dir/log/second.log")"
ids_are_those_of_the_ledger "every job is kept over a reconfiguration"

# sacctmgr modify job: fields of a job that has ended.
j=$(sbatch --parsable -o /dev/null --comment=before --wrap 'exit 3'); wait_empty
check "a comment and a derived exit code are set" " Modified jobs... $j submitted at" \
  "$(sacctmgr -i modify job job="$j" set DerivedExitCode=22 Comment=after \
    | sed 's/ at .*/ at/' | tr -s ' \n' ' ' | sed 's/ $//')"
a=$(sacct -n -P -X -j "$j" -o AssocID)
check "sacct finds a job by its association" "$j" "$(sacct -n -P -X -j "$j" --associations="$a" -o JobID)"
check "sacct finds no job of another association" "" "$(sacct -n -P -X -j "$j" --associations=99999 -o JobID)"
check "sacct shows the comment and the derived exit code" "3:0|0:22|after" \
  "$(sacct -n -P -X -j "$j" -o ExitCode,DerivedExitCode,Comment)"
a=$(sbatch --parsable -W -J arr3 --array=1-3 -o /dev/null --wrap true | head -1)
sacctmgr -i modify job jobid="${a}_2" set comment=one >/dev/null
check "a comment for one task of an array" "${a}_1| ${a}_2|one ${a}_3| " \
  "$(sacct -X -n -P -o jobid,comment --name=arr3 | sort | tr '\n' ' ')"
sacctmgr -i modify job jobid="$a" set admincomment=all >/dev/null
check "a comment for all tasks of an array" "${a}_1|all ${a}_2|all ${a}_3|all " \
  "$(sacct -X -n -P -o jobid,admincomment --name=arr3 | sort | tr '\n' ' ')"
sacctmgr -i add acc gone >/dev/null
sacctmgr -i add user "$(id -un)" acc=gone >/dev/null
sacctmgr -i del acc gone >/dev/null 2>&1 || true
check "the lineage of a deleted association has its accounts" "$(id -un)|/gone/0-$(id -un)/" \
  "$(sacctmgr -nP show assoc where account=gone withdeleted format=user,lineage | grep "^$(id -un)" | sort -u)"
printf \
  "Cluster - 'test'\nParent - 'root'\nAccount - 'oldwords':Description='d':Organization='o':GrpCPUMins=5:MaxNodes=3\n" \
  > old.cfg
sacctmgr -i load old.cfg >/dev/null
check "sacctmgr load reads limits from before TRES" "cpu=5|node=3" \
  "$(sacctmgr -nP show assoc where account=oldwords format=grptresmins,maxtres)"
check "a modification of an unknown job is refused" \
  " Error with request: Data has not changed since time specified| Modified jobs...|" \
  "$(sacctmgr -i modify job 999999 set comment=x 2>&1 | sort | tr '\n' '|')"
check "the allocated TRES of a job are set" "billing=1,cpu=3,energy=1234,mem=2G,node=1" \
  "$(sacctmgr -i modify job "$j" set tres=energy=1234,1=3,mem=2G >/dev/null; sacct -n -P -X -j "$j" -o AllocTRES)"
check "sacct --json: energy of a job without a measurement, and a set one" "-2 1234" "$(for i in "$a" "$j"; \
    do sacct --json -j "$i"; done | jq -r '.jobs[0].tres.allocated[] | select(.type=="energy") | .count' | xargs)"
match "an unknown TRES is refused" "no TRES known by type foo" "$(sacctmgr -i modify job "$j" set tres=foo=1 2>&1)"
h=$(sbatch --parsable -H -J het -o /dev/null -n1 : -n1 --wrap true); scancel "$h"; wait_empty
sacctmgr -i modify job "$h" set comment=both >/dev/null; sacctmgr -i modify job "$h+1" set extra=one >/dev/null
check "fields of all components, and of one component, of a heterogeneous job" "$h+0|both| $h+1|both|one " \
  "$(sacct -X -n -P -o jobid,comment,extra -j "$h" | sort | tr '\n' ' ')"
match "a derived exit code that is no number is refused" 'Invalid value for DerivedExitCode \(abc\)' \
  "$(sacctmgr -i modify job jobid="$j" set derivedexitcode=abc 2>&1)"
match "an unknown condition is refused" 'Unknown condition: bad=1' \
  "$(sacctmgr -i modify job bad=1 set comment=x 2>&1)"
