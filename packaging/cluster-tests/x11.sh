#!/usr/bin/env bash
# --x11: programs on the nodes open their windows on the display of the srun or salloc command.
# shows: X11Parameters
. "$(dirname "$0")/lib.bash"
start_cluster 2 2 "PrologFlags=Contain"
printf '#!/bin/sh\necho a MIT-MAGIC-COOKIE-1 00ff\n' > "$dir/xauth"
chmod 755 "$dir/xauth"
check "--x11 without PrologFlags=X11" "srun: error: Unable to allocate resources: X11 forwarding not available" \
  "$(DISPLAY=nowhere:1 XAUTHORITY=/dev/null PATH=$dir:$PATH srun --x11 true 2>&1)"
rm -f "$dir/xauth"
says() { check "$1" "$2" "$(DISPLAY=$3 srun --x11 true 2>&1; echo $?)"; }
says "DISPLAY unset" "srun: error: No DISPLAY variable set, cannot setup x11 forwarding.
255" ""
says "DISPLAY without a number" "srun: error: Error parsing DISPLAY environment variable. Cannot use X11 forwarding.
255" nowhere
says "DISPLAY without a socket" "srun: error: Cannot stat() local X11 socket \`/tmp/.X11-unix/X4711\`
255" :4711
check "salloc without DISPLAY" 255 "$(DISPLAY= salloc --x11 true >/dev/null 2>&1; echo $?)"
match "sbatch has no such option" "unrecognized option '--x11'" "$(sbatch --x11 --wrap true 2>&1 || true)"
match "an unknown word of --x11" "Invalid --x11 specification" "$(srun --x11=some true 2>&1 || true)"
for tool in Xvfb xauth xdpyinfo mcookie; do
  command -v $tool >/dev/null || { echo "skipped: windows need $tool here"; exit 0; }
done
stop_cluster; rm -f "$dir"/run/*.pid
start_cluster 2 2 "PrologFlags=X11
ProctrackType=proctrack/pgid"
display=$((100 + RANDOM % 800)); while [ -e /tmp/.X11-unix/X$display ]; do display=$((display + 1)); done
export XAUTHORITY=$dir/xauthority DISPLAY=:$display
touch "$XAUTHORITY"; xauth -q add ":$display" MIT-MAGIC-COOKIE-1 "$(mcookie)" 2>/dev/null
Xvfb ":$display" -auth "$XAUTHORITY" >"$dir/log/xvfb.log" 2>&1 </dev/null & echo $! > "$dir/run/xvfb.pid"
soon 'xdpyinfo >/dev/null 2>&1'
xdpyinfo >/dev/null 2>&1 || { echo "skipped: Xvfb does not start here"; exit 0; }
# Prints the display, the mode or the name of the authority file, and the vendor of the X server that answers.
cat > look.sh <<'S'
#!/bin/sh
case $DISPLAY in localhost:[2-9][0-9].0) far=tunnel;; *) far=$DISPLAY;; esac
case $XAUTHORITY in
  /tmp/.Xauthority-*) file=$(stat -c %a "$XAUTHORITY") ;;
  *) file=${XAUTHORITY#"$HOME"} ;;
esac
echo "$far $file $(xdpyinfo 2>/dev/null | sed -n 's/^vendor string: *//p')"
S
chmod 755 look.sh
export HOME=$dir/home; mkdir -p "$HOME"
x="The X.Org Foundation"
check "a program on a node reaches the display" "tunnel 600 $x" "$(srun --x11 ./look.sh)"
check "a step of an allocation reaches the display" "tunnel 600 $x" "$(salloc -Q --x11 srun ./look.sh)"
check "both nodes reach the display" "tunnel 600 $x|tunnel 600 $x" "$(srun -N2 --x11 ./look.sh | sort | paste -sd'|')"
check "--x11=first" "0: tunnel" "$(srun -N2 -l --x11=first sh -c './look.sh | grep -o "^tunnel" || true')"
check "--x11=last" "1: tunnel" "$(srun -N2 -l --x11=LAST sh -c './look.sh | grep -o "^tunnel" || true')"
match "--x11 of a step in an allocation is ignored" \
  "srun: error: Ignoring --x11 option for a job step within an existing job. Set x11 options at job allocation time." \
  "$(salloc -Q srun --x11 true 2>&1)"
wait_empty
check "the cookie is removed with the job" "" \
  "$(find /tmp -maxdepth 1 -name '.Xauthority-*' -newer "$SLURM_CONF" 2>/dev/null)"
salloc -Q --x11 sh -c \
  'srun ./look.sh > before; touch ready; while [ ! -e go ]; do sleep 0.1; done; srun ./look.sh > after' &
soon '[ -e ready ]'
for n in n1 n2; do kill -9 "$(pid_of slurmd-$n)"; start_node $n; done
touch go; wait $!
check "the display is reachable after a restart of slurmd" "$(cat before)" "$(cat after)"
sed -i 's/^PrologFlags=.*/&\nX11Parameters=home_xauthority/' "$SLURM_CONF"; reread
home=$(getent passwd "$(id -u)" | cut -d: -f6); had=$([ -e "$home/.Xauthority" ] && echo yes || echo no)
match "X11Parameters=home_xauthority: in the user's own file" "^$home/.Xauthority unix $x" \
  "$(srun --x11 sh -c \
  'echo "$XAUTHORITY $(xauth list | grep -o unix | head -1) $(xdpyinfo | sed -n "s/^vendor string: *//p")"')"
wait_empty
check "X11Parameters=home_xauthority: the cookie is removed" "" \
  "$(xauth -f "$home/.Xauthority" list 2>/dev/null | grep -E 'unix:[2-9][0-9] ' || true)"
[ "$had" = yes ] || rm -f "$home/.Xauthority"
