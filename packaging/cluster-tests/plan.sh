#!/usr/bin/env bash
# Why jobs wait and what is planned: muster why and muster plan beside squeue, for more jobs than get reservations.
. "$(dirname "$0")/lib.bash"
start_cluster 2 2 "Licenses=lic:1"
chmod 777 "$dir/work"
first=$(sbatch --parsable -o /dev/null -N 2 --exclusive -t 10 --wrap 'sleep 300')
wait_state() {
  local n=0
  until [ "$(squeue -h -j "$1" -o %T)" = "$2" ]; do
    n=$((n+1))
    [ $n -lt 150 ] || { echo "$1 is not $2"; return; }
    sleep 0.2
  done
  echo yes
}
check "one has the nodes" yes "$(wait_state "$first" RUNNING)"
head=$(sbatch --parsable -o /dev/null -n 1 -t 30 --wrap true)
behind=$(sbatch --parsable -o /dev/null -N 2 -t 30 --wrap true)
held=$(sbatch --parsable -H -o /dev/null --wrap true)
after=$(sbatch --parsable -o /dev/null -d "afterok:$first" --wrap true)
later=$(sbatch --parsable -o /dev/null -b now+1hour --wrap true)
for _ in $(seq 120); do sbatch -o /dev/null -N 2 --exclusive -t 20 --wrap true >/dev/null; done
last=$(squeue -h -o %i -t PD | sort -n | tail -1)
planned() {
  local n=0
  until [ "$(squeue -h --start -j "$1" -o %S)" != N/A ]; do
    n=$((n+1))
    [ $n -lt 100 ] || { echo "no start"; return; }
    sleep 0.2
  done
  echo yes
}
check "every job has a planned start" yes "$(planned "$last")"
why() { muster why "$@" 2>&1 </dev/null; }
check "what runs" "It runs since" "$(why "$first" | sed -n '2s/ [0-9].*//p')"
check "the first: its reason" "Job $head of $(id -un): PENDING (Resources)" "$(why "$head" | head -1)"
check "the first: not enough is free" "not enough is free for it." \
  "$(why "$head" | grep -o 'not enough is free for it.')"
check "the first: who has the nodes" "Job $first of $(id -un) has 4 CPUs on n[1-2] until" \
  "$(why "$head" | grep -o "Job $first of .* until")"
check "the first: when and where" yes \
  "$(why "$head" | grep -q "It is planned to start at 20.* on n[12]\.$" && echo yes)"
check "behind it" yes "$(why "$behind" | grep -q "Before it: job $head of" && echo yes)"
check "held" "What would help: scontrol release $held" "$(why "$held" | grep help)"
check "a dependency" "  afterok:$first: job $first is RUNNING" \
  "$(why "$after" | grep afterok:"$first": | sed 's/\.$//')"
check "a time" "It is not to begin before" "$(why "$later" | grep -o 'It is not to begin before')"
check "unknown" "muster: error: Invalid job id specified: 99999" "$(why 99999)"
check "as JSON" Resources \
  "$(muster -json why "$head" </dev/null | python3 -c 'import json,sys; print(json.load(sys.stdin)["reason"])')"
check "the chart" "n1 n2" "$(muster plan </dev/null | sed -n 's/^\(n[12]\) .*[#+].*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
check "the next to start" yes "$(muster plan </dev/null | grep -q "^$head  *$(id -un | cut -c1-10)" && echo yes)"
check "a partition that there is not" "muster: error: Invalid partition name specified" \
  "$(muster plan -partition nowhere 2>&1 </dev/null)"
scancel "$first"
check "it starts" yes "$(n=0; until [ -z "$(squeue -h -j "$head" 2>/dev/null)" ]; do n=$((n+1)); [ $n -lt 150 ] || break
    sleep 0.2; done; [ $n -lt 150 ] && echo yes)"
scancel -u "$(id -un)"
none() {
  local n=0
  until [ -z "$(squeue -h)" ]; do n=$((n+1)); [ $n -lt 150 ] || { squeue; return; }; sleep 0.2; done
  echo yes
}
check "nobody is left" yes "$(none)"
# days until a job's planned start
days() {
  local at n=0
  until at=$(squeue -h --start -j "$1" -o %S)
    [ "$at" != N/A ]; do
    n=$((n+1))
    [ $n -lt 100 ] || { echo never; return; }
    sleep 0.2
  done
  echo $((($(date -d "$at" +%s) - $(date +%s) + 43200) / 86400))
}
endless=$(sbatch --parsable -o /dev/null -N 2 --exclusive -t UNLIMITED --wrap 'sleep 300')
check "one without a limit has the nodes" yes "$(wait_state "$endless" RUNNING)"
waits=$(sbatch --parsable -o /dev/null -N 1 -t 30 --wrap true)
check "who waits for it is told the end of its year" 365 "$(days "$waits")"
check "and why" "without a limit: a year counts as his time." "$(why "$waits" | grep -o 'without a limit: .*')"
scancel "$waits"
scontrol update jobid="$endless" timelimit=6-00:00:00
for _ in $(seq 28); do last=$(sbatch --parsable -o /dev/null -N 2 --exclusive -t 6-00:00:00 --wrap 'sleep 300'); done
far=$(days "$last")
check "who is to begin in half a year has a time ($far)" yes "$([ "$far" -ge 167 ] && [ "$far" -le 200 ] && echo yes)"
check "nobody has none" 0 "$(squeue -h --start -o %S | grep -c N/A)"
check "what is tried is told as well" yes \
  "$(sbatch --test-only -N 2 --exclusive -t 5 --wrap true 2>&1 | grep -q ' to start at 20' && echo yes)"
scancel -u "$(id -un)"
finish
