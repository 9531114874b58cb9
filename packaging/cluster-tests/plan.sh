#!/usr/bin/env bash
# muster why, muster plan and squeue --start: reasons and planned starts of more jobs than get reservations.
. "$(dirname "$0")/lib.bash"
start_cluster 2 2 "Licenses=lic:1"
chmod 777 "$dir/work"
first=$(sbatch --parsable -o /dev/null -N 2 --exclusive -t 10 --wrap 'sleep 300')
soon '[ "$(squeue -h -j "$first" -o %T)" = RUNNING ]'
check "the first job has the nodes" RUNNING "$(squeue -h -j "$first" -o %T)"
head=$(sbatch --parsable -o /dev/null -n 1 -t 30 --wrap true)
behind=$(sbatch --parsable -o /dev/null -N 2 -t 30 --wrap true)
held=$(sbatch --parsable -H -o /dev/null --wrap true)
after=$(sbatch --parsable -o /dev/null -d "afterok:$first" --wrap true)
later=$(sbatch --parsable -o /dev/null -b now+1hour --wrap true)
for _ in $(seq 120); do sbatch -o /dev/null -N 2 --exclusive -t 20 --wrap true >/dev/null; done
last=$(squeue -h -o %i -t PD | sort -n | tail -1)
soon '[ "$(squeue -h --start -j "$last" -o %S)" != N/A ]'
match "the last job has a planned start" '^20' "$(squeue -h --start -j "$last" -o %S)"
why() { muster why "$@" 2>&1 </dev/null; }
check "a running job" "It runs since" "$(why "$first" | sed -n '2s/ [0-9].*//p')"
check "the first pending job: the reason" "Job $head of $(id -un): PENDING (Resources)" "$(why "$head" | head -1)"
check "the first pending job: too few resources are free" "not enough is free for it." \
  "$(why "$head" | grep -o 'not enough is free for it.')"
check "the first pending job: the job that holds the nodes" "Job $first of $(id -un) has 4 CPUs on n[1-2] until" \
  "$(why "$head" | grep -o "Job $first of .* until")"
check "the first pending job: planned time and node" yes \
  "$(why "$head" | grep -q "It is planned to start at 20.* on n[12]\.$" && echo yes)"
check "a job behind the first pending job names it" yes \
  "$(why "$behind" | grep -q "Before it: job $head of" && echo yes)"
check "a held job" "What would help: scontrol release $held" "$(why "$held" | grep help)"
check "a dependency" "  afterok:$first: job $first is RUNNING" \
  "$(why "$after" | grep afterok:"$first": | sed 's/\.$//')"
check "a begin time" "It is not to begin before" "$(why "$later" | grep -o 'It is not to begin before')"
check "an unknown job" "muster: error: Invalid job id specified: 99999" "$(why 99999)"
check "as JSON" Resources \
  "$(muster -json why "$head" </dev/null | python3 -c 'import json,sys; print(json.load(sys.stdin)["reason"])')"
check "muster plan charts the nodes" "n1 n2" \
  "$(muster plan </dev/null | sed -n 's/^\(n[12]\) .*[#+].*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
check "muster plan lists the next job to start" yes \
  "$(muster plan </dev/null | grep -q "^$head  *$(id -un | cut -c1-10)" && echo yes)"
check "an unknown partition" "muster: error: Invalid partition name specified" \
  "$(muster plan -partition nowhere 2>&1 </dev/null)"
scancel "$first"
soon '[ -z "$(squeue -h -j "$head" 2>/dev/null)" ]'
check "the first pending job starts and ends" "" "$(squeue -h -j "$head" 2>/dev/null || true)"
scancel -u "$(id -un)"
soon '[ -z "$(squeue -h)" ]'
check "no job is left" "" "$(squeue -h)"
# Days until the planned start of a job.
days() {
  local job=$1 start
  soon '[ "$(squeue -h --start -j "$job" -o %S)" != N/A ]'
  start=$(squeue -h --start -j "$job" -o %S)
  if [ "$start" = N/A ]; then echo never; else echo $((($(date -d "$start" +%s) - $(date +%s) + 43200) / 86400)); fi
}
endless=$(sbatch --parsable -o /dev/null -N 2 --exclusive -t UNLIMITED --wrap 'sleep 300')
soon '[ "$(squeue -h -j "$endless" -o %T)" = RUNNING ]'
check "a job without a time limit has the nodes" RUNNING "$(squeue -h -j "$endless" -o %T)"
waits=$(sbatch --parsable -o /dev/null -N 1 -t 30 --wrap true)
check "a job that waits for it is planned a year ahead" 365 "$(days "$waits")"
check "muster why names the missing limit" "without a limit: a year counts as his time." \
  "$(why "$waits" | grep -o 'without a limit: .*')"
scancel "$waits"
scontrol update jobid="$endless" timelimit=6-00:00:00
for _ in $(seq 28); do last=$(sbatch --parsable -o /dev/null -N 2 --exclusive -t 6-00:00:00 --wrap 'sleep 300'); done
far=$(days "$last")
check "a start in half a year is planned ($far days)" yes "$([ "$far" -ge 167 ] && [ "$far" -le 200 ] && echo yes)"
check "every job has a planned start" 0 "$(squeue -h --start -o %S | grep -c N/A)"
check "sbatch --test-only tells the planned start" yes \
  "$(sbatch --test-only -N 2 --exclusive -t 5 --wrap true 2>&1 | grep -q ' to start at 20' && echo yes)"
scancel -u "$(id -un)"
finish
