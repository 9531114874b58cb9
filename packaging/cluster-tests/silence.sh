#!/usr/bin/env bash
# InactiveLimit ends the allocations of stopped commands; file name patterns, admin comments, -v and -Q of commands.
# shows: InactiveLimit
. "$(dirname "$0")/lib.bash"
start_cluster 2 4 "InactiveLimit=3"
how() { scontrol -o show job "$1" | grep -oE '(JobState|Reason)=[^ ]*' | cut -d= -f2 | xargs; }

srun -Q sleep 60 </dev/null >/dev/null 2>&1 & stopped=$!
srun -Q sleep 60 </dev/null >/dev/null 2>&1 & goes=$!
salloc -Q sh -c 'srun -Q sleep 60' </dev/null >/dev/null 2>&1 & alloc=$!
soon '[ "$(squeue -h -s | grep -c sleep)" = 3 ]'
of() {
  for j in $(squeue -h -t all -o %A); do
    case "$(scontrol -o show job "$j")" in *AllocNode:Sid=*:"$1"\ *) echo "$j";; esac
  done
}
a=$(of $stopped) b=$(of $goes) d=$(of $alloc)
kill -STOP $stopped $alloc
soon '[[ "$(how "$a")" = TIMEOUT* && "$(how "$d")" = TIMEOUT* ]]'
becomes "a stopped srun loses its allocation although its step runs" "TIMEOUT InactiveLimit" '"$(how "$a")"'
check "a stopped salloc as well" "TIMEOUT InactiveLimit" "$(how "$d")"
check "a running srun keeps its allocation" "RUNNING None" "$(how "$b")"
kill -CONT $stopped $alloc; scancel "$b"; wait

id=$(sbatch --parsable -H -o 'o.%4j' --mem=2048 --wrap true)
check "squeue shows file names with their patterns" "$dir/work/o.%4j 2G" \
  "$(squeue -h -j "$id" -O stdout:60,minmemory:6 | xargs)"
check "squeue --expand-patterns --noconvert" "$dir/work/o.$(printf %04d "$id") 2048M" \
  "$(squeue -h -j "$id" --expand-patterns --noconvert -O stdout:60,minmemory:6 | xargs)"
check "sacct shows file names with their patterns" "$dir/work/o.%4j" "$(sacct -nPX -j "$id" -o stdout)"
check "sacct --expand-patterns" "$dir/work/o.$(printf %04d "$id")" \
  "$(sacct -nPX --expand-patterns -j "$id" -o stdout)"
check "scontrol expands the pattern" "StdOut=$dir/work/o.$(printf %04d "$id")" \
  "$(scontrol show job "$id" | grep -o 'StdOut=.*')"
check "--only-job-state" "$id PD" "$(squeue --only-job-state -h -j "$id" | xargs)"
scancel --admin-comment="no reason" "$id"
check "scancel --admin-comment" "CANCELLED no reason" \
  "$(sacct -nPX -j "$id" -o state,admincomment | sed 's/ by [0-9]*//; s/|/ /')"
check "sacct -v" 1 "$(sacct -vn -j "$id" 2>&1 >/dev/null | grep -c 'Jobs Eligible in the time window from Epoch 0 to')"
check "swait -v, -Q" "yes no" \
  "$(for o in v Q; do
    srun -Q sh -c 'swait -'$o' --timeout=0 2>&1 | grep -q waiting && echo yes || echo no'
  done | xargs)"
finish
