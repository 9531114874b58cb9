#!/usr/bin/env bash
# burst_buffer/lua: the site's script stages a job's data in and out.
# shows: BurstBufferType
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root: root itself has no burst buffers"; exit 0; }
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
function slurm_bb_pools()
  return slurm.SUCCESS,
    '{"pools":[{"id":"small","quantity":10,"granularity":2},{"id":"big","quantity":100,"granularity":1024}]}'
end
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
function slurm_bb_paths(id, script, path)
  local f = io.open(path, "w"); f:write("BB_PLACE=/scratch/" .. id .. "\n"); f:close()
  return slurm.SUCCESS
end
function slurm_bb_pre_run(id, script, uid, gid, info) return call("pre_run", id, info.nodes) end
function slurm_bb_post_run(id) return call("post_run", id) end
function slurm_bb_data_out(id) return call("data_out", id) end
function slurm_bb_get_status(uid, gid, ...)
  return slurm.SUCCESS, "for " .. uid .. ": " .. table.concat({...}, "+") .. "\n"
end
L
echo "PollInterval=1" > "$dir/burst_buffer.conf"
start_cluster 2 4 "BurstBufferType=burst_buffer/lua"
chmod 777 "$dir/work"
soon 'scontrol show burst | grep -q small'
check "scontrol show burst lists the pools" \
  "  PoolName[0]=big Granularity=1KiB TotalSpace=100KiB FreeSpace=100KiB UsedSpace=0
  PoolName[1]=small Granularity=2 TotalSpace=20 FreeSpace=20 UsedSpace=0" "$(scontrol show burst | grep Pool'Name\[')"
cat > job.sh <<'S'
#!/bin/bash
#BB_LUA pool=small capacity=5 from=/a
#SBATCH -J first
#BB_LUA to=/b
echo $BB_PLACE; sleep 0.5
#BB_LUA late
S
touch "$dir/calls/hold.data_in"
one=$(as sbatch --parsable -o one.txt job.sh)
soon '[ "$(staged $one)" = staging-in ]'
becomes "data is staged in while the job is pending" "PENDING BurstBufferStageIn staging-in" '"$(state "$one")"'
match "the job's record has its directives" 'BurstBuffer=#BB_LUA pool=small capacity=5 from=/a
#BB_LUA to=/b
' "$(scontrol show job "$one" | sed 's/^   //')"
space='FreeSpace=14 UsedSpace=6.*Allocated Buffers:.*JobID='"$one"' CreateTime=20[^ ]* '
space+='Pool=small Size=6 State=allocated UserID=nobody\(65534\).*Used=6'
match "the pool's space and its allocation" "$space" "$(scontrol show burst | tr '\n' ' ')"
two=$(as sbatch --parsable -J second -o /dev/null --bb='#BB_LUA pool=small capacity=15' --wrap true)
soon '[ "$(state $two)" = "PENDING BurstBufferResources pending" ]'
becomes "a request beyond the free space waits" "PENDING BurstBufferResources pending" '"$(state "$two")"'
touch "$dir/calls/hold.pre_run"; rm "$dir/calls/hold.data_in"
soon '[ "$(staged $one)" = pre-run ]'
becomes "pre_run is called when the job has its nodes" "CONFIGURING None pre-run" '"$(state "$one")"'
touch "$dir/calls/hold.data_out"; rm "$dir/calls/hold.pre_run"
soon '[ "$(staged $one)" = staging-out ]'
becomes "data is staged out after the job's end" "STAGE_OUT burst_buffer/lua:_Stage-out_in_progress staging-out" \
  '"$(state "$one")"'
