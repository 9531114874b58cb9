#!/usr/bin/env bash
# Two slurmdbd with one database, MariaDB or PostgreSQL, and three slurmctld: the active slurmdbd is killed, stopped and
# ended under submissions, and the slurmctld that leads as well. Every job has one row, with its state and exit code.
# shows: AccountingStorageBackupHost
#   dbdpair.sh PREFIX [mariadb|postgresql]
export MUSTER_TEST_LIMIT_S=${MUSTER_TEST_LIMIT_S:-480}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
unshare -um true 2>/dev/null || { echo "skipped: no namespaces"; exit 0; }
. "$here/../controllers.bash"
pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
kind=${2:-}
[ -n "$kind" ] || ! command -v mariadbd >/dev/null || kind=mariadb
[ -n "$kind" ] || [ -z "$pg" ] || kind=postgresql
[ -n "$kind" ] || { echo "skipped: neither MariaDB nor PostgreSQL is installed"; exit 0; }

# the database
sql=$dir/sql sql_port=$(free_port); mkdir -p "$sql" "$dir/log" "$dir/run"; chmod 777 "$sql"
case $kind in
  mariadb)
    mariadb-install-db --no-defaults --user=root --datadir="$sql/d" --tmpdir="$sql" \
      --auth-root-authentication-method=normal --skip-test-db </dev/null >"$dir/log/sql" 2>&1
    start_sql() {
      mariadbd --no-defaults --user=root --datadir="$sql/d" --tmpdir="$sql" --socket="$sql/s" --port="$sql_port" \
        --bind-address=127.0.0.1 --innodb-buffer-pool-size=32M </dev/null >>"$dir/log/sql" 2>&1 &
      echo $! > "$dir/run/sql.pid"
    }
    rows() { mariadb --no-defaults -S "$sql/s" -u root -N -B -e "$1" "${2:-acct}" </dev/null | tr '\t' '|'; }
    start_sql; soon 'rows "select 1" mysql >/dev/null 2>&1'
    rows "create user 'muster'@'127.0.0.1' identified by 'pw'; grant all on acct.* to 'muster'@'127.0.0.1'" mysql
    type=mysql q='`' ;;
  postgresql)
    chown postgres "$sql"
    own="setpriv --reuid=postgres --regid=postgres --clear-groups"
    (cd /; $own "$pg/initdb" -D "$sql/d" -U muster -A trust -E UTF8 --no-sync </dev/null >"$dir/log/sql" 2>&1)
    start_sql() {
      rm -f "$sql/d/postmaster.pid"
      (cd /; exec $own "$pg/postgres" -D "$sql/d" -p "$sql_port" -k "$sql" -h 127.0.0.1 </dev/null >>"$dir/log/sql" \
        2>&1) &
      echo $! > "$dir/run/sql.pid"
    }
    rows() { (cd /; $own psql -h "$sql" -p "$sql_port" -U muster -A -t -q -c "$1" "${2:-acct}" </dev/null); }
    start_sql; soon 'rows "select 1" postgres >/dev/null 2>&1'
    type=postgresql q='"' ;;
  *) echo "mariadb or postgresql"; exit 2 ;;
esac

