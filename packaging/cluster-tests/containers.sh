#!/usr/bin/env bash
# --container: tasks in OCI bundles, by a runtime that records its calls, and by runc, where it works.
. "$(dirname "$0")/lib.bash"
mkdir -p "$dir/bundle/rootfs" "$dir/made"; chmod 777 "$dir/made"
cat > "$dir/bundle/config.json" <<'C'
{"ociVersion": "1.0.0",
 "process": {"terminal": true, "user": {"uid": 0, "gid": 0}, "args": ["sh"], "env": ["OWN=1"], "cwd": "/"},
 "root": {"path": "rootfs", "readonly": true},
 "hooks": {"prestart": [{"path": "/x"}], "poststop": [{"path": "/y"}]}, "mounts": []}
C
# A container is a file in made/. The runtime runs the file script on the node instead of the container's command.
cat > "$dir/runtime" <<'R'
#!/usr/bin/env bash
here=$(dirname "$0"); op=$1; id=$2; shift 2
echo "$op $id $*" >> "$here/calls"
case $op in
  run) cp "$1/config.json" "$here/config.$id" 2>/dev/null; env > "$here/runtime.env"; touch "$here/made/$id"
       [ -e "$here/leave" ] || trap 'rm -f "$here/made/$id"' EXIT
       eval "$(cat "$here/script" 2>/dev/null || echo true)";;
  create) touch "$here/made/$id"
       setsid bash -c "echo \$\$ > '$here/made/$id'
         while [ ! -e '$here/made/$id.go' ]; do sleep 0.05; done
         ( $(cat "$here/script" 2>/dev/null || echo true) ); rc=\$?
         rm -f '$here/made/$id'
         exit \$rc" &
       while [ ! -s "$here/made/$id" ]; do sleep 0.05; done;;
  start) touch "$here/made/$id.go";;
  state) if [ -e "$here/made/$id" ]; then
           echo "{\"status\": \"running\", \"pid\": $(grep . "$here/made/$id" || echo 1)}"
         else echo '{"status": "stopped"}'; fi;;
  kill) p=$(cat "$here/made/$id" 2>/dev/null); [ -n "$p" ] && kill "$p"; rm -f "$here/made/$id";;
  delete) rm -f "$here/made/$id" "$here/made/$id.go";;
esac
R
chmod 755 "$dir/runtime"
start_cluster 1 4 "LaunchParameters=use_interactive_step"
node() { # restarts slurmd and empties the record of calls
  stopped slurmd-n1; start_node n1
  soon '[ "$(sinfo -h -o %T)" = idle ]' 15
  : > "$dir/calls"
}
field() { python3 -c "import json,sys;d=json.load(open(sys.argv[1]));print(eval(sys.argv[2]))" "$dir/$1" "$2"; }
check "without oci.conf --container only sets SLURM_CONTAINER" "$dir/bundle" \
  "$(srun --container "$dir/bundle" sh -c 'echo $SLURM_CONTAINER')"
cat > "$dir/oci.conf" <<C
CreateEnvFile=newline
EnvExclude="^(SECRET|SLURM_CONF)="
RunTimeEnvExclude="^MINE="
DisableHooks=prestart
RunTimeQuery="$dir/runtime state %n.%u.%j.%s.%t"
RunTimeRun="$dir/runtime run %n.%u.%j.%s.%t %b %e %r %m %U %% %@"
RunTimeKill="$dir/runtime kill %n.%u.%j.%s.%t"
RunTimeDelete="$dir/runtime delete %n.%u.%j.%s.%t"
C
node
SECRET=1 MINE=2 SHOWN=3 srun --container "$dir/bundle" echo "it's" here
wait_empty; job=$(scontrol show job -o | tail -1 | sed 's/JobId=\([0-9]*\).*/\1/'); name=n1.$(id -un).$job.0.0
spool=$dir/spool/n1/oci-job$(printf %05d "$job")-00000
check "the patterns of RunTimeRun are replaced" \
  "run $name $spool/task-00000 $spool/task-00000/environment $dir/bundle/rootfs $spool $(id -u) % echo it's here" \
  "$(head -1 "$dir/calls")"
