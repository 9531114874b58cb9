#!/usr/bin/env bash
# Nodes without work are stopped and started again for a job; scontrol power and reboot.
# shows: SuspendProgram, ResumeProgram, SuspendTime, SuspendTimeout, ResumeFailProgram, RebootProgram
. "$(dirname "$0")/lib.bash"
cat > "$dir/stop.sh" <<S
#!/bin/bash
echo "stop \$1" >> $dir/power.log
for n in \$($prefix/bin/scontrol show hostnames "\$1"); do kill \$(cat $dir/run/slurmd-\$n.pid); done
S
cat > "$dir/start.sh" <<S
#!/bin/bash
echo "start \$1" >> $dir/power.log
cat "\$SLURM_RESUME_FILE" >> $dir/power.log
[ ! -e $dir/broken ] || exit 1
sleep 2
for n in \$($prefix/bin/scontrol show hostnames "\$1"); do $prefix/sbin/slurmd -f \$SLURM_CONF -N \$n -d $prefix/sbin/slurmstepd </dev/null >>$dir/log/start.out 2>&1; done
S
printf '#!/bin/bash\necho "failed $1" >> %s\n' "$dir/power.log" > "$dir/fail.sh"
cat > "$dir/reboot.sh" <<S
#!/bin/bash
n=\${SLURMD_NODENAME:-\$1}
echo "reboot \${SLURMD_NODENAME:-\$* by slurmctld}" >> $dir/power.log
setsid bash -c "kill \$(cat $dir/run/slurmd-\$n.pid); sleep 1; $prefix/sbin/slurmd -f \$SLURM_CONF -N \$n -d $prefix/sbin/slurmstepd" </dev/null >/dev/null 2>&1 &
S
printf '#!/bin/bash\necho "%s $1 $SLURM_NODE_NAME" >> %s\n' there "$dir/power.log" > "$dir/there.sh"
printf '#!/bin/bash\necho "$#: $*" >> %s\n' "$dir/power.log" > "$dir/args.sh"
printf '#!/bin/bash\necho "%s $1" >> %s\n' here "$dir/power.log" > "$dir/here.sh"
chmod 755 "$dir"/*.sh; : > "$dir/power.log"; chmod 666 "$dir/power.log"
state() { scontrol show node "$1" | sed -n 's/.* State=\([^ ]*\).*/\1/p'; }
start_cluster 2 2 "SuspendProgram=$dir/stop.sh
ResumeProgram=$dir/start.sh
ResumeFailProgram=$dir/fail.sh
RebootProgram=$dir/reboot.sh
SuspendTime=INFINITE
SuspendTimeout=2
ResumeTimeout=15
PowerAction=here Location=slurmctld Program=$dir/here.sh
PowerAction=there Location=slurmd Program=$dir/there.sh
PowerAction=off Location=slurmd Program=\"$dir/args.sh off now\"
PowerAction=on Location=slurmctld Program=\"$dir/args.sh on 'at once'\"
NodeName=c1 NodeAddr=127.0.0.1 Port=@port+5@ CPUs=2 State=CLOUD
PartitionName=cloud Nodes=c1"
check "a reason is for stopping alone" "too many arguments for keyword:power" "$(scontrol power up n1 reason=x 2>&1)"
check "nothing is asked for" "Missing node list. Specify ALL|<NodeList>" "$(scontrol reboot 2>&1)"
scontrol update nodename=n1 state=power_down
soon '[ "$(state n1)" = IDLE+POWERED_DOWN ]'
check "idle since it came" "same" \
  "$(scontrol show node n2 | sed -n 's/.*SlurmdStartTime=//p;s/ *LastBusyTime=\([^ ]*\).*/\1/p' | uniq | wc -l \
  | sed 's/^1$/same/')"