# two hosts d1 and d2 of slurmdbd, with the same slurmdbd.conf
dbd_port=$(free_port)
cat > "$dir/slurmdbd.conf" <<C
AuthType=auth/slurm
DbdHost=d1
DbdBackupHost=d2
DbdPort=$dbd_port
CommunicationParameters=NoInAddrAny
SlurmUser=root
StorageType=accounting_storage/$type
StorageHost=127.0.0.1
StoragePort=$sql_port
StorageUser=muster
StoragePass=pw
StorageLoc=acct
LogFile=$dir/dbd/slurmdbd.log
PidFile=$dir/dbd/slurmdbd.pid
C
chmod 600 "$dir/slurmdbd.conf"
mkdir -p "$dir/dbd"
printf '127.0.0.1 localhost\n127.0.2.1 d1\n127.0.2.2 d2\n127.0.2.3 d3\n' > "$dir/hosts"
on_host() { # NUMBER COMMAND: with the name and the files of a host of slurmdbd
  mkdir -p "$dir/d$1"
  unshare -um bash -c "hostname d$1; mount --bind $dir/hosts /etc/hosts; mount --bind $dir/d$1 $dir/dbd; $2"
}
start_dbd() { on_host "$1" "exec slurmdbd -f $dir/slurmdbd.conf" </dev/null >>"$dir/log/start.out" 2>&1; }
dbd_pid() { cat "$dir/d$1/slurmdbd.pid" 2>/dev/null; }
is_active() {
  timeout 1 bash -c "exec 3<>/dev/tcp/127.0.2.$1/$dbd_port; printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3; head -1 <&3" \
    2>/dev/null | grep -q ' 200'
}
active() { for h in 1 2; do ! is_active $h || echo $h; done; }
answered() { # NUMBER BEGAN-MS WHAT: prints how long it took until that slurmdbd served
  soon "is_active $1"
  took=$(($(date +%s%3N) - $2))
  echo "     $3: slurmdbd on d$1 serves after $took ms"
}

start_controllers 2 32 "AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.2.1
AccountingStorageBackupHost=127.0.2.2
AccountingStoragePort=$dbd_port
MessageTimeout=30"

refused=$(on_host 3 "slurmdbd -D -f $dir/slurmdbd.conf" </dev/null 2>&1 || true)
match "a host that slurmdbd.conf does not name is refused" \
  'This host not configured to run SlurmDBD \(\(d3 or d3\) != d1 \| \(backup\) d2\)' "$refused"
sed "s,^StorageType=.*,StorageType=accounting_storage/embedded,; s,^StorageLoc=.*,StorageLoc=$dir/none," \
  "$dir/slurmdbd.conf" > "$dir/embedded.conf"; chmod 600 "$dir/embedded.conf"
match "a backup of embedded tables is refused" 'DbdBackupHost needs a database that both hosts reach' \
  "$(on_host 2 "slurmdbd -D -f $dir/embedded.conf" </dev/null 2>&1 || true)"
start_dbd 2
soon 'is_active 2'
check "a backup without a primary serves" 2 "$(active)"
start_dbd 1
becomes "the primary takes over at its start" 1 '$(active)'
becomes "the backup stands by" 1 '$(sed "s/.*is in standby mode.*/1/p;d" "$dir/d2/slurmdbd.log" | head -1)'
check "ping" "slurmdbd(primary) at 127.0.2.1 is UP,slurmdbd(backup) at 127.0.2.2 is UP,0" \
  "$(sacctmgr ping | tr '\n' ','; echo 0)"
sacctmgr -i add cluster test >/dev/null 2>&1 || true
check "an account" 0 "$(sacctmgr -i add account one >/dev/null; echo $?)"

ledger=$dir/ledger; : > "$ledger"; chmod 666 "$ledger"
cat > job.sh <<J
#!/bin/bash
code=\$((SLURM_JOB_ID % 5))
echo "\$SLURM_JOB_ID|\$code" >> $ledger
exit \$code
J
submit() {
  while [ ! -e "$dir/done" ]; do
    sbatch --parsable -o /dev/null job.sh </dev/null >>"acks.$1" 2>/dev/null || true
    sleep 0.1 # 0.1 s: some ten submissions in a second
  done
}
submitters=; for i in 1 2; do submit "$i" & submitters="$submitters $!"; done
sleep 2 # 2 s: rows under the first slurmdbd

began=$(date +%s%3N)
kill -9 "$(dbd_pid 1)"
answered 2 "$began" "kill -9 of the active"
check "within 10 s" yes "$([ "$took" -lt 10000 ] && echo yes || echo "$took ms")"
check "what the primary wrote is there" one "$(sacctmgr -n -P show account one format=account)"
check "ping without the primary" "slurmdbd(primary) at 127.0.2.1 is DOWN,slurmdbd(backup) at 127.0.2.2 is UP," \
  "$(sacctmgr ping | tr '\n' ',')"
