#!/bin/sh
# Tests of the launcher with small Java programs in place of commands and daemons. Usage: launcher_test.sh LAUNCHER
set -u
launcher=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
prefix=$(mktemp -d /tmp/launcher-test-XXXXXX)
trap 'rm -rf "$prefix"' EXIT
failed=0
check() { # name, wanted, found
    if [ "$2" = "$3" ]; then echo "ok    $1"; else failed=1; printf 'FAILED %s\n wanted: %s\n found:  %s\n' "$1" "$2" "$3"; fi
}

mkdir -p "$prefix/bin" "$prefix/sbin" "$prefix/lib/muster/jars/cli" "$prefix/lib/muster/jars/daemon" "$prefix/classes"
"$JAVA_HOME/bin/javac" -d "$prefix/classes" $(find "$here/java" -name '*.java')
"$JAVA_HOME/bin/jar" -cf "$prefix/lib/muster/jars/cli/cli.jar" -C "$prefix/classes" dev/muster/cli
"$JAVA_HOME/bin/jar" -cf "$prefix/lib/muster/jars/daemon/daemon.jar" -C "$prefix/classes" dev/muster/controller
echo "java_home=$JAVA_HOME" >"$prefix/lib/muster/launcher.conf"
cp "$launcher" "$prefix/bin/squeue"
ln "$prefix/bin/squeue" "$prefix/bin/srun"
ln "$prefix/bin/squeue" "$prefix/sbin/slurmctld"
squeue=$prefix/bin/squeue

check 'version' 'slurm 26.05.3' "$($squeue -V)"
check 'version of a daemon' 'slurm 26.05.3' "$("$prefix/sbin/slurmctld" -V)"
check 'arguments' 'squeue|args|a b|é' "$($squeue args 'a b' 'é')"
check 'raw bytes' '[-1, 65]' "$($squeue raw "$(printf '\377A')")"
$squeue exit 7; check 'exit code' 7 $?
$squeue return; check 'return' 0 $?
$squeue throw 2>/dev/null; check 'an exception' 1 $?
$squeue signal 15 2>/dev/null; check 'death by signal' 143 $?
mkdir "$prefix/gone"; check 'a directory that is gone' 'squeue|args' "$(cd "$prefix/gone" && rmdir "$prefix/gone" && $squeue args 2>&1)"
mkdir "$prefix/gone"; check 'a directory that is gone cannot be handed on' 'srun: error: getcwd failed: No such file or directory 255' \
    "$( (cd "$prefix/gone" && rmdir "$prefix/gone" && "$prefix/bin/srun" args 2>&1; echo $?) | xargs)"
check 'umask' 23 "$( (umask 027; $squeue umask) )"
check 'deaf but passing on' '' "$(JAVA_TOOL_OPTIONS=-Xbad _JAVA_OPTIONS=-Xworse $squeue return 2>&1)"
check 'environment kept' 'JAVA_TOOL_OPTIONS=-Xbad' "$(JAVA_TOOL_OPTIONS=-Xbad $squeue environ | grep JAVA_TOOL)"
check 'request id' yes "$($squeue id | awk 'length($1) == 32 && $1 == $2 {print "yes"}')"
check 'no peer' none "$($squeue exchange "$prefix/no-socket")"
$squeue sleep >"$prefix/out" & pid=$!
while ! grep -q ready "$prefix/out"; do sleep 0.05; done
check 'comm' squeue "$(cat /proc/$pid/comm)"
check 'exe' "$squeue" "$(readlink /proc/$pid/exe)"
check 'command line' "$squeue sleep " "$(tr '\0' ' ' </proc/$pid/cmdline)"
kill -TERM $pid; wait $pid; check 'dies by a signal as a C program does' 143 $?

printf garbage >"$prefix/lib/muster/cli.aot"
check 'a damaged cache is passed over silently' 'squeue|args' "$($squeue args 2>&1)"
rm "$prefix/lib/muster/cli.aot"
echo "squeue_options=-XX:AOTCacheOutput=$prefix/lib/muster/cli.aot" >>"$prefix/lib/muster/launcher.conf"
$squeue args >/dev/null 2>&1
echo "java_home=$JAVA_HOME" >"$prefix/lib/muster/launcher.conf"
check 'a cache is made' yes "$([ -s "$prefix/lib/muster/cli.aot" ] && echo yes)"
check 'with a cache' 'squeue|args' "$($squeue args 2>&1)"
# Java does not look at the jar of a cached class: other code in it would not run.
mkdir "$prefix/newer" && cp -r "$here/java" "$prefix/newer/java"
sed -i 's/String.join("|", args)/"newer code"/' "$prefix/newer/java/dev/muster/cli/Main.java"
"$JAVA_HOME/bin/javac" -d "$prefix/newer/classes" $(find "$prefix/newer/java" -name '*.java')
"$JAVA_HOME/bin/jar" -cf "$prefix/lib/muster/jars/cli/cli.jar" -C "$prefix/newer/classes" dev/muster/cli
check 'a cache that is older than a jar is passed over silently' 'newer code' "$($squeue args 2>&1)"
"$JAVA_HOME/bin/jar" -cf "$prefix/lib/muster/jars/cli/cli.jar" -C "$prefix/classes" dev/muster/cli

sed -i 's/^java_home=.*/java_home=\/nonexistent/' "$prefix/lib/muster/launcher.conf"
check 'fallback to JAVA_HOME' 'squeue|args' "$($squeue args 2>&1)"
echo "java_home=$JAVA_HOME" >"$prefix/lib/muster/launcher.conf"

cat >"$prefix/service.py" <<'P'
import socket, struct, sys
l = socket.socket(socket.AF_UNIX); l.bind(sys.argv[1]); l.listen(1); c = l.accept()[0]
c.recv(1 << 20); c.sendall(struct.pack(">IcI", 5, b"R", 5)); c.recv(1 << 20); c.sendall(struct.pack(">Ic", 1, b"C"))
P
socket=$prefix/service; [ "$(id -u)" != 0 ] || socket=$socket.root      # root's commands have a service of their own
python3 "$prefix/service.py" "$socket" & service=$!
while [ ! -S "$socket" ]; do sleep 0.02; done
printf 'command_service=%s\ncommand_service_uid=%s\n' "$prefix/service" "$(id -u)" >>"$prefix/lib/muster/launcher.conf"
check 'the long path gets the input again' 'whole input' "$(printf 'whole input' | $squeue cat)"
wait $service

ctld=$prefix/sbin/slurmctld
out=$("$ctld" -c -i fail 2>&1 >/dev/null); check 'a daemon that fails' '1 slurmctld: fatal: no configuration' "$? $out"
"$ctld" refuse; check 'a daemon that refuses' 4 $?
out=$("$ctld" -c long); check 'returns when it serves' '0 background' "$? $out"
pid=$(pgrep -f "^$ctld -c long")
check 'the daemon is there' "$ctld" "$(readlink "/proc/$pid/exe")"
check 'its descriptors' '/dev/null /dev/null /dev/null ' "$(for i in 0 1 2; do readlink "/proc/$pid/fd/$i" | tr '\n' ' '; done)"
kill -PROF "$pid"; sleep 0.1; check 'SIGPROF is harmless' yes "$([ -d "/proc/$pid" ] && echo yes)"
kill "$pid" 2>/dev/null
check 'foreground' 'foreground' "$("$ctld" -cD short | head -n 1)"
exit $failed