check "stopped by hand" "IDLE+POWERED_DOWN idle~" "$(state n1) $(sinfo -h -n n1 -o %t)"
check "with its program" "stop n1" "$(tail -1 "$dir/power.log")"
id=$(sbatch --parsable -w n1 --extra=x --wrap 'echo $SLURMD_NODENAME')
soon '[[ "$(state n1)" = *POWERING_UP ]]'
becomes "a job has it started" "CF n1" '"$(squeue -h -j "$id" -o "%t %N")"'
wait_empty
check "and runs there" n1 "$(cat "slurm-$id.out")"
match "the job is told" "\"all_nodes_resume\":\"n1\".*\"job_id\":$id.*\"nodes_resume\":\"n1\"" \
  "$(tail -1 "$dir/power.log")"
soon '[ "$(state n1)" = IDLE ]'

soon '[ "$(state n1)" = IDLE ]'
scontrol update nodename=n1 state=power_down
soon '[ "$(state n1)" = IDLE+POWERED_DOWN ]'
id=$(sbatch --parsable -w n1 -t 5 --wrap 'sleep 3; echo $SLURM_JOB_START_TIME $SLURM_JOB_END_TIME')
sleep 2; given=$(squeue -h -j "$id" -o %S); wait_empty
began=$(scontrol show job "$id" | sed -n 's/ *StartTime=\([^ ]*\) .*/\1/p')
check "its time begins when the node is there" "later told so" \
  "$([[ "$began" > "$given" ]] && echo later) $([ "$(cat "slurm-$id.out")" = \
  "$(date -d "$began" +%s) $(($(date -d "$began" +%s) + 300))" ] && echo told so)"
check "in accounting as well" "$began" "$(sacct -X -n -P -j "$id" -o Start)"

scontrol power down asap n1 reason=spare
soon '[ "$(state n1)" = IDLE+POWERED_DOWN ]'
touch "$dir/broken"
scontrol power up n1
soon '[[ "$(state n1)" = DOWN* ]]'
check "who does not come is down" "DOWN+NOT_RESPONDING+POWERED_DOWN down~ ResumeTimeout reached" \
  "$(state n1) $(sinfo -h -n n1 -o %t) $(scontrol show node n1 | sed -n 's/ *Reason=\(.*\) \[.*/\1/p')"
soon '[ "$(tail -1 "$dir/power.log")" = "failed n1" ]'
becomes "and told" "failed n1" '"$(tail -1 "$dir/power.log")"'
scontrol power up c1; soon 'grep -q "failed c1" "$dir/power.log"'
check "a cloud's node is down without power, and the program told" "down+cloud+powered_down failed c1" \
  "$(sinfo -h -N -n c1 -O statecomplete:40 | xargs) $(tail -1 "$dir/power.log")"
rm "$dir/broken"; start_node n1; soon '[ "$(state n1)" = IDLE ]'
becomes "and comes back" IDLE '"$(state n1)"'

id=$(sbatch --parsable -w n2 --wrap 'sleep 3')
soon '[ "$(squeue -h -j "$id" -o %t)" = R ]'
scontrol reboot asap n2; scontrol update nodename=n2 state=CANCEL_REBOOT
match "a reboot is taken back by the node's state" '^(MIXED|ALLOCATED)$' "$(state n2)"
scontrol reboot asap n2; scontrol cancel_reboot n2
match "and by its command" '^(MIXED|ALLOCATED)$' "$(state n2)"
scontrol reboot asap nextstate=down reason=kernel n2
match "a reboot waits for jobs" 'MIXED\+DRAIN\+REBOOT_REQUESTED|ALLOCATED\+DRAIN\+REBOOT_REQUESTED' "$(state n2)"
check "what comes then" "NextState=DOWN" "$(scontrol show node n2 | grep -o 'NextState=.*')"
soon 'grep -q "reboot n2" "$dir/power.log"'
soon '[ "$(state n2)" = DOWN ]'
check "down afterwards" "kernel : reboot issued : reboot complete" \
  "$(scontrol show node n2 | sed -n 's/ *Reason=\(.*\) \[.*/\1/p')"
