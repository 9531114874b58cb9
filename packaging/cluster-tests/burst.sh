#!/usr/bin/env bash
# burst_buffer/lua: the site's script brings a job's data, and fetches what it wrote.
# shows: BurstBufferType
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: root has no burst buffers, and only root can be somebody else"; exit 0; }
as() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
state() { scontrol show job "$1" | grep -oE 'JobState=\S+|Reason=\S+|BurstBufferState=\S+' | sed 's/.*=//' | xargs; }
staged() { state "$1" | awk '{print $NF}'; }
mkdir "$dir/calls"; chmod 777 "$dir/calls"
cat > "$dir/burst_buffer.lua" <<L
local D = "$dir/calls/"
L
cat >> "$dir/burst_buffer.lua" <<'L'
local function call(name, ...)
  local f = io.open(D .. "log", "a")
  f:write(name, " ", table.concat({...}, " "), "\n"); f:close()
  while true do
    local wait = io.open(D .. "hold." .. name)
    if not wait then break end
    wait:close(); os.execute("sleep 0.1")
  end
  local bad = io.open(D .. "fail." .. name)
  if bad then bad:close(); return slurm.ERROR, "it went wrong" end
  return slurm.SUCCESS, ""
end
function slurm_bb_job_process(script, uid, gid, info)
  if info.name == "bad" then return slurm.ERROR, "no jobs called bad" end
  return call("process", uid, gid, info.name)
end
function slurm_bb_pools() return slurm.SUCCESS, '{"pools":[{"id":"small","quantity":10,"granularity":2},{"id":"big","quantity":100,"granularity":1024}]}' end
function slurm_bb_job_teardown(id, script, hurry, uid, gid) return call("teardown", id, hurry, uid) end
function slurm_bb_setup(id, uid, gid, pool, size, script, info) return call("setup", id, pool, size) end
function slurm_bb_data_in(id, script, uid, gid, info)
  for line in io.lines(script) do if line:find("^#BB_LUA") then call("line", line) end end
  return call("data_in", id, info.work_dir)
end
local asked = D .. "asked"
function slurm_bb_test_data_in(id)
  local f = io.open(asked); if f then f:close(); return call("test_data_in", id) end
  f = io.open(asked, "w"); f:close()
  return slurm.SUCCESS, slurm.SLURM_BB_BUSY
end
function slurm_bb_real_size(id) return slurm.SUCCESS end
function slurm_bb_paths(id, script, path) local f = io.open(path, "w"); f:write("BB_PLACE=/scratch/" .. id .. "\n"); f:close(); return slurm.SUCCESS end
function slurm_bb_pre_run(id, script, uid, gid, info) return call("pre_run", id, info.nodes) end
function slurm_bb_post_run(id) return call("post_run", id) end
function slurm_bb_data_out(id) return call("data_out", id) end
function slurm_bb_get_status(uid, gid, ...) return slurm.SUCCESS, "for " .. uid .. ": " .. table.concat({...}, "+") .. "\n" end
L
echo "PollInterval=1" > "$dir/burst_buffer.conf"
start_cluster 2 4 "BurstBufferType=burst_buffer/lua"
chmod 777 "$dir/work"
soon 'scontrol show burst | grep -q small'
check "pools" "  PoolName[0]=big Granularity=1KiB TotalSpace=100KiB FreeSpace=100KiB UsedSpace=0
  PoolName[1]=small Granularity=2 TotalSpace=20 FreeSpace=20 UsedSpace=0" "$(scontrol show burst | grep Pool'Name\[')"
printf \
  '#!/bin/bash\n#BB_LUA pool=small capacity=5 from=/a\n#SBATCH -J first\n#BB_LUA to=/b\necho $BB_PLACE; sleep 0.5\n#BB_LUA late\n' \
  > job.sh
touch "$dir/calls/hold.data_in"
one=$(as sbatch --parsable -o one.txt job.sh)
soon '[ "$(staged $one)" = staging-in ]'
becomes "staged in while it waits" "PENDING BurstBufferStageIn staging-in" '"$(state "$one")"'
match "what it asked for" 'BurstBuffer=#BB_LUA pool=small capacity=5 from=/a
#BB_LUA to=/b
' "$(scontrol show job "$one" | sed 's/^   //')"
match "space of the pool" \
  'FreeSpace=14 UsedSpace=6.*Allocated Buffers:.*JobID='"$one"' CreateTime=20[^ ]* Pool=small Size=6 State=allocated UserID=nobody\(65534\).*Used=6' \
  "$(scontrol show burst | tr '\n' ' ')"
