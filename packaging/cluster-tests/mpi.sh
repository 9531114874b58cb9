#!/usr/bin/env bash
# Tasks that speak PMI-1, PMI-2 or PMIx, on one node and on several; MPICH and Open MPI where they are installed.
# shows: MpiDefault
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"
command -v gcc >/dev/null || { echo "skipped: gcc is not there"; exit 0; }
start_cluster 3 8
gcc -O1 -o client "$here/pmi_client.c"
ranks() { local r; for r in $(seq 0 $(($1 - 1))); do echo "ok $r $1"; done; }
run() { timeout 60 srun -Q "$@" </dev/null 2>&1; }

match "srun --mpi=list" "MPI plugin types are...
	none
	pmi2" "$(srun --mpi=list)"
match "an unknown MPI type" "Invalid MPI type 'bogus', --mpi=list for acceptable types" \
  "$(srun --mpi=bogus true 2>&1 || true)"
for v in 1 2; do
  check "PMI-$v on one node" "$(ranks 4)" "$(run -N1 -n4 --mpi=pmi2 ./client $v 3 | sort -nk2)"
  check "PMI-$v on three nodes" "$(ranks 7)" "$(run -N3 -n7 --mpi=pmi2 ./client $v 3 | sort -nk2)"
  check "PMI-$v, cyclic ranks" "$(ranks 6)" "$(run -N3 -n6 -m cyclic --mpi=pmi2 ./client $v 2 | sort -nk2)"
done
check "PMI variables of a task" "PMI_JOBID SLURM_MPI_TYPE=pmi2" \
  "$(SLURM_MPI_TYPE=pmi2 run printenv PMI_JOBID | sed 's/^[0-9]*\.0$/PMI_JOBID/') $(run --mpi=pmi2 env \
  | grep SLURM_MPI_TYPE)"
check "a task without --mpi has none" "" "$(run env | grep -E '^PMI|MPI_TYPE' || true)"
check "MpiDefault" "0" "$(sed -i '1iMpiDefault=pmi2' "$SLURM_CONF"; run printenv PMI_RANK; sed -i 1d "$SLURM_CONF")"

cat > nonsense.sh <<'S'
#!/bin/bash
case $SLURM_PROCID in
0) head -c 3000000 /dev/urandom >&"$PMI_FD" 2>/dev/null; exit 0 ;;
1) printf 'cmd=init pmi_version=2 pmi_subversion=0\n 99999cmd=abcd' >&"$PMI_FD"; exit 0 ;;
2) printf 'cmd=put\ncmd=get\n=\n ====  \ncmd=getbyidx idx=-1\nmcmd=spawn\nx\nendcmd\n' >&"$PMI_FD"
   printf 'cmd=publish_name\ncmd=init\n' >&"$PMI_FD"; exit 0 ;;
*) exec ./client 2 0 ;;
esac
S
chmod +x nonsense.sh
check "tasks that talk nonsense harm no other" "ok 3 6;ok 4 6;ok 5 6;" \
  "$(run -N2 -n6 -m cyclic --mpi=pmi2 ./nonsense.sh | sort | tr '\n' ';')"

