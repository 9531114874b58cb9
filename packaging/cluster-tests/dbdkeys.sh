#!/usr/bin/env bash
# Keys of slurmdbd.conf and what they do: who sees what, spans of questions, keys, default accounts, counted
# resources, the archive's script.
. "$(dirname "$0")/lib.bash"
prepare_dbd
start_dbd
keys() { # lines: slurmdbd.conf with these besides
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

# Operators are not bound by any of it.
if [ "$(id -u)" = 0 ]; then
  a=$(sbatch --parsable -A lab -o /dev/null --uid="$no" -D / --wrap true 2>/dev/null \
    || as "$no" sbatch --parsable -A lab -o /dev/null --wrap true)
  b=$(as "$other" sbatch --parsable -A shop -o /dev/null --wrap true)
  wait_empty
  check "everybody sees everything" "$a $b" "$(as "$no" sacct -a -X -nPo jobid | names)"
  keys "PrivateData=accounts,events,jobs,reservations,usage,users"
  check "one's own jobs" "$a" "$(as "$no" sacct -a -X -nPo jobid | names)"
  check "all of them for an operator" "$a $b" "$(sacct -a -X -nPo jobid | names)"
  check "one's own name" "$no" "$(as "$no" sacctmgr -nP show user format=user)"
  check "one's own associations and the accounts above" "lab| lab|$no root|" \
    "$(as "$no" sacctmgr -nP show assoc format=account,user | names)"
  denied="sacctmgr: error: Access/permission denied"
  check "no accounts" "$denied Problem with query." \
    "$(as "$no" sacctmgr -nP show account | tr -s '\n ' ' ' | sed 's/ $//')"
  check "no events" "$denied Error with request: Access/permission denied" \
    "$(as "$no" sacctmgr -nP show event | tr -s '\n ' ' ' | sed 's/ $//')"
  check "no reservations" "$denied Problem with query." \
    "$(as "$no" sacctmgr -nP show reservation | tr -s '\n ' ' ' | sed 's/ $//')"
  sum() {
    as "$no" sreport -nP -tsec cluster accountutilizationbyuser start=now-1day end=now+1hour format=login | names
  }
  check "no use of others" "" "$(sum | tr ' ' '\n' | grep -x "$other" || true)"
  sacctmgr -i add coordinator account=shop name="$no" >/dev/null
  check "a coordinator sees his accounts' jobs" "$a $b" "$(as "$no" sacct -a -X -nPo jobid | names)"
  check "and these accounts" shop "$(as "$no" sacctmgr -nP show account format=account)"
  sacctmgr -i delete coordinator account=shop name="$no" >/dev/null
  check "others do not" "$b" "$(as "$other" sacct -a -X -nPo jobid | names)"
  sacctmgr -i modify account lab set flags=UsersAreCoords >/dev/null
  check "with a flag an account's users are its coordinators" "$a $b" "$(as "$other" sacct -a -X -nPo jobid | names)"
  check "and of no other" "$a" "$(as "$no" sacct -a -X -nPo jobid | names)"
  sacctmgr -i modify account lab set flags=NoUsersAreCoords >/dev/null
  check "which goes with another word" "$b" "$(as "$other" sacct -a -X -nPo jobid | names)"
  match "no other flag is known" '^ Unknown Flag\(s\)=bogus' "$(sacctmgr -i modify account lab set flags=bogus 2>&1)"
  keys "MaxQueryTimeRange=1-0"
  check "too long a span" "sacct: error: Too wide of a date range in query" \
    "$(as "$no" sacct -X -nPo jobid -S now-3days)"
  check "for those below operators" "$a" "$(sacct -a -X -nPo jobid -S now-3days -u "$no")"
  check "a job's number is no span" "$a" "$(as "$no" sacct -X -nPo jobid -j "$a")"
  match "nor are jobs by size" 'Too wide of a date range in query' \
    "$(as "$no" sreport -nP job sizesbyaccount start=now-9days end=now)"
fi

# What a cluster does not say of keys, slurmdbd does.
sacctmgr -i add user "$other" wckey=k1 defaultwckey=k1 >/dev/null
job() { sbatch --parsable -A shop -o /dev/null --wrap true; }
me=$(id -un); sacctmgr -i add user "$me" account=shop wckey=k2 defaultwckey=k2 >/dev/null
keys ""; c=$(job); wait_empty
check "no keys" "" "$(sacct -X -nPo wckey -j "$c")$(sreport -nP cluster wckey start=now-1day end=now+1hour)"
keys "TrackWCKey=yes"; d=$(sbatch --parsable -A shop -o /dev/null --wrap "sleep 2"); wait_empty
check "a job counts under its user's" "*k2" "$(sacct -X -nPo wckey -j "$d")"
hour=$(date +%Y-%m-%dT%H:00)
match "and so does its use" "test\|k2" "$(sreport -nP -tsec cluster wckey start="$hour" end=now+1hour)"

# Users without a default account.
match "one keeps it" 'can not remove the default account' "$(sacctmgr -i delete user "$other" account=lab 2>&1)"
keys "AllowNoDefAcct=yes"
sacctmgr -i add user games account=lab,shop >/dev/null
check "none is made up" "games|" "$(sacctmgr -nP show user games format=user,defaultaccount)"
sacctmgr -i modify user "$other" set defaultaccount= >/dev/null
check "one can be taken away" "$other|" "$(sacctmgr -nP show user "$other" format=user,defaultaccount)"
sacctmgr -i delete user "$other" account=lab >/dev/null
check "and its account" shop "$(sacctmgr -nP show assoc user="$other" format=account)"

# Shares of resources in hundredths, and counted.
keys "AllResourcesAbsolute=yes"
sacctmgr -i add resource lic count=150 cluster=test allowed=120 >/dev/null
check "shares are counts" "lic|150|120|Absolute" \
  "$(sacctmgr -nP show resource withclusters format=name,count,allowed,flags)"
match "and no more than there are" 'exceeds 150' "$(sacctmgr -i modify resource lic cluster=test set allowed=151 2>&1)"
# What the cluster may have of a server's licenses, its jobs ask for by both names.
match "the controller has its share" \
  '^LicenseName=lic@slurmdb Total=120 Used=0 Free=120 Reserved=0 Remote=yes LastConsumed=0 LastDeficit=0 LastUpdate=20' \
  "$(scontrol -o show lic lic@slurmdb)"
# 30 are for others, so 5 of the 35 that the server says are taken are nobody's.
sacctmgr -i modify resource lic set lastconsumed=35 >/dev/null
soon 'scontrol show lic lic@slurmdb | grep -q LastConsumed=35'
match "what somebody else has" 'Total=120 Used=0 Free=115 Reserved=0 Remote=yes LastConsumed=35 LastDeficit=5 ' \
  "$(scontrol -o show lic lic@slurmdb)"
check "and sacctmgr" "lic|slurmdb|License|150|35|120||Absolute" "$(sacctmgr -nP show resource)"
sacctmgr -i modify resource lic set lastconsumed=0 >/dev/null
a=$(sbatch --parsable -o /dev/null -L lic@slurmdb:100 --wrap 'sleep 60')
b=$(sbatch --parsable -o /dev/null -L lic@slurmdb:30 --wrap true)
soon '[ "$(squeue -h -j "$b" -o %r)" = Licenses ]'
check "who finds none of them waits" "R PD:Licenses" "$(squeue -h -j "$a" -o %t) $(squeue -h -j "$b" -o %t:%r)"
sacctmgr -i modify resource lic cluster=test set allowed=130 >/dev/null
soon '[ -z "$(squeue -h -t PD,R,CG -j "$b")" ]'
check "and has them as soon as there are more" COMPLETED "$(sacct -X -n -P -j "$b" -o state)"
scancel "$a"; sacctmgr -i delete resource lic >/dev/null
match "or never, when they are gone" 'Invalid license specification' "$(sbatch -L lic@slurmdb --wrap true 2>&1 || true)"

# A script in place of files: what it is told of goes when it has ended well.
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
printf \
  "insert into job_table (jobid, cluster, account, submit, eligible, start, end, state, name) values ('900', 'test', 'shop', %s, %s, %s, %s, '3', 'old');" \
  "$old" "$old" "$old" "$((old + 60))" > "$dir/past.sql"
sacctmgr -i archive load "$dir/past.sql" >/dev/null
past() { sacct -a -X -nPo jobname -S 2019-02-01 -E 2019-04-01; }
check "a job of the past" old "$(past)"
match "a script that fails" 'ended with 3' "$(sacctmgr -i archive dump jobs purgejobafter=12months 2>&1)"
check "costs nothing" old "$(past)"
echo 0 > "$dir/code"
sacctmgr -i archive dump jobs purgejobafter=12months >/dev/null
check "one that does not has the rows" "" "$(past)"
match "it is told of what" 'SLURM_ARCHIVE_JOBS=1.SLURM_ARCHIVE_LAST_JOB=1[0-9]*.*SLURM_ARCHIVE_STEPS=0' \
  "$(tr '\n' ' ' < "$dir/told")"
check "and what is young stays" "$before" "$(count)"
keys "PrivateData=everything"
match "a word that is none" 'stays as it was' "$(cat "$dir/log/slurmdbd.log")"
# the file holds a password; a second slurmdbd only looks at it
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
  check "another's slurmdbd.conf" \
    "fatal: slurmdbd.conf owned by $(id -u daemon) not SlurmUser($(id -u nobody)) or root" "$(refusal)"
fi
finish
