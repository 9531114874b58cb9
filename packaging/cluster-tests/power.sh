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
sleep 2     # 2 s: the start takes time
for n in \$($prefix/bin/scontrol show hostnames "\$1"); do
  $prefix/sbin/slurmd -f \$SLURM_CONF -N \$n -d $prefix/sbin/slurmstepd </dev/null >>$dir/log/start.out 2>&1
done
S
printf '#!/bin/bash\necho "failed $1" >> %s\n' "$dir/power.log" > "$dir/fail.sh"
cat > "$dir/reboot.sh" <<S
#!/bin/bash
n=\${SLURMD_NODENAME:-\$1}
echo "reboot \${SLURMD_NODENAME:-\$* by slurmctld}" >> $dir/power.log
setsid bash -c "kill \$(cat $dir/run/slurmd-\$n.pid)
  sleep 1     # 1 s: the reboot takes time
  $prefix/sbin/slurmd -f \$SLURM_CONF -N \$n -d $prefix/sbin/slurmstepd" </dev/null >/dev/null 2>&1 &
S
printf '#!/bin/bash\necho "%s $1 $SLURM_NODE_NAME" >> %s\n' there "$dir/power.log" > "$dir/there.sh"
printf '#!/bin/bash\necho "$#: $*" >> %s\n' "$dir/power.log" > "$dir/args.sh"
printf '#!/bin/bash\necho "%s $1" >> %s\n' here "$dir/power.log" > "$dir/here.sh"
chmod 755 "$dir"/*.sh; : > "$dir/power.log"; chmod 666 "$dir/power.log"
state() { scontrol show node "$1" | sed -n 's/.* State=\([^ ]*\).*/\1/p'; }
reason() { scontrol show node "$1" | sed -n 's/ *Reason=\(.*\) \[.*/\1/p'; }
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
check "scontrol power up takes no reason" "too many arguments for keyword:power" "$(scontrol power up n1 reason=x 2>&1)"
check "scontrol reboot without nodes" "Missing node list. Specify ALL|<NodeList>" "$(scontrol reboot 2>&1)"
scontrol update nodename=n1 state=power_down
soon '[ "$(state n1)" = IDLE+POWERED_DOWN ]'
check "a node is idle since the start of its slurmd" 1 \
  "$(scontrol show node n2 | sed -n 's/.*SlurmdStartTime=//p;s/ *LastBusyTime=\([^ ]*\).*/\1/p' | uniq | wc -l)"
check "sinfo shows a powered-down node" "idle~" "$(sinfo -h -n n1 -o %t)"
check "scontrol shows a powered-down node" IDLE+POWERED_DOWN "$(state n1)"
check "SuspendProgram ran" "stop n1" "$(tail -1 "$dir/power.log")"
id=$(sbatch --parsable -w n1 --extra=x --wrap 'echo $SLURMD_NODENAME')
soon '[[ "$(state n1)" = *POWERING_UP ]]'
becomes "a job starts the node" "CF n1" '"$(squeue -h -j "$id" -o "%t %N")"'
wait_empty
check "the job runs on the node" n1 "$(cat "slurm-$id.out")"
match "ResumeProgram gets the job" "\"all_nodes_resume\":\"n1\".*\"job_id\":$id.*\"nodes_resume\":\"n1\"" \
  "$(tail -1 "$dir/power.log")"

soon '[ "$(state n1)" = IDLE ]'
scontrol update nodename=n1 state=power_down
soon '[ "$(state n1)" = IDLE+POWERED_DOWN ]'
id=$(sbatch --parsable -w n1 -t 5 --wrap 'sleep 3; echo $SLURM_JOB_START_TIME $SLURM_JOB_END_TIME')
soon '[ "$(squeue -h -j "$id" -o %t)" = CF ]'
given=$(squeue -h -j "$id" -o %S)
wait_empty
began=$(scontrol show job "$id" | sed -n 's/ *StartTime=\([^ ]*\) .*/\1/p')
check "the job's time begins when the node is up" later "$([[ "$began" > "$given" ]] && echo later)"
check "SLURM_JOB_START_TIME and SLURM_JOB_END_TIME" \
  "$(date -d "$began" +%s) $(($(date -d "$began" +%s) + 300))" "$(cat "slurm-$id.out")"
check "the start in accounting" "$began" "$(sacct -X -n -P -j "$id" -o Start)"

