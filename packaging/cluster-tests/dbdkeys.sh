#!/usr/bin/env bash
# Keys of slurmdbd.conf: private data, time ranges of queries, workload keys, default accounts, absolute resources,
# ArchiveScript.
. "$(dirname "$0")/lib.bash"
prepare_dbd
start_dbd
keys() { # replaces the test's own lines of slurmdbd.conf
  sed -i '/^#own/,$d' "$dir/slurmdbd.conf"; printf '#own\n%s\n' "$1" >> "$dir/slurmdbd.conf"
  sacctmgr reconfigure
}
sacctmgr -i add cluster test >/dev/null
sacctmgr -i add account lab,shop >/dev/null
no=$(id -un 65534); other=daemon
sacctmgr -i add user "$no" account=lab >/dev/null
sacctmgr -i add user "$other" account=lab,shop >/dev/null
start_cluster 1 4 "$accounting"
as() { (cd /; setpriv --reuid="$(id -u "$1")" --regid="$(id -g "$1")" --clear-groups "${@:2}" 2>&1 || true); }
names() { sort | tr '\n' ' ' | sed 's/ $//'; }

# PrivateData and MaxQueryTimeRange restrict users, and not operators.
if [ "$(id -u)" = 0 ]; then
  a=$(sbatch --parsable -A lab -o /dev/null --uid="$no" -D / --wrap true 2>/dev/null \
    || as "$no" sbatch --parsable -A lab -o /dev/null --wrap true)
  b=$(as "$other" sbatch --parsable -A shop -o /dev/null --wrap true)
  wait_empty
  check "without PrivateData a user sees all jobs" "$a $b" "$(as "$no" sacct -a -X -nPo jobid | names)"
  keys "PrivateData=accounts,events,jobs,reservations,usage,users"
  check "PrivateData=jobs: a user sees own jobs" "$a" "$(as "$no" sacct -a -X -nPo jobid | names)"
  check "PrivateData=jobs: an operator sees all jobs" "$a $b" "$(sacct -a -X -nPo jobid | names)"
  check "PrivateData=users: a user sees the own name" "$no" "$(as "$no" sacctmgr -nP show user format=user)"
  check "PrivateData=users: a user sees own associations and the accounts above them" "lab| lab|$no root|" \
    "$(as "$no" sacctmgr -nP show assoc format=account,user | names)"
  denied="sacctmgr: error: Access/permission denied"
  check "PrivateData=accounts" "$denied Problem with query." \
    "$(as "$no" sacctmgr -nP show account | tr -s '\n ' ' ' | sed 's/ $//')"
  check "PrivateData=events" "$denied Error with request: Access/permission denied" \
    "$(as "$no" sacctmgr -nP show event | tr -s '\n ' ' ' | sed 's/ $//')"
  check "PrivateData=reservations" "$denied Problem with query." \
    "$(as "$no" sacctmgr -nP show reservation | tr -s '\n ' ' ' | sed 's/ $//')"
  sum() {
    as "$no" sreport -nP -tsec cluster accountutilizationbyuser start=now-1day end=now+1hour format=login | names
  }
  check "PrivateData=usage: a user sees no usage of others" "" "$(sum | tr ' ' '\n' | grep -x "$other" || true)"
  sacctmgr -i add coordinator account=shop name="$no" >/dev/null
  check "a coordinator sees the jobs of the account" "$a $b" "$(as "$no" sacct -a -X -nPo jobid | names)"
  check "a coordinator sees the account" shop "$(as "$no" sacctmgr -nP show account format=account)"
  sacctmgr -i delete coordinator account=shop name="$no" >/dev/null
  check "another user does not see jobs of the account" "$b" "$(as "$other" sacct -a -X -nPo jobid | names)"
  sacctmgr -i modify account lab set flags=UsersAreCoords >/dev/null
  check "UsersAreCoords: users of the account are its coordinators" "$a $b" \
    "$(as "$other" sacct -a -X -nPo jobid | names)"
  check "UsersAreCoords: users of the account are no coordinators of another account" "$a" \
    "$(as "$no" sacct -a -X -nPo jobid | names)"
  sacctmgr -i modify account lab set flags=NoUsersAreCoords >/dev/null
  check "NoUsersAreCoords removes the flag" "$b" "$(as "$other" sacct -a -X -nPo jobid | names)"
  match "an unknown flag of an account is refused" '^ Unknown Flag\(s\)=bogus' \
    "$(sacctmgr -i modify account lab set flags=bogus 2>&1)"
  keys "MaxQueryTimeRange=1-0"
  check "MaxQueryTimeRange refuses a longer range" "sacct: error: Too wide of a date range in query" \
    "$(as "$no" sacct -X -nPo jobid -S now-3days)"
  check "MaxQueryTimeRange does not restrict an operator" "$a" "$(sacct -a -X -nPo jobid -S now-3days -u "$no")"
  check "MaxQueryTimeRange does not restrict a query by job id" "$a" "$(as "$no" sacct -X -nPo jobid -j "$a")"
  match "MaxQueryTimeRange restricts sreport job sizesbyaccount" 'Too wide of a date range in query' \
    "$(as "$no" sreport -nP job sizesbyaccount start=now-9days end=now)"