check "the runtime is asked for the state and deletes the container" "state $name |delete $name " \
  "$(tail -n +2 "$dir/calls" | uniq | paste -sd'|')"
check "config.json has the command, no terminal and the root" "['echo', \"it's\", 'here'] False $dir/bundle/rootfs" \
  "$(field "config.$name" "d['process']['args'], d['process']['terminal'], d['root']['path']" \
    | tr -d '(),' | sed "s/\[.*\]/['echo', \"it's\", 'here']/; s/'\(\/[^']*\)'/\1/")"
check "config.json has the environment without EnvExclude" "True True False" \
  "$(field "config.$name" "' '.join(str(e in d['process']['env']) for e in ['OWN=1','SHOWN=3','SECRET=1'])")"
check "RunTimeEnvExclude: the runtime's environment is without MINE" 0 "$(grep -c ^MINE= "$dir/runtime.env")"
check "the runtime's environment has SECRET" 1 "$(grep -c ^SECRET= "$dir/runtime.env")"
check "DisableHooks removes prestart hooks" "['poststop']" "$(field "config.$name" "list(d['hooks'])")"
check "the spool directory of the container is deleted" "" "$(ls -d "$dir"/spool/n1/oci-* 2>/dev/null)"
check "scontrol show job has the container" "   Container=$dir/bundle" "$(scontrol show job "$job" | grep Container)"
echo "until [ -e $dir/shown ]; do sleep 0.1; done" > "$dir/script"
srun -Q --container "$dir/bundle" true & step=$!
soon "squeue -hs -o %j | grep -q true"
check "scontrol show step has the container" "   Container=$dir/bundle" "$(scontrol show step | grep Container)"
check "squeue -s has the container" "$dir/bundle" "$(squeue -hs -O container:200 | grep bundle | tr -d " ")"
touch "$dir/shown"; wait $step; rm "$dir/script"
check "sacct has the container of the job and of its step" "$dir/bundle|$dir/bundle" \
  "$(sacct -nP -j "$job" -o container | grep -v "^$" | paste -sd"|")"
check "squeue has the container of the job" "$dir/bundle" "$(squeue -h -t all -j "$job" -O container:200 | tr -d ' ')"
echo 'exit 7' > "$dir/script"
check "the exit code is the container's" 7 "$(srun -Q --container "$dir/bundle" true >/dev/null 2>&1; echo $?)"
printf '#!/bin/sh\ntrue\n' > s.sh
: > "$dir/calls"; echo 'srun -Q true' > "$dir/script"
sbatch -W -o /dev/null --container "$dir/bundle" s.sh >/dev/null
check "a step of a batch script in a container is not in the container" 1 "$(grep -c ^run "$dir/calls")"
check "the container's command is the batch script" "['/tmp/slurm/startup']" \
  "$(field "$(basename "$(ls -t "$dir"/config.* | head -1)")" "d['process']['args']")"
check "an unknown bundle is refused" "No such file or directory" \
  "$(srun --container "$dir/none" true 2>&1 | sed -n 's/.*Application launch failed: //p')"
: > "$dir/calls"; echo true > "$dir/script"
salloc -Q --container "$dir/bundle" </dev/null >/dev/null 2>&1
check "salloc's shell is in the container" 1 "$(grep -c ^run "$dir/calls")"
echo 'sleep 60' > "$dir/script"; touch "$dir/leave"; : > "$dir/calls"
job=$(sbatch --parsable -o /dev/null --container "$dir/bundle" s.sh)
soon "grep -q ^run $dir/calls && ls $dir/made | grep -q ."
scancel "$job"
wait_empty 20
comes "the container of a cancelled job is killed and deleted" "kill n1[^ ]* \|.*delete n1" \
  '"$(paste -sd"|" "$dir/calls")"'
rm -f "$dir/leave"
sed -i "s|^RunTimeRun=.*|RunTimeCreate=\"$dir/runtime create %n.%u.%j.%s.%t %b\"\\
RunTimeStart=\"$dir/runtime start %n.%u.%j.%s.%t\"|
  s|^DisableHooks.*|DisableCleanup=yes\nMountSpoolDir=/inside/%j\nContainerPath=$dir/made/%u-%j-%s|" "$dir/oci.conf"