scontrol power down asap n1 reason=spare
soon '[ "$(state n1)" = IDLE+POWERED_DOWN ]'
touch "$dir/broken"
scontrol power up n1
soon '[[ "$(state n1)" = DOWN* ]]'
check "a node that does not come up is down" DOWN+NOT_RESPONDING+POWERED_DOWN "$(state n1)"
check "sinfo shows the node down" "down~" "$(sinfo -h -n n1 -o %t)"
check "the reason of the node that does not come up" "ResumeTimeout reached" "$(reason n1)"
soon '[ "$(tail -1 "$dir/power.log")" = "failed n1" ]'
becomes "ResumeFailProgram ran" "failed n1" '"$(tail -1 "$dir/power.log")"'
scontrol power up c1; soon 'grep -q "failed c1" "$dir/power.log"'
check "a cloud node that does not come up" "down+cloud+powered_down" "$(sinfo -h -N -n c1 -O statecomplete:40 | xargs)"
check "ResumeFailProgram ran for the cloud node" "failed c1" "$(tail -1 "$dir/power.log")"
rm "$dir/broken"; start_node n1; soon '[ "$(state n1)" = IDLE ]'
becomes "a started node comes back" IDLE '"$(state n1)"'

id=$(sbatch --parsable -w n2 --wrap 'sleep 3')
soon '[ "$(squeue -h -j "$id" -o %t)" = R ]'
scontrol reboot asap n2; scontrol update nodename=n2 state=CANCEL_REBOOT
match "a reboot is taken back by the node's state" '^(MIXED|ALLOCATED)$' "$(state n2)"
scontrol reboot asap n2; scontrol cancel_reboot n2
match "a reboot is taken back by scontrol cancel_reboot" '^(MIXED|ALLOCATED)$' "$(state n2)"
scontrol reboot asap nextstate=down reason=kernel n2
match "a reboot waits for jobs" 'MIXED\+DRAIN\+REBOOT_REQUESTED|ALLOCATED\+DRAIN\+REBOOT_REQUESTED' "$(state n2)"
check "scontrol shows the next state" "NextState=DOWN" "$(scontrol show node n2 | grep -o 'NextState=.*')"
soon 'grep -q "reboot n2" "$dir/power.log"'
becomes "the reason after the reboot" "kernel : reboot issued : reboot complete" '"$(reason n2)"'
check "nextstate=down: the node is down after the reboot, and not drained" DOWN "$(state n2)"
check "an unknown nextstate" "Invalid state: foo| Valid states: DOWN, RESUME|" \
  "$(scontrol reboot nextstate=foo n1 2>&1 | tr '\n' '|')"
check "cancel_reboot without a reboot" "slurm_update error: Invalid node state transition" \
  "$(scontrol cancel_reboot n1 2>&1)"
scontrol update nodename=n2 state=resume

check "scontrol reboot with an unknown action" "scontrol_reboot_nodes error:Invalid power action" \
  "$(scontrol reboot n2 action=nowhere 2>&1)"
check "scontrol power up with a slurmd action" "scontrol_power_nodes error:Invalid power action" \
  "$(scontrol power up n2 action=there 2>&1)"
scontrol reboot n2 action=here; soon 'grep -q "^here n2" "$dir/power.log"'
becomes "an action of slurmctld reboots" "here n2" '"$(tail -1 "$dir/power.log")"'
soon '[ "$(state n2)" = DOWN ]'; scontrol update nodename=n2 state=resume; soon '[ "$(state n2)" = IDLE ]'
id=$(sbatch --parsable -w n2 --wrap 'sleep 60'); soon '[ "$(squeue -h -j "$id" -o %t)" = R ]'
scontrol power down n2 action=there force; soon 'grep -q "^there n2" "$dir/power.log"'
becomes "an action of slurmd stops the node" "there n2 n2" '"$(tail -1 "$dir/power.log")"'
becomes "force requeues the node's job" PD '"$(squeue -h -j "$id" -o %t)"'
scancel "$id"; soon '[ "$(state n2)" = IDLE+POWERED_DOWN ]'
old=$(cat "$dir/run/slurmd-n2.pid")
start_node n2
soon '[ "$(state n2)" = IDLE ]'
becomes "a new slurmd replaces the running one" "IDLE another" \
  '"$(state n2) $([ "$(cat "$dir/run/slurmd-n2.pid")" = "$old" ] || echo another)"'
check "the replaced slurmd ends in order" "Slurmd shutdown completing" \
  "$(grep -o 'Slurmd shutdown completing' "$dir/log/slurmd-n2.log" | tail -1)"
check "SuspendTime of a partition" "SuspendTime=GLOBAL" "$(scontrol show part main | grep -o 'SuspendTime=[A-Z]*')"
check "suspend_time of a node" infinite \
  "$(scontrol show node n1 --json | grep -A2 suspend_time | grep -q 'infinite.: true' && echo infinite)"

# A planned node is started shortly before the job's other node is free: it came up within seconds before.
scontrol update nodename=n1 state=power_down
soon '[ "$(state n1)" = IDLE+POWERED_DOWN ]'
: > "$dir/power.log"
busy=$(sbatch --parsable -w n2 -c 2 -t 1 --wrap 'sleep 90'); soon '[ "$(squeue -h -j "$busy" -o %t)" = R ]'
id=$(sbatch --parsable -N 2 -n 2 -t 1 --wrap 'date +%s')
sleep 20     # 20 s: the node is not started within them
check "a planned node is not started early" "IDLE+POWERED_DOWN" "$(state n1)"
soon '[ "$(state n1)" = IDLE ]' 45
match "a planned node is up before the other node is free" "^start n1 .* IDLE R PD$" \
  "$(tr '\n' ' ' < "$dir/power.log") $(state n1) $(squeue -h -j "$busy" -o %t) $(squeue -h -j "$id" -o %t)"