fi

# Workload keys: slurmdbd adds the default key where the cluster does not track keys.
sacctmgr -i add user "$other" wckey=k1 defaultwckey=k1 >/dev/null
job() { sbatch --parsable -A shop -o /dev/null --wrap true; }
me=$(id -un); sacctmgr -i add user "$me" account=shop wckey=k2 defaultwckey=k2 >/dev/null
keys ""; c=$(job); wait_empty
check "without TrackWCKey a job has no key" "" "$(sacct -X -nPo wckey -j "$c")"
check "without TrackWCKey the report has no key" "" "$(sreport -nP cluster wckey start=now-1day end=now+1hour)"
keys "TrackWCKey=yes"; d=$(sbatch --parsable -A shop -o /dev/null --wrap "sleep 2"); wait_empty
check "TrackWCKey: a job has its user's default key" "*k2" "$(sacct -X -nPo wckey -j "$d")"
hour=$(date +%Y-%m-%dT%H:00)
match "TrackWCKey: the usage counts for the user's default key" "test\|k2" \
  "$(sreport -nP -tsec cluster wckey start="$hour" end=now+1hour)"

# Users without a default account.
match "the default account of a user cannot be removed" 'can not remove the default account' \
  "$(sacctmgr -i delete user "$other" account=lab 2>&1)"
keys "AllowNoDefAcct=yes"
sacctmgr -i add user games account=lab,shop >/dev/null
check "AllowNoDefAcct: a new user has no default account" "games|" \
  "$(sacctmgr -nP show user games format=user,defaultaccount)"
sacctmgr -i modify user "$other" set defaultaccount= >/dev/null
check "AllowNoDefAcct: the default account can be unset" "$other|" \
  "$(sacctmgr -nP show user "$other" format=user,defaultaccount)"
sacctmgr -i delete user "$other" account=lab >/dev/null
check "AllowNoDefAcct: the former default account can be removed" shop \
  "$(sacctmgr -nP show assoc user="$other" format=account)"

# AllResourcesAbsolute: shares of resources are counts instead of percentages.
keys "AllResourcesAbsolute=yes"
sacctmgr -i add resource lic count=150 cluster=test allowed=120 >/dev/null
check "the share of a resource is a count" "lic|150|120|Absolute" \
  "$(sacctmgr -nP show resource withclusters format=name,count,allowed,flags)"
match "a share above the count is refused" 'exceeds 150' \
  "$(sacctmgr -i modify resource lic cluster=test set allowed=151 2>&1)"
# Jobs request the cluster's share of a server's licenses as NAME@SERVER.
share='^LicenseName=lic@slurmdb Total=120 Used=0 Free=120 Reserved=0 Remote=yes LastConsumed=0 LastDeficit=0 '
match "slurmctld has the cluster's share" "${share}LastUpdate=20" "$(scontrol -o show lic lic@slurmdb)"
# 30 licenses are for other clusters. 35 are in use at the server: 5 are missing from the cluster's share.
sacctmgr -i modify resource lic set lastconsumed=35 >/dev/null
soon 'scontrol show lic lic@slurmdb | grep -q LastConsumed=35'
match "licenses that are in use elsewhere reduce the free licenses" \
  'Total=120 Used=0 Free=115 Reserved=0 Remote=yes LastConsumed=35 LastDeficit=5 ' "$(scontrol -o show lic lic@slurmdb)"