check "no such state" "Invalid state: foo| Valid states: DOWN, RESUME|" \
  "$(scontrol reboot nextstate=foo n1 2>&1 | tr '\n' '|')"
check "nothing to take back" "slurm_update error: Invalid node state transition" "$(scontrol cancel_reboot n1 2>&1)"
scontrol update nodename=n2 state=resume

check "no such action" \
  "scontrol_reboot_nodes error:Invalid power action|scontrol_power_nodes error:Invalid power action|" \
  "$( (scontrol reboot n2 action=nowhere; scontrol power up n2 action=there) 2>&1 | tr '\n' '|')"
scontrol reboot n2 action=here; soon 'grep -q "^here n2" "$dir/power.log"'
becomes "slurmctld's own program reboots" "here n2" '"$(tail -1 "$dir/power.log")"'
soon '[ "$(state n2)" = DOWN ]'; scontrol update nodename=n2 state=resume; soon '[ "$(state n2)" = IDLE ]'
id=$(sbatch --parsable -w n2 --wrap 'sleep 60'); soon '[ "$(squeue -h -j "$id" -o %t)" = R ]'
scontrol power down n2 action=there force; soon 'grep -q "^there n2" "$dir/power.log"'
becomes "the node's program stops it, and no job keeps it from that" "there n2 n2 PD" \
  '"$(tail -1 "$dir/power.log") $(squeue -h -j "$id" -o %t)"'
scancel "$id"; soon '[ "$(state n2)" = IDLE+POWERED_DOWN ]'
old=$(cat "$dir/run/slurmd-n2.pid"); sleep 1; start_node n2; soon '[ "$(state n2)" = IDLE ]'
becomes "a slurmd takes the place of the one before" "IDLE another" \
  '"$(state n2) $([ "$(cat "$dir/run/slurmd-n2.pid")" = "$old" ] || echo another)"'
check "who was told to end" "Slurmd shutdown completing" \
  "$(grep -o 'Slurmd shutdown completing' "$dir/log/slurmd-n2.log" | tail -1)"
check "partitions and nodes say when they are stopped" "SuspendTime=GLOBAL infinite" \
  "$(scontrol show part main | grep -o 'SuspendTime=[A-Z]*') $(scontrol show node n1 --json | grep -A2 suspend_time \
  | grep -q 'infinite.: true' && echo infinite)"

# a node that a plan has is there when the other one is: it came within a few seconds before, and so nobody starts it sooner
scontrol update nodename=n1 state=power_down; soon '[ "$(state n1)" = IDLE+POWERED_DOWN ]'; : > "$dir/power.log"
busy=$(sbatch --parsable -w n2 -c 2 -t 1 --wrap 'sleep 90'); soon '[ "$(squeue -h -j "$busy" -o %t)" = R ]'
id=$(sbatch --parsable -N 2 -n 2 -t 1 --wrap 'date +%s'); sleep 20
check "nobody is started long before" "IDLE+POWERED_DOWN" "$(state n1)"
soon '[ "$(state n1)" = IDLE ]' 45
match "who is planned to be used is there before that" "^start n1 .* IDLE R PD$" \
  "$(tr '\n' ' ' < "$dir/power.log") $(state n1) $(squeue -h -j "$busy" -o %t) $(squeue -h -j "$id" -o %t)"
wait_empty 90
match "and the job begins as soon as the other ends" "^[012]$" \
  "$(($(cat "slurm-$id.out") - $(date -d "$(scontrol show job "$busy" | sed -n 's/.*EndTime=\([^ ]*\).*/\1/p')" +%s)))"

echo "SlurmctldParameters=reboot_from_controller,max_powered_nodes=2" >> "$SLURM_CONF"; scontrol reconfigure
check "no more nodes have power than may" "scontrol_power_nodes error:Max powered up nodes reached" \
  "$(scontrol power up c1 2>&1)"
