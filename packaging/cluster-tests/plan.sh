#!/usr/bin/env bash
# Why jobs wait and what is planned: muster why and muster plan beside squeue, for more jobs than get reservations.
. "$(dirname "$0")/lib.bash"
start_cluster 2 2 "Licenses=lic:1"
chmod 777 "$dir/work"
first=$(sbatch --parsable -o /dev/null -N 2 --exclusive -t 10 --wrap 'sleep 300')
wait_state() { local n=0; until [ "$(squeue -h -j "$1" -o %T)" = "$2" ]; do n=$((n+1)); [ $n -lt 150 ] || { echo "$1 is not $2"; return; }; sleep 0.2; done; echo yes; }
check "one has the nodes" yes "$(wait_state "$first" RUNNING)"
head=$(sbatch --parsable -o /dev/null -n 1 -t 30 --wrap true)
behind=$(sbatch --parsable -o /dev/null -N 2 -t 30 --wrap true)
held=$(sbatch --parsable -H -o /dev/null --wrap true)
after=$(sbatch --parsable -o /dev/null -d "afterok:$first" --wrap true)
later=$(sbatch --parsable -o /dev/null -b now+1hour --wrap true)
for _ in $(seq 120); do sbatch -o /dev/null -N 2 --exclusive -t 20 --wrap true >/dev/null; done
last=$(squeue -h -o %i -t PD | sort -n | tail -1)
planned() { local n=0; until [ "$(squeue -h --start -j "$1" -o %S)" != N/A ]; do n=$((n+1)); [ $n -lt 100 ] || { echo "no start"; return; }; sleep 0.2; done; echo yes; }
check "every job has a planned start" yes "$(planned "$last")"
why() { muster why "$@" 2>&1 </dev/null; }
check "what runs" "It runs since" "$(why "$first" | sed -n '2s/ [0-9].*//p')"
check "the first: its reason" "Job $head of $(id -un): PENDING (Resources)" "$(why "$head" | head -1)"
check "the first: not enough is free" "not enough is free for it." "$(why "$head" | grep -o 'not enough is free for it.')"
check "the first: who has the nodes" "Job $first of $(id -un) has 4 CPUs on n[1-2] until" "$(why "$head" | grep -o "Job $first of .* until")"
check "the first: when and where" yes "$(why "$head" | grep -q "It is planned to start at 20.* on n[12]\.$" && echo yes)"
check "behind it" yes "$(why "$behind" | grep -q "Before it: job $head of" && echo yes)"
check "held" "What would help: scontrol release $held" "$(why "$held" | grep help)"
check "a dependency" "  afterok:$first: job $first is RUNNING" "$(why "$after" | grep afterok:"$first": | sed 's/\.$//')"
check "a time" "It is not to begin before" "$(why "$later" | grep -o 'It is not to begin before')"
check "unknown" "muster: error: Invalid job id specified: 99999" "$(why 99999)"
check "as JSON" Resources "$(muster -json why "$head" </dev/null | python3 -c 'import json,sys; print(json.load(sys.stdin)["reason"])')"
check "the chart" "n1 n2" "$(muster plan </dev/null | sed -n 's/^\(n[12]\) .*[#+].*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
check "the next to start" yes "$(muster plan </dev/null | grep -q "^$head  *$(id -un | cut -c1-10)" && echo yes)"
check "a partition that there is not" "muster: error: Invalid partition name specified" "$(muster plan -partition nowhere 2>&1 </dev/null)"
scancel "$first"
check "it starts" yes "$(n=0; until [ -z "$(squeue -h -j "$head" 2>/dev/null)" ]; do n=$((n+1)); [ $n -lt 150 ] || break; sleep 0.2; done; [ $n -lt 150 ] && echo yes)"
finish