# Prints the ids of this test's processes that pgrep's arguments match: tests in other lanes run clients too.
own() {
  local p
  for p in $(pgrep "$@"); do [[ "$(readlink "/proc/$p/cwd")" != "$dir"/* ]] || echo "$p"; done
}
# Every slurmd is killed and restarted while the tasks exchange values; no value is lost.
(timeout 90 srun -Q -N3 -n6 --mpi=pmi2 ./client 2 30 200 </dev/null >long 2>&1; echo "rc $?" >>long) &
soon '[ "$(own -x client | wc -l)" -ge 6 ]'
for n in n2 n1 n3; do killed slurmd-$n; start_node "$n"; done
wait $!
check "slurmds that are restarted" "$(ranks 6)
rc 0" "$(grep -E "^ok|^rc|^failed" long | sort -nk2 | awk '/rc/{rc=$0;next}{print}END{print rc}')"

cat > abort.sh <<'S'
#!/bin/bash
: > "aborts.$SLURM_PROCID"
while [ "$SLURM_PROCID" = 2 ] && [ "$(ls aborts.* | wc -l)" -lt 3 ]; do sleep 0.1; done
if [ "$SLURM_PROCID" = 2 ]; then
  printf 'cmd=init pmi_version=1 pmi_subversion=1\ncmd=abort exitcode=3\n' >&"$PMI_FD"
fi
sleep 60
S
chmod +x abort.sh
began=$SECONDS
timeout 50 srun -N3 -n3 --mpi=pmi2 ./abort.sh </dev/null >aborted 2>&1 || true
check "an abort ends its step within 20 s" "yes" "$([ $((SECONDS - began)) -lt 20 ] && echo yes || cat aborted)"
match "a task aborts the step on all nodes" "CANCELLED AT" "$(cat aborted)"
check "an abort kills each task of the step" "0 1 2 " \
  "$(sed -n 's/^srun: error: n[1-3]: task \([0-2]\): Killed$/\1/p' aborted | sort \
    | tr '\n' ' ')"
own_helpers() {
  local p
  for p in $(pgrep -x mpi-helper); do
    readlink "/proc/$(ps -o ppid= -p "$p" | tr -d ' ')/cwd" | grep -q "^$dir/" && echo "$p"
  done
  true
}
(soon '[ "$(own -f "^[^ ]*sleep 40$" | wc -l)" -ge 2 ]'; kill -9 $(own_helpers | head -1)) & killer=$!
match "the loss of a helper ends its step" "mpi: the helper of this step is gone.*CANCELLED AT" \
  "$(timeout 50 srun -N2 -n2 --mpi=pmi2 sleep 40 </dev/null 2>&1 | tr '\n' ' ')"
wait $killer

mpi() { # compiler, kind
  command -v "$1" >/dev/null || { echo "skip $2: $1 is not there"; return 0; }
  srun --mpi=list | grep -qw "$2" || { echo "skip $2: libpmix is not there"; return 0; }
  cat > ring.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    if (argc > 1 && argv[1][0] == 's' && getenv("SLURM_PROCID")[0] == '2')
        sleep(40);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && rank == size - 1)
        argv[1][0] == 'a' ? MPI_Abort(MPI_COMM_WORLD, 7) : _exit(5);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d %d %d\n", rank, size, sum);
    MPI_Finalize();
    return 0;
}
C
  "$1" -o "ring.$2" ring.c || { echo "skip $2: $1 does not compile"; return 0; }
  check "$1 on one node" "0 2 1
1 2 1" "$(run -N1 -n2 --mpi="$2" "./ring.$2" | sort -n)"
  check "$1 on two nodes" "0 4 6
1 4 6
2 4 6
3 4 6" "$(run -N2 -n4 --ntasks-per-node=2 --mpi="$2" "./ring.$2" | sort -n)"
  match "$1: MPI_Abort" "CANCELLED AT" "$(timeout 50 srun -N2 -n3 --mpi="$2" "./ring.$2" a </dev/null 2>&1 || true)"
}
mpi mpicc.mpich pmi2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpi mpicc.openmpi pmix
if [ -x ring.pmix ]; then
  began=$SECONDS
  match "a rank that dies ends the others" "Error handler invoked: status = -61|CANCELLED AT" \
    "$(timeout 50 srun -N2 -n3 --mpi=pmix ./ring.pmix x </dev/null 2>&1 || true)"
  check "within 20 s" "yes" "$([ $((SECONDS - began)) -lt 20 ] && echo yes)"
  mkdir -m 1777 clients
  printf 'PMIxCliTmpDirBase=%s/work/clients\nPMIxDebug=1\nPMIxEnv=PMIX_MCA_gds=hash\nPMIxTimeout=3\n' "$dir" > \
    "$dir/mpi.conf"
  match "scontrol show config" "MPI Plugins Configuration:.*PMIxTimeout             = 3" "$(scontrol show config)"
  match "PMIxEnv has no effect before a reconfiguration" "PMIX_GDS_MODULE=ds21" "$(run --mpi=pmix env)"
  reread
  match "PMIxEnv" "PMIX_GDS_MODULE=hash" "$(run --mpi=pmix env)"
  match "PMIxCliTmpDirBase" "clients/slurm.pmix" "$(run --mpi=pmix bash -c 'ls -d '"$dir"'/work/clients/*')"
  check "PMIxCliTmpDirBase: the step's directory is removed" "" "$(ls clients)"
  match "PMIxDebug" "fence of 2 nodes" \
    "$(salloc -Q -N2 -n2 bash -c "srun -Q --mpi=pmix ./ring.pmix; cat $dir/spool/n*/job*/step.0/log" </dev/null 2>&1)"
  began=$SECONDS
  timeout 50 srun -N2 -n3 --mpi=pmix ./ring.pmix s </dev/null >late 2>&1 || true
  check "PMIxTimeout" "yes" "$([ $((SECONDS - began)) -lt 25 ] && echo yes || cat late)"
  check "PMIx's files on the nodes are removed" "" \
    "$(ls -d "$dir"/spool/n*/job*/pmix.* /dev/shm/slurm.pmix.* 2>/dev/null \
      || true)"
fi