check "the nodes are free during stage-out" "idle idle" "$(sinfo -h -N -o %t | xargs)"
check "squeue shows state SO" "SO" "$(squeue -h -j "$one" -o %t)"
soon 'grep -q "^data_out $one" "$dir/calls/log"'
kill -9 "$(pid_of slurmctld)"; rm -f "$dir/run/slurmctld.pid"; start_ctld; soon 'scontrol ping | grep -q UP'
soon '[ "$(grep -c "^data_out $one" "$dir/calls/log")" = 2 ]'
becomes "stage-out begins again after a kill of slurmctld" 2 '"$(grep -c "^data_out $one" "$dir/calls/log")"'
becomes "the script's process from before the kill is ended" 1 '$(pgrep -fc "BufferScript $dir")'
rm "$dir/calls/hold.data_out"
soon '[ "$(staged $one)" = complete ]'
becomes "the buffer is torn down" "COMPLETED None complete" '"$(state "$one")"'
check "slurm_bb_paths sets a variable for the job" "/scratch/$one" "$(cat one.txt)"
soon '[ "$(staged $two)" = complete ]'
becomes "the waiting job runs next" "COMPLETED None complete" '"$(state "$two")"'
check "the script's functions are called in order, once each" "process 65534 65534 first
setup $one small 6
line #BB_LUA pool=small capacity=5 from=/a
line #BB_LUA to=/b
line #BB_LUA late
data_in $one $dir/work
test_data_in $one
pre_run $one n1
post_run $one
data_out $one
data_out $one
teardown $one false 65534" "$(grep -E "first|^[a-z_]+ $one( |\$)|line.*(from|to=|late)" "$dir/calls/log")"
check "the script refuses a job" "sbatch: error: burst_buffer/lua: no jobs called bad
sbatch: error: Batch job submission failed: Burst Buffer request invalid" "$(as sbatch -J bad job.sh 2>&1)"
check "an unknown pool is refused" "salloc: error: Job submit/allocate failed: Burst Buffer request invalid" \
  "$(as salloc --bb='#BB_LUA pool=none capacity=3' true 2>&1)"
check "a request without a directive is refused" \
  "salloc: error: Job submit/allocate failed: Burst Buffer request invalid" "$(as salloc --bb='pool=small' true 2>&1)"
check "a request of root is refused" "sbatch: error: User root can not allocate burst buffers
sbatch: error: Batch job submission failed: Burst Buffer permission denied" "$(sbatch job.sh 2>&1)"
printf '#!/bin/bash\n#BB_LUA from=/in/%%A.%%a.%%x/100%%%% \\\\ %%j\necho $BB_PLACE\n' > tile.sh
array=$(as sbatch --parsable -a 1-3%2 -J tile -o tile.%a tile.sh)
soon '[ "$(cat tile.? 2>/dev/null | wc -l)" = 3 ]'
becomes "each task of an array has a buffer of its own" "3" '"$(sort -u tile.? | grep -c "^/scratch/")"'
check "symbols in directives are replaced" "line #BB_LUA from=/in/$array.1.tile/100%  %j
line #BB_LUA from=/in/$array.2.tile/100%  %j
line #BB_LUA from=/in/$array.3.tile/100%  %j" "$(grep "line.*/in/" "$dir/calls/log" | sort -u)"
cat > het.sh <<'S'
#!/bin/bash
#SBATCH -n1 -o het.txt
#BB_LUA from=/one
#SBATCH hetjob
#SBATCH -n1
#BB_LUA from=/two
echo $BB_PLACE
S
het=$(as sbatch --parsable het.sh)
soon '[ "$(state $het)" = "COMPLETED None complete COMPLETED None complete" ]'
becomes "the components of a heterogeneous job complete" "COMPLETED None complete COMPLETED None complete" \
  '"$(state "$het")"'
check "each component has a buffer" "$het $((het+1))" \
  "$(grep -oE "^setup ($het|$((het+1)))\>" "$dir/calls/log" | cut -d' ' -f2 | sort -n | xargs)"
check "each component uses its own directives" "1 line #BB_LUA from=/one 1 line #BB_LUA from=/two" \
  "$(grep -oE 'line #BB_LUA from=/(one|two)' "$dir/calls/log" | sort | uniq -c | xargs)"