node; echo 'exit 5' > "$dir/script"
check "a created and started container has an exit code" 5 \
  "$(srun -Q --container "$dir/bundle" true >/dev/null 2>&1; echo $?)"
wait_empty
check "the runtime's calls: create, state, start, state, delete" "create state start state delete" \
  "$(awk '{print $1}' "$dir/calls" | uniq | paste -sd' ')"
job=$(scontrol show job -o | tail -1 | sed 's/JobId=\([0-9]*\).*/\1/')
check "ContainerPath, MountSpoolDir and DisableCleanup" "/inside/$job" \
  "$(field "made/$(id -un)-$job-0/task-00000/config.json" "d['mounts'][-1]['destination']")"
sed -i 's/^RunTimeCreate=.*/RunTimeRun="'"${dir//\//\\/}"'\/runtime run x %r %@"\nIgnoreFileConfigJson=true/' \
  "$dir/oci.conf"
node; rm -f "$dir/bundle/config.json"; echo true > "$dir/script"
srun -Q --container "$dir/bundle" ls -l
check "IgnoreFileConfigJson: a bundle without config.json runs" "run x $dir/bundle ls -l" "$(head -1 "$dir/calls")"
echo 'RunTimeQuery="x %q"' >> "$dir/oci.conf"; stopped slurmd-n1
match "slurmd refuses an unknown pattern" "RunTimeQuery: unexpected replacement character: q" \
  "$(slurmd -D -f "$SLURM_CONF" -N n1 2>&1 </dev/null | head -5)"
command -v runc >/dev/null || { echo "skipped: runc is not here"; exit 0; }
mkdir -p "$dir/real/rootfs"/{bin,lib,lib64,usr,proc,dev,sys,tmp}; cd "$dir/real"; rm -f config.json; runc spec
python3 - <<'P'
import json
d = json.load(open('config.json')); d['root']['readonly'] = False
d['mounts'] += [{'destination': '/' + x, 'type': 'none', 'source': '/' + x, 'options': ['rbind', 'ro']}
                for x in ('bin', 'lib', 'lib64', 'usr')]
d['process'].update(terminal=False, args=['true'])
json.dump(d, open('config.json', 'w'))
P
runc --root="$dir/runc" run -b "$dir/real" probe >/dev/null 2>&1 || { echo "skipped: runc does not work here"; exit 0; }
cat > "$dir/oci.conf" <<C
RunTimeQuery="runc --root=$dir/runc state %n.%u.%j.%s.%t"
RunTimeKill="runc --root=$dir/runc kill -a %n.%u.%j.%s.%t"
RunTimeDelete="runc --root=$dir/runc delete --force %n.%u.%j.%s.%t"
RunTimeRun="runc --root=$dir/runc run %n.%u.%j.%s.%t -b %b"
C
cd "$dir/work"; start_node n1; soon '[ "$(sinfo -h -o %T)" = idle ]'
check "runc: the container has its own root" "bin dev lib lib64 proc sys tmp usr" \
  "$(srun -Q --container "$dir/real" ls / | paste -sd' ')"
check "runc: each of two tasks has process id 1" "0: 1|1: 1" \
  "$(srun -Q -l -n2 --container "$dir/real" sh -c 'echo $$' | sort | paste -sd'|')"
check "runc: the exit code" 9 "$(srun -Q --container "$dir/real" sh -c 'exit 9' >/dev/null 2>&1; echo $?)"
printf '#!/bin/sh\necho batch $1 $$\n' > b.sh
sbatch -W -o b.out --container "$dir/real" b.sh arg >/dev/null
check "runc: a batch script has its arguments" "batch arg 1" "$(cat b.out)"
job=$(sbatch --parsable -o /dev/null --container "$dir/real" --wrap 'sleep 100')
soon "runc --root=$dir/runc list -q | grep -q ."
scancel "$job"
wait_empty 30
becomes "runc: scancel deletes the container" "" '"$(runc --root="$dir/runc" list -q)"'