check "a change by the backup" 0 "$(sacctmgr -i add account two >/dev/null; echo $?)"
sleep 2 # 2 s: rows under the backup

began=$(date +%s%3N)
start_dbd 1
answered 1 "$began" "start of the primary"
check "the primary knows the backup's change" two "$(sacctmgr -n -P show account two format=account)"
soon '[ "$(active)" = 1 ]'
check "one slurmdbd serves" 1 "$(active)"

# a slurmdbd that stands still
sleep 1 # 1 s: rows under the primary
began=$(date +%s%3N)
kill -STOP "$(dbd_pid 1)"
answered 2 "$began" "SIGSTOP of the active"
check "within 15 s" yes "$([ "$took" -lt 15000 ] && echo yes || echo "$took ms")"
check "a command goes to the backup" 0 "$(timeout 30 sacctmgr -i add account three >/dev/null; echo $?)"
sleep 2 # 2 s: rows under the backup
kill -CONT "$(dbd_pid 1)"
soon 'grep -q "d2 has taken over" "$dir/d1/slurmdbd.log"'
check "the old one serves no more when it goes on" 2 "$(active)"
check "and a command finds the other one" three "$(sacctmgr -n -P show account three format=account)"

# the database is away: no slurmdbd writes, and callers may ask again
epoch=$(rows "select ${q}epoch$q from ${q}slurmdbd_lease$q")
kill -9 "$(pid_of sql)"
soon '[ -z "$(active)" ]' 20
match "a change is refused while the database is away" 'database' "$(sacctmgr -i add account four 2>&1 || true)"
check "jobs are submitted while it is away" 0 "$(sbatch -o /dev/null job.sh >late; echo $?)"
sed 's/[^0-9]*//' late > acks.3
start_sql
soon '[ -n "$(active)" ] && sacctmgr -i add account four >/dev/null 2>&1'
check "one slurmdbd serves again" 1 "$(active | wc -l)"
check "changes are written again" four "$(sacctmgr -n -P show account four format=account)"
echo "     epoch $epoch before the database was killed, $(rows "select ${q}epoch$q from ${q}slurmdbd_lease$q") after it"

# both leaders at once
was=$(leader)
kill -9 "$(controller_pid "$was")"
serves=$(active) waits=$((3 - $(active)))
began=$(date +%s%3N)
kill -TERM "$(dbd_pid "$serves")"
answered "$waits" "$began" "orderly stop of the active"
check "within 5 s" yes "$([ "$took" -lt 5000 ] && echo yes || echo "$took ms")"
soon '[ -n "$(leader)" ] && [ "$(leader)" != "$was" ]'
start_controller "$was"
start_dbd "$serves"
becomes "the other one returns; the primary takes over then, the backup does not" 1 '$(active)'
sleep 2 # 2 s: rows under the new leaders

: > "$dir/done"; wait $submitters || true
soon '[ -z "$(squeue -h 2>/dev/null)" ]' 120
cat acks.* | sort -u > acknowledged
check "every acknowledged job ran, once" "" \
  "$(diff <(sort acknowledged) <(cut -d'|' -f1 "$ledger" | sort) | grep '^[<>]' | head -5 | tr '\n' ' ')"
sacct -a -n -X -o jobid -j 1 >/dev/null # it answers when the controller's rows are in
awk -F'|' '{print $1"|"$2"|"($2 ? "FAILED" : "COMPLETED")}' "$ledger" | sort > in_ledger
rows "select ${q}job_id$q, ${q}exit_code$q, ${q}state$q from ${q}job$q" | sed 's/:0|/|/' | sort > in_table
check "each job has one row, with its exit code and state" "" \
  "$(diff in_ledger in_table | grep '^[<>]' | head -5 | tr '\n' ' ')"
check "and sacct says the same" "" "$(diff in_ledger \
  <(sacct -a -X -n -P -S now-1days -o jobidraw,exitcode,state | sed 's/:0|/|/' | sort) | head -5 | tr '\n' ' ')"
echo "     $kind: $(wc -l < in_ledger) jobs, $(rows "select ${q}epoch$q from ${q}slurmdbd_lease$q") leases"
