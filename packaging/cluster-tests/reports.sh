#!/usr/bin/env bash
# sreport over jobs of 2008 loaded from an archive and over a job of this hour; sacctmgr load, dump and archive.
. "$(dirname "$0")/lib.bash"
prepare_dbd; echo TrackWCKey=yes >> "$dir/slurmdbd.conf"
start_dbd
me=$(id -un)
sacctmgr -i add cluster test,c1 >/dev/null
sacctmgr -i add account a1,a2 cluster=c1,test >/dev/null
sacctmgr -i add account a3 cluster=c1 parent=a2 >/dev/null
sacctmgr -i add user u1,u2 cluster=c1 account=a1,a2,a3 wckey=wk1 >/dev/null 2>&1
sacctmgr -i add user "$me" cluster=test account=a1 >/dev/null 2>&1 || true
start_cluster 1 4 "$accounting"
assoc() { sacctmgr -nP list assoc users="$1" account="$2" cluster=c1 format=id | head -1; }
key() { sacctmgr -nP list wckeys users="$1" wckeys=wk1 cluster=c1 format=id | head -1; }
at=$(date -d '2007-12-31 23:00' +%s); end=$(date -d '2008-01-31 23:59:59' +%s)
waits=$((at + 3600)); starts=$((waits + 3900)); over=$((starts + 86400))
cat > "$dir/past.sql" <<S
insert into cluster_event_table (node_name, cluster, tres, period_start, period_end, reason, cluster_nodes) values
('', 'c1', '1=4,2=4000', $at, $end, 'Cluster processor count', 'x[0-1]'),
('x0', 'c1', '1=2,2=2000', $((at + 2700)), $((at + 4500)), 'down', '')
on duplicate key update period_start=VALUES(period_start);
insert into job_table (jobid, associd, wckey, wckeyid, uid, gid, \`partition\`, cluster, account,
eligible, submit, start, end, suspended, name, state, comp_code, priority, req_cpus, tres_alloc, nodelist, kill_requid,
qos, deleted)
values
('65536', '$(assoc u1 a1)', 'wk1', '$(key u1)', '0', '0', 'debug', 'c1', 'a1',
 $at, $at, $at, $((at + 1200)), '0', 'j', '3', '0', '2', 2, '1=2,2=500', 'x1', '0', '0', '0')
('65537', '$(assoc u1 a1)', 'wk1', '$(key u1)', '0', '0', 'debug', 'c1', 'a1',
 $((at + 1200)), $((at + 1200)), $((at + 1200)), $((at + 3900)),
 '0', 'j', '3', '0', '2', 2, '1=2,2=700', 'x1', '0', '0', '0'),
('65538', '$(assoc u2 a3)', 'wk1', '$(key u2)', '0', '0', 'debug', 'c1', 'a3',
 $waits, $waits, $starts, $over, '0', 'j', '3', '0', '4', 4, '1=4,2=4000', 'x[0-1]', '0', '0', '0'),
('65539', '$(assoc u1 a2)', 'wk1', '$(key u1)', '0', '0', 'debug', 'c1', 'a2',
 $((over - 3600)), $((over - 3600)), $over, $((over + 3900)),
 '0', 'j', '3', '0', '2', 2, '1=2,2=100', 'x0', '0', '0', '0')
on duplicate key update id=LAST_INSERT_ID(id);
S
for _ in 1 2; do
  match "an archive is loaded, and again" SUCCESS "$(sacctmgr -i archive load "$dir/past.sql" 2>&1)"
done
match "sacctmgr roll" SUCCESS "$(sacctmgr -i roll 2007-12-31T23:00 2008-01-31T23:59 2>&1)"
span="start=2007-12-31T23:00 end=2008-01-02T12:00"
r() { sreport -nP -tsec "$@"; }
check "cluster utilization" "c1|361200|3600|0|154200|13800|532800" \
  "$(r cluster utilization cluster=c1 $span)"
check "cluster utilization of an overcommitted hour" "c1|0|12000|2400" \
  "$(r cluster utilization cluster=c1 start=2008-01-01T00:10 end=2008-01-01T00:50 format=cluster,idle,planned,over)"
printf -v want '%s\n' 'c1|root|||361200(67.79%)' 'c1|a1|||7800(1.46%)' 'c1|a1|u1||7800(1.46%)' \
  'c1|a2|||353400(66.33%)' 'c1|a2|u1||7800(1.46%)' \
  'c1|a3|||345600(64.86%)' 'c1|a3|u2||345600(64.86%)'
check "cluster accountutilizationbyuser" "${want%$'\n'}" \
  "$(sreport -nP -tsecper cluster accountutilizationbyuser cluster=c1 $span format=cluster,account,login,proper,used)"
check "user top" "c1|u2||a3|345600|0 c1|u1||a1, a2|15600|0" \
  "$(r user top group cluster=c1 $span | tr '\n' ' ' | sed 's/ $//')"
check "cluster wckey" "c1|wk1|||361200 c1|wk1|u1||15600 c1|wk1|u2||345600" \
  "$(r cluster wckey cluster=c1 $span | tr '\n' ' ' | sed 's/ $//')"
check "job sizes" "c1|a1|0|7800|0|7800|2.16% c1|a2|0|7800|345600|353400|97.84%" \
  "$(r job sizes acctasparent grouping=2,4 cluster=c1 $span | tr '\n' ' ' | sed 's/ $//')"
echo "insert into job_table (jobid, secret) values (1, 2)" > "$dir/bad.sql"
check "an archive with an unknown column is refused" 1 \
  "$(sacctmgr -i archive load "$dir/bad.sql" >/dev/null 2>&1; echo $?)"

# sacctmgr load and dump: a dump equals the loaded file and is worded as Slurm's.
cat > "$dir/c9.cfg" <<C
# To edit this file start with a cluster line for the new cluster
Cluster - 'c9':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'b1':Description='one: the first':Organization='o':Fairshare=3:MaxWallDurationPerJob=40:MaxTRESPerJob=node=5
Account - 'b2':Description='b2':Organization='b2':Fairshare=1
Parent - 'b1'
User - 'u8':DefaultAccount='b1':DefaultWCKey='wk8':WCKeys='wk8':Fairshare=1:GrpTRES=cpu=4,mem=1024
Account - 'b3':Description='b3':Organization='b1':Fairshare=1
Parent - 'b3'
User - 'u8':DefaultAccount='b1':Fairshare=1
User - 'u9':DefaultAccount='b3':AdminLevel='Operator':Coordinator='b3':MaxJobs=3:Fairshare=7
C
match "a cluster is loaded from a file" 'u9 +b3 +7' "$(sacctmgr -i load "$dir/c9.cfg" 2>&1)"
check "associations, user and key of the loaded file" "b1|3|00:40:00|node=5 b3|7| u8|b1 *wk8" "$(
  { sacctmgr -nP show assoc cluster=c9 account=b1 user= format=account,fairshare,maxwall,maxtres
    sacctmgr -nP show assoc cluster=c9 user=u9 format=account,share,grpwall
    sacctmgr -nP show user u8 withassoc cluster=c9 format=user,defaultaccount | sort -u
    sacctmgr -nP show wckey user=u8 cluster=c9 format=wckey; } | tr '\n' ' ' | sed 's/ $//')"
check "a second load adds nothing" "For cluster c9 Nothing new added." \
  "$(sacctmgr -i load "$dir/c9.cfg" 2>&1 | xargs)"
check "a dump names the command once for QOS and cluster" \
  "sacctmgr: QOS - 'normal'|Cluster - 'c9'|sacctmgr: Parent - 'root'" \
  "$(sacctmgr dump c9 file="$dir/d9.cfg" 2>&1 | grep -o "^[^:]*: [QP][^:]*\|^Cluster[^:]*" | head -3 | paste -sd'|')"
sacctmgr -i load "$dir/d9.cfg" cluster=c10 >/dev/null 2>&1
sacctmgr dump c10 file="$dir/d10.cfg" >/dev/null 2>&1
check "a dump that is loaded and dumped is the same" "" "$(diff <(sed s/c9/c10/ "$dir/d9.cfg") "$dir/d10.cfg")"
grep -v "b2\|u9" "$dir/c9.cfg" > "$dir/less.cfg"
sacctmgr -i load "$dir/less.cfg" clean >/dev/null 2>&1
check "load clean removes associations that the file lacks" 0 \
  "$(sacctmgr -nP show assoc cluster=c9 format=account,user | grep -c 'b2\|u9' || true)"
printf "Cluster - 'c13'\nAccount - 'b1':Bogus=1\n" > "$dir/bad.cfg"
check "a file with a mistake is refused" 1 "$(sacctmgr -i load "$dir/bad.cfg" >/dev/null 2>&1; echo $?)"
check "a file with a mistake changes nothing" "" "$(sacctmgr -nP show cluster c13)"
cat > "$dir/m1.cfg" <<C
Cluster - 'c14':Classification='capability'
Parent - 'root'
Account - 'm1':Fairshare=5
Account - 'm2'
Parent - 'm1'
Account - 'm3':MaxJobs=4:AdminLevel=Operator
Parent - 'm3'
User - 'mu':DefaultAccount='m3'
C
match "load prints the classification" "For cluster c14 Classification: Capability Account" \
  "$(sacctmgr -i load "$dir/m1.cfg" 2>&1 | xargs)"
cat > "$dir/m2.cfg" <<C
Cluster - 'c14':Classification='capacity':Fairshare=3
Parent - 'root'
Account - 'm1':Fairshare=6:GrpTRES=cpu=4
Account - 'm3':MaxJobs=-1
Parent - 'm1'
Account - 'm2'
Parent - 'm3'
User - 'mu':DefaultAccount='m3':Fairshare=7
C
check "load prints each change" "For cluster c14
 Changed Classification        for Cluster c14        Capability -> Capacity
 Changed fairshare             for Cluster c14               1 -> 3
 Changed fairshare             for Account m1                5 -> 6
 Changed GrpTRES               for Account m1           (null) -> 1=4
 Changed MaxJobs               for Account m3                4 -> -1
 Changed Parent                for Account m3               m1 -> root
 Changed Parent                for Account m2             root -> m1
 Changed fairshare             for User    mu                1 -> 7" "$(sacctmgr -i load "$dir/m2.cfg" 2>/dev/null)"
check "accounts move to the parents of the file" "root| m1|root m2|m1 m3|root" \
  "$(sacctmgr -nP show assoc cluster=c14 user= format=account,parentname | xargs)"
match "sacctmgr show stats names requests as Slurm" 'DBD_FINI +\( 1401\) count:[1-9]' "$(sacctmgr show stats)"
id=$(sbatch --parsable -A a1 -n2 -o /dev/null --wrap 'sleep 3'); wait_empty
hour=$(date +%Y-%m-%dT%H:00)
# (part of the job's time may belong to the hour before)
match "the report has a job of this hour at once" '^test\|a1\|[1-9][0-9]*$' \
  "$(r cluster accountutilizationbyuser start="$hour" end=now format=cluster,account,used accounts=a1 | head -1 \
  || true)"
# sacctmgr archive: old records go to files and are loaded again unchanged.
mkdir "$dir/old"
before=$(sacct -nP -M c1 -a -S 2007-12-31 -E 2008-02-01 -o all)
match "a job to be archived" 65539 "$before"
match "archive dump" SUCCESS \
  "$(sacctmgr -i archive dump directory="$dir/old" jobs events purgejobafter=1month purgeeventafter=1month 2>&1)"
check "archived jobs are gone from the tables" "" "$(sacct -nP -M c1 -a -S 2007-12-31 -E 2008-02-01 -o jobid)"
head -c 300 /dev/urandom > "$dir/packed"
match "a binary file is refused" 'packed is no text' "$(sacctmgr -i archive load "$dir/packed" 2>&1)"
match "archive dump of usage and suspensions" SUCCESS \
  "$(sacctmgr -i archive dump directory="$dir/old" usage suspend purgeusageafter=1month purgesuspendafter=1month 2>&1)"
check "a missing directory is refused" 1 \
  "$(sacctmgr -i archive dump directory="$dir/nowhere" steps purgestepafter=1hour >/dev/null 2>&1; echo $?)"
for f in "$dir"/old/*; do sacctmgr -i archive load "$f" >/dev/null 2>&1; done
check "archived jobs are loaded again unchanged" "$before" "$(sacct -nP -M c1 -a -S 2007-12-31 -E 2008-02-01 -o all)"
check "the report is unchanged" "c1|361200|3600|0|154200|13800|532800" "$(r cluster utilization cluster=c1 $span)"
# A reservation that one job uses in part.
scontrol create reservation reservationname=r1 starttime=now duration=60 nodes=n1 users="$me" >/dev/null
sbatch -A a1 -n4 --reservation=r1 -o /dev/null --wrap 'sleep 4' >/dev/null; wait_empty
match "slurmdbd has the reservation" "^test\\|r1\\|cpu=4\\|SPEC_NODES\\|n1$" \
  "$(sacctmgr -nP show reservation format=cluster,name,tres,flags,nodes)"
match "reservation utilization" '^r1\|cpu\|4\|(1[2-9]|2[0-9])\|143[0-9][0-9]$' \
  "$(r reservation utilization start="$hour" end=now+1hour format=name,tresname,trescount,alloc,idle)"
scontrol delete reservation r1
match "reservation utilization ends with its removal" '^r1\|cpu\|(1[2-9]|2[0-9])\|[0-9]{1,2}$' \
  "$(r reservation utilization start="$hour" end=now+1hour format=name,tresname,alloc,idle)"
match "the cluster's reported time of this hour" '^test\|[1-9]' \
  "$(r cluster utilization start="$hour" format=cluster,reported)"
finish