wait_empty 90
end=$(date -d "$(scontrol show job "$busy" | sed -n 's/.*EndTime=\([^ ]*\).*/\1/p')" +%s)
match "the job begins within 2 s after the other ends" "^[012]$" "$(($(cat "slurm-$id.out") - end))"

echo "SlurmctldParameters=reboot_from_controller,max_powered_nodes=2" >> "$SLURM_CONF"; scontrol reconfigure
check "max_powered_nodes" "scontrol_power_nodes error:Max powered up nodes reached" \
  "$(scontrol power up c1 2>&1)"
: > "$dir/power.log"; scontrol reboot n2; soon '[ "$(state n2)" = IDLE ] && grep -q "^reboot" "$dir/power.log"'
becomes "reboot_from_controller" "reboot n2 by slurmctld IDLE" '"$(cat "$dir/power.log") $(state n2)"'
sed -i '/^SlurmctldParameters/d' "$SLURM_CONF"; scontrol reconfigure

sed -i 's/^SuspendTime=.*/SuspendTime=3/' "$SLURM_CONF"
echo "SuspendExcNodes=n2" >> "$SLURM_CONF"
scontrol reconfigure
soon '[[ "$(state n1)" = *POWER*DOWN ]]'
comes "SuspendTime stops an idle node" 'POWER.*DOWN' '"$(state n1)"'
check "SuspendExcNodes is not stopped" IDLE "$(state n2)"
excepted() { scontrol show config | grep SuspendExcNodes | tr -s ' '; }
scontrol update SuspendExcNodes+=n1
check "a node is added to SuspendExcNodes" "SuspendExcNodes = n[1-2]" "$(excepted)"
scontrol update SuspendExcNodes-=n2
check "a node is removed from SuspendExcNodes" "SuspendExcNodes = n1" "$(excepted)"
comes "the removed node is stopped" 'POWER.*DOWN' '"$(state n2)"'
check "an unknown node in SuspendExcNodes" "slurm_update error: Invalid node name specified" \
  "$(scontrol update SuspendExcNodes=n7 2>&1)"
scontrol update SuspendExcNodes=n2; scontrol power up n2; soon '[ "$(state n2)" = IDLE ]'
sed -i 's/^SuspendProgram=.*/SuspendProgram=off/;s/^ResumeProgram=.*/ResumeProgram=on/' "$SLURM_CONF"
sed -i 's/^RebootProgram=.*/RebootProgram=on/;s/^SuspendTime=.*/SuspendTime=INFINITE/' "$SLURM_CONF"
scontrol reconfigure; : > "$dir/power.log"
scontrol reboot n2
soon 'grep -q on "$dir/power.log"'
scontrol update nodename=n2 state=power_down_force
soon 'grep -q off "$dir/power.log"'
soon '[[ "$(state n2)" = *POWERED_DOWN ]]'; scontrol power up n2; soon '[ "$(wc -l < "$dir/power.log")" = 3 ]'
check "programs that are PowerActions with arguments, of slurmctld and of slurmd" \
  "3: on at once n2|3: off now n2|3: on at once n2|" "$(tr '\n' '|' < "$dir/power.log")"
start_node n2; soon '[ "$(state n2)" = IDLE ]'
sed -i '/^ResumeProgram/d;/^SuspendProgram/d;/^RebootProgram/d' "$SLURM_CONF"; scontrol reconfigure
check "a reboot without RebootProgram" \
  "scontrol: error: RebootProgram isn't defined|scontrol_reboot_nodes error:Unspecified error|" \
  "$(scontrol reboot n2 2>&1 | tr '\n' '|')"
check "power_down without SuspendProgram" "slurm_update error: Invalid power action" \
  "$(scontrol update nodename=n2 state=power_down 2>&1)"
printf 'SuspendProgram=%s\nResumeProgram=%s\n' "$dir/stop.sh" "$dir/nowhere.sh" >> "$SLURM_CONF"
sed -i 's/^SuspendTime=.*/SuspendTime=1/;/^SuspendExc/d' "$SLURM_CONF"
scontrol reconfigure
: > "$dir/power.log"
sleep 4     # 4 s: SuspendTime=1 stops no node within them
check "power_down without a ResumeProgram that exists" "slurm_update error: Invalid power action" \
  "$(scontrol update nodename=n2 state=power_down 2>&1)"
check "the node stays idle" IDLE "$(state n2)"
check "SuspendProgram did not run" 0 "$(wc -l < "$dir/power.log")"
check "the log names the missing program" "power_save module disabled, invalid ResumeProgram $dir/nowhere.sh" \
  "$(grep -o 'power_save module.*' "$dir/log/slurmctld.log" | tail -1)"
