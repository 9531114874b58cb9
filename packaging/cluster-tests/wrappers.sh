#!/usr/bin/env bash
# Other workload managers' commands and the contributed reports, on a cluster with accounting.
. "$(dirname "$0")/lib.bash"
prepare_dbd; start_dbd
start_cluster 2 4 "$accounting"
printf '#!/bin/sh\n#PBS -l walltime=0:05:00\necho here\nsleep 100\n' >j.pbs
a=$(qsub -N first -l nodes=2:ppn=1,mem=100mb j.pbs)
check "qsub prints a number alone" "" "${a//[0-9]/}"
soon '[ "$(squeue -h -j "$a" -o %T)" = RUNNING ]'
check "the job that qsub submitted" "first|2|2|5:00|100M" "$(squeue -h -j "$a" -o '%j|%D|%C|%l|%m')"
match "qstat" "$a +first +$(id -un) +00:00:[0-9]+ R main" "$(qstat)"
match "qstat -f: nodes" "exec_host = n1/1.n2/1" "$(qstat -f "$a")"
match "qstat -q" "main +-- +-- +-- +-- +1 +0 --  E R" "$(qstat -q)"
b=$(qsub -h -b y sleep 100)
match "bjobs" "$b +[^ ]+ +PSUSP main" "$(bjobs)"
qrls "$b"
becomes "qrls" RUNNING '"$(squeue -h -j "$b" -o %T)"'
qalter -N other "$b"
check "qalter -N" other "$(squeue -h -j "$b" -o %j)"
rc=0; qalter -N x 9999 2>err.txt || rc=$?
check "qalter of an unknown job" "1 qalter: Error on job id 9999: Invalid job id specified" "$rc $(cat err.txt)"
rc=0; qhold 9999 2>err.txt || rc=$?
check "qhold of an unknown job" "1 qhold: Error on job id 9999: Invalid job id specified" "$rc $(cat err.txt)"
rc=0; qdel 9999 2>err.txt || rc=$?
check "qdel of an unknown job" "1 qdel: Kill job error on job id 9999: Invalid job id specified" "$rc $(cat err.txt)"
qrerun "$a"
soon '[ "$(squeue -h -j "$a" -O restartcnt | xargs)" = 1 ]'
check "qrerun" 1 "$(scontrol show job "$a" | grep -o 'Restarts=[0-9]*' | cut -d= -f2)"
soon 'scontrol update JobId="$a" StartTime=now 2>/dev/null; [ "$(squeue -h -j "$a" -o %T)" = RUNNING ]'
soon 'grep -q here "first.o$a"'
qdel "$a.server"; bkill "$b" >out.txt
check "bkill" "Job <$b> is being terminated" "$(cat out.txt)"
wait_empty 30
rc=0; qdel "$a" 2>err.txt || rc=$?
check "qdel of a completed job" "1 qdel: Kill job error on job id $a: Job/step already completing or completed" \
  "$rc $(cat err.txt)"
check "the job's output file" here "$(cat "first.o$a")"
match "qstat of a completed job" "$a +first .* C main" "$(qstat "$a")"
pbsnodes -o n2 -N "new disk"
check "pbsnodes -o" "n2		offline		new disk" "$(pbsnodes -l -n)"
match "pbsnodes of a node" "note = new disk" "$(pbsnodes n2)"
pbsnodes -c n2
match "pbsnodes -c" "state = free" "$(pbsnodes n2)"
rc=0; pbsnodes n9 2>err.txt || rc=$?
check "pbsnodes of an unknown node" "1 pbsnodes: unknown node n9" "$rc $(cat err.txt)"
check "mpiexec" "0 1 2" "$(mpiexec.slurm -n 3 sh -c 'echo $SLURM_PROCID' | sort | xargs)"
printf '# plan\n-n 1 : echo one\n-n 2 : echo two\n' >plan
check "mpiexec -config" "one two two" "$(mpiexec.slurm -config plan | sort | xargs)"
printf '#!/bin/sh\n#BSUB -J inscript\nhostname\n' | bsub >out.txt
match "bsub of a script" "^Job <[0-9]+> is submitted to default queue <main>.$" "$(cat out.txt)"
check "bsub -I" hello "$(bsub -I echo hello)"
check "lsid" "My cluster name is test" "$(lsid | sed -n 2p)"
c=$(sbatch --parsable -n1 -c2 --mem=64 --wrap 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; sleep 2')
match "sjstat" "main\* +4000Mb +4 +2 +2 " "$(sjstat)"
wait_empty 60
soon '[ "$(sacct -n -P -j "$c.batch" -o state)" = COMPLETED ]'
seff "$c" >seff.txt
match "seff's job" "Job ID: $c.*Cluster: test.*State: COMPLETED \(exit code 0\).*Nodes: 1.*Cores per node: 2" \
  "$(cat seff.txt)"
match "seff's parts" \
  "CPU Efficiency: [0-9.]+% of 00:00:[0-9]+ core-walltime.*Memory Efficiency: .* of 64.00 MB \(64.00 MB/node\)" \
  "$(cat seff.txt)"
rc=0; seff 9999 2>err.txt || rc=$?
check "seff of an unknown job" "2 Job not found." "$rc $(cat err.txt)"
mkdir here; printf 'echo $SLURMD_NODENAME >%s/here/$SLURMD_NODENAME.txt' "$PWD" >write.sh
check "sgather" "same same 1" "$(salloc -Q -N2 sh -c \
  'echo same >shared.txt; sgather shared.txt got && cat got.n1 got.n2; ls shared.txt 2>/dev/null | wc -l' | xargs)"
salloc -Q -N2 sh -c 'srun -n2 sh write.sh; sgather -k -r -p here tree'
check "sgather -r" "n1.txt n2.txt" "$(ls tree.n1 | xargs)"
rc=0; salloc -Q -N2 sgather -k nothing x 2>err.txt || rc=$?
match "sgather of a missing file" "1 .*n[12]: nothing: No such file or directory" "$rc $(xargs <err.txt)"
check "sgather -f of a missing file" 0 "$(rc=0; salloc -Q -N2 sgather -f -k nothing x 2>/dev/null || rc=$?; echo $rc)"
rc=0; salloc -Q -N2 sgather -k -r here tree 2>err.txt || rc=$?
match "sgather to an existing target" "1 .*tree.n1: File exists" "$rc $(xargs <err.txt)"
for p in qsub bjobs sgather; do match "$p has a page" "$p" "$(head -1 "$prefix/share/man/man1/$p.1" | tr A-Z a-z)"; done
wait_empty 30