check "the batch script runs in the first component" "/scratch/$het" "$(cat het.txt)"
check "scontrol show bbstat prints the script's status" "for 65534: a+b" "$(as scontrol show bbstat a b)"
echo '#BB_LUA pool=small capacity=1' > bb.txt
check "salloc --bbf" same \
  "$(as salloc -Q --bbf=bb.txt sh -c '[ "$BB_PLACE" = "/scratch/$SLURM_JOB_ID" ] && echo same' 2>/dev/null)"
check "srun --bb" same \
  "$(as srun -Q --bb='#BB_LUA' sh -c '[ "$BB_PLACE" = "/scratch/$SLURM_JOB_ID" ] && echo same' 2>/dev/null)"
printf '#!/bin/sh\necho "$@" >>%s/fired.txt\n' "$PWD" >fired.sh; chmod 755 fired.sh
strigger --set --burst_buffer --program="$PWD/fired.sh"
# Functions of the script that fail.
touch "$dir/calls/fail.data_in"; bad=$(as sbatch --parsable -o /dev/null job.sh)
soon '[[ "$(state $bad)" = *wrong* ]]'
becomes "a job whose stage-in fails is held and keeps its buffer" \
  "PENDING burst_buffer/lua:_slurm_bb_data_in:_it_went_wrong staging-in" '"$(state "$bad")"'
soon '[ -s fired.txt ]'
becomes "a failed stage-in fires the trigger" "burst_buffer" '"$(cat fired.txt)"'
rm "$dir/calls/fail.data_in"; scontrol release "$bad"; soon '[ "$(staged $bad)" = complete ]'
becomes "a released job stages in again" "COMPLETED None complete" '"$(state "$bad")"'
touch "$dir/calls/fail.pre_run"; bad=$(as sbatch --parsable -o /dev/null job.sh)
soon '[[ "$(state $bad)" = *pre_run*pending ]]'
becomes "a job whose pre_run fails is requeued and held" "PENDING Burst_buffer_pre_run_error pending" \
  '"$(state "$bad")"'
rm "$dir/calls/fail.pre_run"; as scancel "$bad"
touch "$dir/calls/fail.data_out"; bad=$(as sbatch --parsable -o /dev/null job.sh)
soon '[[ "$(state $bad)" = *wrong* ]]'
becomes "a failed stage-out is the job's reason" \
  "STAGE_OUT burst_buffer/lua:_slurm_bb_data_out:_it_went_wrong staging-out" '"$(state "$bad")"'
late=$(as sbatch --parsable -o /dev/null -d afterburstbuffer:"$bad" --wrap true)
becomes "a job that depends on the stage-out waits" "PENDING Dependency" '"$(squeue -h -j "$late" -o "%T %r")"'
as scancel --hurry "$bad"; soon '[ "$(staged $bad)" = complete ]'
comes "scancel --hurry completes the job" 'COMPLETED .* complete' '"$(state "$bad")"'
match "teardown is called with hurry" "^teardown $bad true" "$(grep "^teardown $bad" "$dir/calls/log")"
soon '[ -z "$(squeue -h -j "$late")" ]'
check "the dependent job runs" COMPLETED "$(scontrol show job "$late" | grep -oE 'JobState=\S+' | cut -d= -f2)"
rm "$dir/calls/fail.data_out"; touch "$dir/calls/hold.data_in"; gone=$(as sbatch --parsable -o /dev/null job.sh)
soon '[ "$(staged $gone)" = staging-in ] && grep -q "^data_in $gone" "$dir/calls/log"'
as scancel "$gone"; soon '[ "$(staged $gone)" = complete ]'
becomes "a job cancelled during stage-in is torn down" "CANCELLED None complete" '"$(state "$gone")"'
check "no pool has used space" "$(printf 'UsedSpace=0\nUsedSpace=0')" \
  "$(scontrol show burst | grep PoolName | grep -oE 'UsedSpace=\S+')"
check "an unknown BurstBufferType is refused" 1 \
  "$(sed -i 's:burst_buffer/lua:burst_buffer/datawarp:' "$SLURM_CONF"; scontrol reconfigure >/dev/null 2>&1; echo $?)"