two=$(as sbatch --parsable -J second -o /dev/null --bb='#BB_LUA pool=small capacity=15' --wrap true)
soon '[ "$(state $two)" = "PENDING BurstBufferResources pending" ]'
becomes "no more than there is" "PENDING BurstBufferResources pending" '"$(state "$two")"'
touch "$dir/calls/hold.pre_run"; rm "$dir/calls/hold.data_in"
soon '[ "$(staged $one)" = pre-run ]'
becomes "pre-run when it has its nodes" "CONFIGURING None pre-run" '"$(state "$one")"'
touch "$dir/calls/hold.data_out"; rm "$dir/calls/hold.pre_run"
soon '[ "$(staged $one)" = staging-out ]'
becomes "staged out after its end" "STAGE_OUT burst_buffer/lua:_Stage-out_in_progress staging-out" '"$(state "$one")"'
check "its node is free" "idle idle" "$(sinfo -h -N -o %t | xargs)"
check "squeue" "SO" "$(squeue -h -j "$one" -o %t)"
soon 'grep -q "^data_out $one" "$dir/calls/log"'
kill -9 "$(pid_of slurmctld)"; rm -f "$dir/run/slurmctld.pid"; start_ctld; soon 'scontrol ping | grep -q UP'
soon '[ "$(grep -c "^data_out $one" "$dir/calls/log")" = 2 ]'
becomes "begun again after a kill of slurmctld" 2 '"$(grep -c "^data_out $one" "$dir/calls/log")"'
becomes "what went on before is ended" 1 '$(pgrep -fc "BufferScript $dir")'
rm "$dir/calls/hold.data_out"
soon '[ "$(staged $one)" = complete ]'
becomes "torn down" "COMPLETED None complete" '"$(state "$one")"'
check "a variable for the job" "/scratch/$one" "$(cat one.txt)"
soon '[ "$(staged $two)" = complete ]'
becomes "then the other" "COMPLETED None complete" '"$(state "$two")"'
check "in this order, once each" \
  "process 65534 65534 first|setup $one small 6|line #BB_LUA pool=small capacity=5 from=/a|line #BB_LUA to=/b|line #BB_LUA late|data_in $one $dir/work|test_data_in $one|pre_run $one n1|post_run $one|data_out $one|data_out $one|teardown $one false 65534" \
  "$(grep -E "first|^[a-z_]+ $one( |\$)|line.*(from|to=|late)" "$dir/calls/log" | tr '\n' '|' | sed 's/|$//')"
check "a script that says no" "sbatch: error: burst_buffer/lua: no jobs called bad
sbatch: error: Batch job submission failed: Burst Buffer request invalid" "$(as sbatch -J bad job.sh 2>&1)"
check "no such pool" "salloc: error: Job submit/allocate failed: Burst Buffer request invalid" \
  "$(as salloc --bb='#BB_LUA pool=none capacity=3' true 2>&1)"
check "no directive" "salloc: error: Job submit/allocate failed: Burst Buffer request invalid" \
  "$(as salloc --bb='pool=small' true 2>&1)"
check "not root" "sbatch: error: User root can not allocate burst buffers
sbatch: error: Batch job submission failed: Burst Buffer permission denied" "$(sbatch job.sh 2>&1)"
printf '#!/bin/bash\n#BB_LUA from=/in/%%A.%%a.%%x/100%%%% \\\\ %%j\necho $BB_PLACE\n' > tile.sh
array=$(as sbatch --parsable -a 1-3%2 -J tile -o tile.%a tile.sh)
soon '[ "$(cat tile.? 2>/dev/null | wc -l)" = 3 ]'
becomes "each task of an array has its own" "3" '"$(sort -u tile.? | grep -c "^/scratch/")"'
check "symbols" \
  "line #BB_LUA from=/in/$array.1.tile/100%  %j|line #BB_LUA from=/in/$array.2.tile/100%  %j|line #BB_LUA from=/in/$array.3.tile/100%  %j" \
  "$(grep "line.*/in/" "$dir/calls/log" | sort -u | tr '\n' '|' | sed 's/|$//')"
printf \
  '#!/bin/bash\n#SBATCH -n1 -o het.txt\n#BB_LUA from=/one\n#SBATCH hetjob\n#SBATCH -n1\n#BB_LUA from=/two\necho $BB_PLACE\n' \
  > het.sh
