#!/usr/bin/env bash
# scrontab: set, show, edit, remove; a job that runs and comes back; scancel.
# shows: ScronParameters
. "$(dirname "$0")/lib.bash"
start_cluster 1 2 "ScronParameters=enable,explicit_scancel"
cd "$dir/work"
check "no scrontab" "1 no crontab for $(id -un)" "$(rc=0; out=$(scrontab -l 2>&1) || rc=$?; echo $rc "$out")"
cat > tab <<TAB
# mine
OUT=$dir/work
#SCRON -J minute -o $dir/work/o.%j
#SCRON --open-mode=append -t 5
* * * * * echo ran in \$PWD; echo \$0 >/dev/null; touch \$OUT/touched
@yearly /bin/true
TAB
check "scrontab FILE" "0" "$(rc=0; scrontab tab || rc=$?; echo $rc)"
check "scrontab -l" "$(cat tab)" "$(scrontab -l)"
check "its jobs wait" "minute PENDING BeginTime;true PENDING BeginTime;" "$(squeue -h -S i -o '%j %T %r' | tr '\n' ';')"
minute=$(squeue -h -n minute -o %i)
match "scontrol show job" 'CronJob=Yes CrontabSpec="\* \* \* \* \*"' "$(scontrol show job "$minute")"
check "a wrong time specification" "scrontab: error: line 1: invalid time specification: 61 * * * *" \
  "$(echo '61 * * * * true' | scrontab - 2>&1)"
check "a line without a command" "scrontab: error: line 2: there is no command: @daily" \
  "$(printf '\n@daily\n' | scrontab - 2>&1)"
check "a refused file changes nothing" "$(cat tab)" "$(scrontab -l)"
check "scancel needs its flag" \
  "scancel: error: Kill job error on job id $minute: Cannot cancel scrontab jobs without --cron flag." \
  "$(scancel "$minute" 2>&1)"
soon '[ -e touched ]' 75
check "the job ran" yes "$([ -e touched ] && echo yes)"
becomes "the job waits for its next time" "PENDING BeginTime" '"$(squeue -h -o "%T %r" -j "$minute")"'
check "the job runs in its owner's home" "ran in $(getent passwd "$(id -u)" | cut -d: -f6)" "$(head -1 "o.$minute")"
check "accounting has a record for each run" "COMPLETED" "$(sacct -D -X -n -P -o State -j "$minute" | head -1)"
scancel --cron "$minute"
becomes "scancel --cron comments the line out" "#DISABLED: * * * * *" \
  '"$(scrontab -l | grep '\''^#DISABLED: \*'\'' | cut -c1-20)"'
check "scancel --cron comments the options out" "2" "$(scrontab -l | grep -c '^#DISABLED: #SCRON')"
check "scrontab -e" "@daily /bin/false" "$(printf '#!/bin/sh\necho "@daily /bin/false" > "$1"\n' > ed; chmod +x ed
    EDITOR=$PWD/ed scrontab -e; scrontab -l)"
check "an editor that fails changes nothing" "@daily /bin/false" \
  "$(EDITOR=false scrontab -e 2>/dev/null || true; scrontab -l)"
check "scrontab -r" "1  0" "$(scrontab -r; rc=0; scrontab -l 2>/dev/null || rc=$?; echo $rc "" "$(squeue -h | wc -l)")"
sed -i s/^ScronParameters.*// "$SLURM_CONF"; scontrol reconfigure
becomes "without ScronParameters=enable" "scrontab: error: scrontab is disabled on this cluster" \
  '"$(echo '\''@daily true'\'' | scrontab - 2>&1)"'
