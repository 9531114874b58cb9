#!/usr/bin/env bash
# dbkills.sh PREFIX mariadb|postgresql|embedded [JOBS]: kill -9 of slurmdbd, of the database server and of slurmctld in
# turn while JOBS jobs (6700: some 20,000 events of submission, start and end) go through. Each job writes its number,
# its place in its array and its exit code into a ledger that no daemon of ours sees; what the tables say in the end is
# read with the database's own client and compared with the ledger row by row.
export MUSTER_TEST_LIMIT_S=${MUSTER_TEST_LIMIT_S:-1500}
kind=${2:-mariadb} jobs=${3:-6700} tasks=50
. "$(dirname "$0")/cluster-tests/lib.bash"
prepare_dbd
sql=$dir/sql; sql_port=$(free_port); mkdir -p "$sql"; chmod 777 "$sql"
case $kind in
  mariadb)
    mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$sql/d" --tmpdir="$sql" \
      --auth-root-authentication-method=normal --skip-test-db </dev/null >"$dir/log/sql" 2>&1
    start_sql() {
      mariadbd --no-defaults --user="$(id -un)" --datadir="$sql/d" --tmpdir="$sql" --socket="$sql/s" \
        --port="$sql_port" --bind-address=127.0.0.1 </dev/null >>"$dir/log/sql" 2>&1 &
      echo $! > "$dir/run/sql.pid"
    }
    rows() { mariadb --no-defaults -S "$sql/s" -u root -N -B -e "$1" acct </dev/null | tr '\t' '|'; }
    ready() { mariadb --no-defaults -S "$sql/s" -u root -e 'select 1' </dev/null >/dev/null 2>&1; }
    type=mysql q='`' ;;
  postgresql)
    pg=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
    own=
    [ "$(id -u)" != 0 ] || { own="setpriv --reuid=postgres --regid=postgres --clear-groups"; chown postgres "$sql"; }
    (cd /; $own "$pg/initdb" -D "$sql/d" -U muster -A trust -E UTF8 --no-sync </dev/null >"$dir/log/sql" 2>&1)
    start_sql() {
      rm -f "$sql/d/postmaster.pid"
      (cd /; exec $own "$pg/postgres" -D "$sql/d" -p "$sql_port" -k "$sql" -h 127.0.0.1 </dev/null >>"$dir/log/sql" \
          2>&1) &
      sleep 0.3
      head -1 "$sql/d/postmaster.pid" > "$dir/run/sql.pid" 2>/dev/null || true
    }
    rows() { (cd /; $own psql -h "$sql" -p "$sql_port" -U muster -A -t -q -c "$1" "${2:-acct}" </dev/null); }
    ready() { rows 'select 1' postgres >/dev/null 2>&1; }
    type=postgresql q='"' ;;
  embedded) start_sql() { :; }; ready() { :; }; type=embedded q='"' ;;
  *) echo "mariadb, postgresql or embedded"; exit 2 ;;
esac
await() { local n; for n in $(seq 300); do "$@" && return; sleep 0.1; done; echo "not ready: $*"; exit 1; }
start_sql; await ready
case $kind in
  mariadb) mariadb --no-defaults -S "$sql/s" -u root \
    -e "create user 'muster'@'127.0.0.1' identified by 'pw'; create user 'muster'@'localhost' identified by 'pw';
      grant all on acct.* to 'muster'@'127.0.0.1'; grant all on acct.* to 'muster'@'localhost'" \
    </dev/null ;;
  postgresql) rows 'create database acct' postgres ;;
esac
[ $kind = embedded ] || {
  sed -i '/^Storage/d' "$dir/slurmdbd.conf"
  printf '%s\n' "StorageType=accounting_storage/$type" StorageHost=127.0.0.1 "StoragePort=$sql_port" \
    StorageUser=muster StoragePass=pw StorageLoc=acct >> "$dir/slurmdbd.conf"
}
start_dbd
start_cluster 2 8 "$accounting
MaxJobCount=100000"
sacctmgr -i add cluster test >/dev/null 2>&1 || true

ledger=$dir/ledger; : > "$ledger"; chmod 666 "$ledger"; : > "$dir/acks"
cat > "$dir/job.sh" <<J
#!/bin/bash
code=\$((SLURM_JOB_ID % 7))
echo "\$SLURM_JOB_ID|\$SLURM_ARRAY_JOB_ID|\$SLURM_ARRAY_TASK_ID|\$code" >> $ledger
exit \$code
J
submit() {
  local i
  for i in $(seq $((jobs / tasks))); do
    until sbatch --parsable -o /dev/null --array=1-$tasks "$dir/job.sh" </dev/null >> "$dir/acks" 2>/dev/null; do
      sleep 0.2
    done
  done
}
began=$(date +%s)
submit & submitter=$!
kills=0 gone=
while kill -0 $submitter 2>/dev/null || [ "$(wc -l < "$ledger")" -lt $((jobs / tasks * tasks)) ]; do
  [ $(($(date +%s) - began)) -lt $((MUSTER_TEST_LIMIT_S - 300)) ] || { gone=" (out of time)"; break; }
  sleep 2.$((RANDOM % 10))
  case $((kills % 3)) in
    0) kill -9 "$(pid_of slurmdbd)"; sleep 1; start_dbd || { sleep 1; start_dbd; } ;;
    1) [ $kind = embedded ] || {
      p=$(pid_of sql)
      kill -9 "$p"
      [ $kind = mariadb ] || sleep 0.5
      sleep 1
      start_sql
      await ready
    } ;;
    2) kill -9 "$(pid_of slurmctld)"; sleep 0.3; await start_ctld ;;
  esac
  kills=$((kills + 1))
done
wait $submitter || true
wait_empty 300
acked=$(sort -u "$dir/acks" | wc -l)
check "every task of every array that was acknowledged ran, once$gone" "$((acked * tasks)) $((acked * tasks))" \
  "$(wc -l < "$ledger") $(cut -d'|' -f1 "$ledger" | sort -u | wc -l)"
sacct -a -n -X -o jobid -j 1 >/dev/null    # it answers when the controller's rows are in
awk -F'|' '{print $1"|"$2"|"$3"|"$4"|"($4 ? "FAILED" : "COMPLETED")}' "$ledger" | sort > "$dir/in_ledger"
if [ $kind = embedded ]; then
  sacct -a -X -n -P -S now-1days -o jobidraw,jobid,exitcode,state | sed 's/_/|/; s/:0|/|/' | sort > "$dir/in_table"
else
  rows "select ${q}job_id$q, ${q}array_job_id$q, ${q}array_task_id$q, ${q}exit_code$q, ${q}state$q
    from ${q}job$q where ${q}array_job_id$q > 0" \
    | sort > "$dir/in_table"
fi
check "the tables say what the ledger says, row by row" "" \
  "$(diff "$dir/in_ledger" "$dir/in_table" | grep '^[<>]' | head -5 | tr '\n' ' ')"
echo "$kind: $(wc -l < "$dir/in_ledger") jobs in the ledger, $(wc -l < \
    "$dir/in_table") rows, $kills kills in $(($(date +%s) - began)) s"
