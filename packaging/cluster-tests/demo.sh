#!/usr/bin/env bash
# ./muster up and down: the demo keeps its ports, prints the link to its page, and signals only its own daemons.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
muster=$here/../../muster
[ "$prefix" = "$(cd "$here/../.." && pwd)/build/prefix" ] \
  || { echo "skipped: needs build/prefix of ./muster build"; exit 0; }
demo=$dir/demo; first=$(free_port)
export MUSTER_DEMO_DIR=$demo SLURM_CONF=$demo/slurm.conf
up() { MUSTER_DEMO_PORT=$first "$muster" up 2>&1; }
ended() {
  "$muster" down
  local p
  for p in "${python:-}" "${listener:-}"; do
    [ -z "$p" ] || kill "$p" 2>/dev/null || true
  done
}
trap 'rc=$?; ended; (exit "$rc"); finish' EXIT
match "up prints a link to the page" "page: http://localhost:$((first + 5))/#code=" "$(up | tail -1)"
match "muster page finds the demo without an address" "http://localhost:$((first + 5))/#code=" "$(muster page)"
check "a job's use is sampled" "jobacct_gather/linux" \
  "$(scontrol show config | awk '$1 == "JobAcctGatherType" { print $3 }')"
check "its accounts have shares" "research teaching" "$(sshare -n -P -U -A research,teaching -o account | sort | xargs)"
check "a QOS besides the default one" 100 "$(sacctmgr -n -P list qos high format=priority)"
"$muster" down
check "down leaves no pid file" "" "$(ls "$demo/run" | grep pid || true)"
match "connections of an earlier demo do not move its ports" "page: http://localhost:$((first + 5))/#code=" \
  "$(up | tail -1)"
"$muster" down

# The pid files have numbers of another program: of its process and of one of its threads.
python3 - "$demo/threads" <<'P' &
import sys, threading, time
t = threading.Thread(target=time.sleep, args=(300,), daemon=True); t.start()
open(sys.argv[1], 'w').write(str(t.native_id)); time.sleep(300)
P
python=$!
soon '[ -s "$demo/threads" ]' 10
cp "$demo/threads" "$demo/run/slurmrestd.pid"
echo "$python" > "$demo/run/slurmctld.pid"
echo "$python" > "$demo/run/slurmd-n1.pid"
match "slurmrestd starts when its pid file has a number of another program" \
  "page: http://localhost:$((first + 5))/#code=" "$(up | tail -1)"
check "slurmctld and the nodes start when their pid files have a number of another program" 4 \
  "$(sinfo -h -N -o %T | grep -c idle)"
rest=$(cat "$demo/run/slurmrestd.pid")
cp "$demo/threads" "$demo/run/slurmrestd.pid"
kept=$(cat "$demo/run/slurmd-n1.pid")
echo "$python" > "$demo/run/slurmd-n1.pid"
"$muster" down
check "down signals no other program" yes "$(kill -0 "$python" && echo yes)"
kill "$rest" "$kept"
soon '! kill -0 "$rest" 2>/dev/null && ! kill -0 "$kept" 2>/dev/null' 10
rm -f "$demo"/run/*.pid

# A port that another program listens on moves the demo, with a message.
python3 -c 'import socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1]))); time.sleep(300)' $((first + 2)) & listener=$!
soon '(exec 3<>"/dev/tcp/127.0.0.1/$((first + 2))") 2>/dev/null' 10
match "a listener on a port of the demo moves it" "the demo moves from port $first to $((first + 10))," "$(up)"
"$muster" down
match "an unknown command is named" "muster: instal is no command of this script" "$("$muster" instal x 2>&1)"
check "--help ends with 0" 0 "$("$muster" --help >/dev/null; echo $?)"
: > "$dir/file"
match "install tests its prefix before it builds" "muster: $dir/file cannot be written to" \
  "$("$muster" install "$dir/file" 2>&1 || true)"