: > "$dir/power.log"; scontrol reboot n2; soon '[ "$(state n2)" = IDLE ] && grep -q "^reboot" "$dir/power.log"'
becomes "slurmctld reboots nodes where it is to" "reboot n2 by slurmctld IDLE" '"$(cat "$dir/power.log") $(state n2)"'
sed -i '/^SlurmctldParameters/d' "$SLURM_CONF"; scontrol reconfigure

sed -i 's/^SuspendTime=.*/SuspendTime=3/' "$SLURM_CONF"
echo "SuspendExcNodes=n2" >> "$SLURM_CONF"
scontrol reconfigure
soon '[[ "$(state n1)" = *POWER*DOWN ]]'
comes "idle for too long" 'POWER.*DOWN' '"$(state n1)"'
check "but for the excepted" IDLE "$(state n2)"
check "which may be changed" \
  "SuspendExcNodes = n[1-2] SuspendExcNodes = n1 POWER slurm_update error: Invalid node name specified" \
  "$(scontrol update SuspendExcNodes+=n1
  scontrol show config | grep SuspendExcNodes | tr -s ' ') $(scontrol update SuspendExcNodes-=n2
  scontrol show config | grep SuspendExcNodes | tr -s ' ') $(soon '[[ "$(state n2)" = *POWER*DOWN ]]'
  state n2 | grep -o POWER | head -1) $(scontrol update SuspendExcNodes=n7 2>&1)"
scontrol update SuspendExcNodes=n2; scontrol power up n2; soon '[ "$(state n2)" = IDLE ]'
sed -i 's/^SuspendProgram=.*/SuspendProgram=off/;s/^ResumeProgram=.*/ResumeProgram=on/;s/^RebootProgram=.*/RebootProgram=on/;s/^SuspendTime=.*/SuspendTime=INFINITE/' \
  "$SLURM_CONF"
scontrol reconfigure; : > "$dir/power.log"
scontrol reboot n2
soon 'grep -q on "$dir/power.log"'
scontrol update nodename=n2 state=power_down_force
soon 'grep -q off "$dir/power.log"'
soon '[[ "$(state n2)" = *POWERED_DOWN ]]'; scontrol power up n2; soon '[ "$(wc -l < "$dir/power.log")" = 3 ]'
check "programs may be PowerActions, with arguments, on nodes as well" \
  "3: on at once n2|3: off now n2|3: on at once n2|" "$(tr '\n' '|' < "$dir/power.log")"
start_node n2; soon '[ "$(state n2)" = IDLE ]'
sed -i '/^ResumeProgram/d;/^SuspendProgram/d;/^RebootProgram/d' "$SLURM_CONF"; scontrol reconfigure
check "no program, no reboot" \
  "scontrol: error: RebootProgram isn't defined|scontrol_reboot_nodes error:Unspecified error|" \
  "$(scontrol reboot n2 2>&1 | tr '\n' '|')"
check "no program, no power" "slurm_update error: Invalid power action" \
  "$(scontrol update nodename=n2 state=power_down 2>&1)"
printf 'SuspendProgram=%s\nResumeProgram=%s\n' "$dir/stop.sh" "$dir/nowhere.sh" >> "$SLURM_CONF"
sed -i 's/^SuspendTime=.*/SuspendTime=1/;/^SuspendExc/d' "$SLURM_CONF"
scontrol reconfigure
: > "$dir/power.log"
sleep 4
check "a program that is not there, no power" \
  "slurm_update error: Invalid power action IDLE 0 power_save module disabled, invalid ResumeProgram $dir/nowhere.sh" \
  "$(scontrol update nodename=n2 state=power_down 2>&1) $(state n2) $(wc -l < "$dir/power.log") $(grep \
  -o 'power_save module.*' "$dir/log/slurmctld.log" | tail -1)"