het=$(as sbatch --parsable het.sh)
soon '[ "$(state $het)" = "COMPLETED None complete COMPLETED None complete" ]'
becomes "components of a heterogeneous job" "COMPLETED None complete COMPLETED None complete" '"$(state "$het")"'
check "have one each" "$het $((het+1))" \
  "$(grep -oE "^setup ($het|$((het+1)))\>" "$dir/calls/log" | cut -d' ' -f2 | sort -n | xargs)"
check "of their own part of the script" "1 line #BB_LUA from=/one 1 line #BB_LUA from=/two" \
  "$(grep -oE 'line #BB_LUA from=/(one|two)' "$dir/calls/log" | sort | uniq -c | xargs)"
check "the script runs in the first" "/scratch/$het" "$(cat het.txt)"
check "the status of the script" "for 65534: a+b" "$(as scontrol show bbstat a b)"
echo '#BB_LUA pool=small capacity=1' > bb.txt
check "salloc with a file" same \
  "$(as salloc -Q --bbf=bb.txt sh -c '[ "$BB_PLACE" = "/scratch/$SLURM_JOB_ID" ] && echo same' 2>/dev/null)"
check "srun" same \
  "$(as srun -Q --bb='#BB_LUA' sh -c '[ "$BB_PLACE" = "/scratch/$SLURM_JOB_ID" ] && echo same' 2>/dev/null)"
printf '#!/bin/sh\necho "$@" >>%s/fired.txt\n' "$PWD" >fired.sh; chmod 755 fired.sh
strigger --set --burst_buffer --program="$PWD/fired.sh"
# what goes wrong
touch "$dir/calls/fail.data_in"; bad=$(as sbatch --parsable -o /dev/null job.sh)
soon '[[ "$(state $bad)" = *wrong* ]]'
becomes "stage-in fails: held, and kept to be looked at" \
  "PENDING burst_buffer/lua:_slurm_bb_data_in:_it_went_wrong staging-in" '"$(state "$bad")"'
soon '[ -s fired.txt ]'
becomes "a trigger is told" "burst_buffer" '"$(cat fired.txt)"'
rm "$dir/calls/fail.data_in"; scontrol release "$bad"; soon '[ "$(staged $bad)" = complete ]'
becomes "released, it is tried again" "COMPLETED None complete" '"$(state "$bad")"'
touch "$dir/calls/fail.pre_run"; bad=$(as sbatch --parsable -o /dev/null job.sh)
soon '[[ "$(state $bad)" = *pre_run*pending ]]'
becomes "pre-run fails: back to the queue, held" "PENDING Burst_buffer_pre_run_error pending" '"$(state "$bad")"'
rm "$dir/calls/fail.pre_run"; as scancel "$bad"
touch "$dir/calls/fail.data_out"; bad=$(as sbatch --parsable -o /dev/null job.sh)
soon '[[ "$(state $bad)" = *wrong* ]]'
becomes "stage-out fails" "STAGE_OUT burst_buffer/lua:_slurm_bb_data_out:_it_went_wrong staging-out" '"$(state "$bad")"'
late=$(as sbatch --parsable -o /dev/null -d afterburstbuffer:"$bad" --wrap true); sleep 0.5
check "who waits for it waits" "PENDING" "$(squeue -h -j "$late" -o %T)"
as scancel --hurry "$bad"; soon '[ "$(staged $bad)" = complete ]'
comes "let go in a hurry" 'COMPLETED .* complete' '"$(state "$bad")"'
match "the teardown knows" "^teardown $bad true" "$(grep "^teardown $bad" "$dir/calls/log")"
soon '[ -z "$(squeue -h -j "$late")" ]'
check "who waited goes on" COMPLETED "$(scontrol show job "$late" | grep -oE 'JobState=\S+' | cut -d= -f2)"
rm "$dir/calls/fail.data_out"; touch "$dir/calls/hold.data_in"; gone=$(as sbatch --parsable -o /dev/null job.sh)
soon '[ "$(staged $gone)" = staging-in ]'; sleep 0.5; as scancel "$gone"; soon '[ "$(staged $gone)" = complete ]'
becomes "cancelled before it ran" "CANCELLED None complete" '"$(state "$gone")"'
check "nothing is left of it" "$(printf 'UsedSpace=0\nUsedSpace=0')" \
  "$(scontrol show burst | grep PoolName | grep -oE 'UsedSpace=\S+')"
check "an unknown kind" 1 \
  "$(sed -i 's:burst_buffer/lua:burst_buffer/datawarp:' "$SLURM_CONF"; scontrol reconfigure >/dev/null 2>&1; echo $?)"
