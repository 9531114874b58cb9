#!/usr/bin/env bash
# srun --async: steps that run in the background, queued within their job; swait.
. "$(dirname "$0")/lib.bash"
start_cluster 2 2 DefMemPerCPU=1
run() { sbatch --parsable -o "$dir/work/$1.log" "${@:3}" --wrap "$2"; }
over() { soon "[ -z \"\$(squeue -h -j $1 2>/dev/null)\" ]" 40; }

id=$(run a 'srun --async -l -n2 -o a.out -e a.err sh -c "echo from \$SLURM_PROCID; echo bad >&2"
  srun --async --parsable hostname
  swait
  echo rc $?' -n2)
over "$id"
check "srun prints the id of the step" "Submitted step $id.0 $id.1 rc 0" \
  "$(tr '\n' ' ' < "$dir/work/a.log" | sed 's/ $//')"
check "all tasks write to the file of --output" "0: from 0 1: from 1" \
  "$(sort "$dir/work/a.out" | tr '\n' ' ' | sed 's/ $//')"
check "all tasks write errors to the file of --error" "0: bad 1: bad" \
  "$(sort "$dir/work/a.err" | tr '\n' ' ' | sed 's/ $//')"
check "the default output file is slurm-JOB.STEP.out" yes "$([ -s "$dir/work/slurm-$id.1.out" ] && echo yes)"

id=$(run b 'for i in 1 2 3 4; do
    srun --async --exact -n1 --mem=1 -o b-%s.out sh -c "until [ -e go ]; do sleep 0.1; done; echo \$SLURM_STEP_ID"
  done
  touch submitted
  swait' -N1 -n2)
soon '[ -e "$dir/work/submitted" ]'
check "steps without free CPUs are pending" "PENDING PENDING RUNNING RUNNING" "$(scontrol show step "$id" -o \
    | grep -v batch | grep -o 'State=[A-Z]*' | cut -d= -f2 | sort | tr '\n' ' ' | sed 's/ $//')"
touch "$dir/work/go"; scontrol reconfigure; over "$id"
check "pending steps run when CPUs are free" "0 1 2 3" "$(cat "$dir"/work/b-?.out | tr '\n' ' ' | sed 's/ $//')"
check "every step is in accounting" "0 1 2 3" \
  "$(sacct -nPj "$id" -o jobid,state | sed -n "s/$id\.\([0-9]\)|COMPLETED/\1/p" | tr '\n' ' ' | sed 's/ $//')"

id=$(run c 'srun --async -n2 -o /dev/null sleep 30
  srun --async -n2 -o c.out touch never
  touch queued
  swait
  echo rc $?' -N1 -n2)
soon '[ -e "$dir/work/queued" ]'
check "swait from outside the job ends after --timeout" 1 "$(rc=0; swait --timeout=1 "$id" || rc=$?; echo $rc)"
scancel "$id.1"
check "a pending step can be cancelled" "$id.1|CANCELLED by $(id -u)" "$(sacct -nPj "$id.1" -o jobid,state)"
scancel "$id.0"; over "$id"
check "swait ends with the last step" "rc 0" "$(grep rc "$dir/work/c.log")"
check "the cancelled step never ran" no "$([ -e "$dir/work/never" ] && echo yes || echo no)"

id=$(run d 'srun --async -n1 -o d.out sleep 100' -n1); over "$id"
check "a step that still runs when the script ends is ended" no \
  "$(sacct -nPj "$id.0" -o state | grep -q COMPLETED && echo yes || echo no)"
id=$(run e 'srun --async -N2 -n2 -o e-%n.out sh -c "echo \$SLURMD_NODENAME"
  swait
  srun --async -n1 false
  swait
  sacct -nPj $SLURM_JOB_ID -o jobid,exitcode | tail -1' -N2)
over "$id"
check "a step runs on several nodes" "n1 n2" \
  "$(cat "$dir/work/e-0.out" "$dir/work/e-1.out" | tr '\n' ' ' | sed 's/ $//')"
check "the exit code of a step is in accounting" "$id.1|1:0" "$(tail -1 "$dir/work/e.log")"

id=$(run k 'for k in 1 0; do
    srun --async -K$k -N2 -n4 -o k$k-%t.out sh -c "echo here
      [ \$SLURM_PROCID != 2 ] || exit 3
      for i in 1 2 3 4 5 6; do sleep 0.5; done
      echo still"
  done
  swait' -N2 -n4)
over "$id"
check "--kill-on-bad-exit ends the other tasks of the step on all nodes" "" "$(cat k1-*.out | grep still)"
check "--kill-on-bad-exit=0 leaves the other tasks running" "still still still" "$(cat k0-*.out | grep still | xargs)"
check "--parsable requires --async" "srun: error: --parsable requires --async" "$(srun --parsable true 2>&1)"
check "--async outside an allocation is refused" \
  "srun: error: --async is only valid for steps submitted within an existing job allocation" "$(srun --async true 2>&1)"
check "--async with --pty is refused" "srun: error: --async and --pty are mutually exclusive" \
  "$(srun --async --pty true 2>&1)"
wrong() { local rc=0 out; out=$(env -u SLURM_JOB_ID swait "$@" 2>&1) || rc=$?; echo "$rc $out"; }
check "swait of a step" "2 swait: error: swait operates on a job, not a step: 42.0" "$(wrong 42.0)"
check "swait without a job id" "2 swait: error: no job id given and SLURM_JOB_SLUID/SLURM_JOB_ID are not set" "$(wrong)"
check "swait of an unknown job" "2 swait: error: cannot load JobId=4242: Invalid job id specified" "$(wrong 4242)"
held=$(sbatch --parsable -H --wrap true)
check "swait of a pending job" "2 swait: error: JobId=$held is still pending" "$(wrong "$held")"
scancel "$held"
array=$(sbatch --parsable -o /dev/null -a 0-1 --wrap 'srun sleep 2')
soon '[ "$(squeue -h -s -j "$array" | wc -l)" -gt 0 ]'
check "swait of an array" "2 swait: error: JobId=$array is an array job: pass a specific task offset, as ${array}_0" \
  "$(wrong "$array")"
check "swait of a task of an array" 0 "$(wrong "${array}_0" | tr -d ' ')"
wait_empty