check "sacctmgr shows the consumed licenses" "lic|slurmdb|License|150|35|120||Absolute" "$(sacctmgr -nP show resource)"
sacctmgr -i modify resource lic set lastconsumed=0 >/dev/null
a=$(sbatch --parsable -o /dev/null -L lic@slurmdb:100 --wrap 'sleep 60')
b=$(sbatch --parsable -o /dev/null -L lic@slurmdb:30 --wrap true)
soon '[ "$(squeue -h -j "$b" -o %r)" = Licenses ]'
check "a job without free licenses is pending" "R PD:Licenses" \
  "$(squeue -h -j "$a" -o %t) $(squeue -h -j "$b" -o %t:%r)"
sacctmgr -i modify resource lic cluster=test set allowed=130 >/dev/null
soon '[ -z "$(squeue -h -t PD,R,CG -j "$b")" ]'
check "the job runs when the share grows" COMPLETED "$(sacct -X -n -P -j "$b" -o state)"
scancel "$a"; sacctmgr -i delete resource lic >/dev/null
match "a deleted resource is an invalid license" 'Invalid license specification' \
  "$(sbatch -L lic@slurmdb --wrap true 2>&1 || true)"

# ArchiveScript: rows are purged when the script has ended with 0.
cat > "$dir/archive" <<S
#!/bin/sh
env | grep '^SLURM_ARCHIVE' | sort > $dir/told
exit \$(cat $dir/code)
S
chmod 755 "$dir/archive"; echo 3 > "$dir/code"
keys "ArchiveScript=$dir/archive"
count() { sacct -a -X -D -nPo jobid -S now-1day | wc -l; }
before=$(count)
old=$(date -d '2019-03-01' +%s)
cat > "$dir/past.sql" <<S
insert into job_table (jobid, cluster, account, submit, eligible, start, end, state, name)
values ('900', 'test', 'shop', $old, $old, $old, $((old + 60)), '3', 'old');
S
sacctmgr -i archive load "$dir/past.sql" >/dev/null
past() { sacct -a -X -nPo jobname -S 2019-02-01 -E 2019-04-01; }
check "an archive file is loaded" old "$(past)"
match "the exit code of a failed script is reported" 'ended with 3' \
  "$(sacctmgr -i archive dump jobs purgejobafter=12months 2>&1)"
check "a failed script purges no row" old "$(past)"
echo 0 > "$dir/code"
sacctmgr -i archive dump jobs purgejobafter=12months >/dev/null
check "a successful script purges the rows" "" "$(past)"
match "the script's environment has the kinds and counts of rows" \
  'SLURM_ARCHIVE_JOBS=1.SLURM_ARCHIVE_LAST_JOB=1[0-9]*.*SLURM_ARCHIVE_STEPS=0' "$(tr '\n' ' ' < "$dir/told")"
check "younger rows stay" "$before" "$(count)"
keys "PrivateData=everything"
match "an unknown word of PrivateData changes nothing" 'stays as it was' "$(cat "$dir/log/slurmdbd.log")"
# The mode and the owner of slurmdbd.conf, which holds a password: a second slurmdbd reads another file.
mkdir "$dir/other"
sed "s,^DbdPort=.*,DbdPort=$(free_port),; s,^PidFile=.*,PidFile=$dir/other/pid,; /^LogFile=/d; /^PrivateData=/d" \
  "$dir/slurmdbd.conf" > "$dir/other/slurmdbd.conf"
refusal() {
  timeout 20 slurmdbd -D -f "$dir/other/slurmdbd.conf" </dev/null 2>&1 | grep -m1 -o 'fatal: .*' | sed "s,$dir,DIR,"
}
for m in 604 644 660; do
  chmod $m "$dir/other/slurmdbd.conf"
  check "slurmdbd.conf of mode $m" "fatal: slurmdbd.conf file DIR/other/slurmdbd.conf should be 600 or 640 but is $m" \
    "$(refusal)"
done
chmod 600 "$dir/other/slurmdbd.conf"; sed -i 's/^SlurmUser=.*/SlurmUser=nosuchuser/' "$dir/other/slurmdbd.conf"
check "an unknown SlurmUser" "fatal: failed to look up SlurmUser uid" "$(refusal)"
if [ "$(id -u)" = 0 ]; then
  chown daemon "$dir/other/slurmdbd.conf"; sed -i 's/^SlurmUser=.*/SlurmUser=nobody/' "$dir/other/slurmdbd.conf"
  check "slurmdbd.conf of another owner" \
    "fatal: slurmdbd.conf owned by $(id -u daemon) not SlurmUser($(id -u nobody)) or root" "$(refusal)"
fi
finish
