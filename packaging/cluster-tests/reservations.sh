#!/usr/bin/env bash
# Reservations through the commands: their users, nodes, licenses and flags, and that they survive slurmctld.
. "$(dirname "$0")/lib.bash"
start_cluster 3 4 "Licenses=lic:2"
me=$(id -un)
check "a reservation is created" "Reservation created: r1" \
  "$(scontrol create reservation reservationname=r1 starttime=now duration=10 nodes=n1 users="$me")"
check "a reservation without a name" "Reservation created: ${me}_2" \
  "$(scontrol create reservation start=now+1hour dur=10 nodecnt=1 user="$me" flags=maint,overlap)"
none='\(null\)'
pattern="ReservationName=r1 .* Nodes=n1 NodeCnt=1 CoreCnt=4 Features=$none PartitionName=$none Flags=SPEC_NODES"
match "scontrol show reservation" "$pattern TRES=cpu=4 AllowedPartitions=$none QOS=$none Users=$me " \
  "$(scontrol -o show res r1)"
check "an unknown reservation" "Reservation nosuch not found" "$(scontrol show res nosuch)"
check "an overlapping reservation" \
  "Error creating the reservation: Requested reservation overlaps with another reservation" \
  "$(scontrol create reservation start=now dur=10 nodes=n1 user="$me" 2>&1)"
check "a reservation without a start time" "scontrol: error: A start time must be given.  No reservation created." \
  "$(scontrol create reservation dur=10 nodes=n1 user="$me" 2>&1)"
check "sinfo's state" "resv" "$(sinfo -h -N -n n1 -o %t)"
match "sinfo -T" "r1 +ACTIVE +[-0-9T:]+  [-0-9T:]+     00:10:00  n1" "$(sinfo -T)"
match "scontrol's state" "State=IDLE.RESERVED" "$(scontrol -o show node n1)"
check "scontrol show node names the reservation" "ReservationName=r1" \
  "$(scontrol show node n1 | grep -o 'ReservationName=.*')"
check "sinfo %i" "n1 r1
n2 
n3 " "$(sinfo -h -N -o '%N %i' | sort)"
id=$(sbatch --parsable -o /dev/null -t 1 -w n1 --wrap 'sleep 30')
comes "a job outside the reservation waits" "PENDING ReqNodeNotAvail" '"$(squeue -h -o '\''%T %r'\'' -j "$id")"'
scancel "$id"
check "a job in the reservation runs" n1 "$(srun -t 5 --reservation=r1 printenv SLURM_JOB_NODELIST)"
becomes "sacct has the requested and the used reservation, and its id" "r1|r1|1" \
  '"$(sacct -X -n -P -o ReqReservation,Reservation,ReservationId -s CD -S now-1hour -E now | head -1)"'
check "cores of each node" 4 \
  "$(scontrol -o show res "$(scontrol create res start=now+2hours dur=10 nodecnt=2 trespernode=cpu=2 user="$me" \
    | awk '{print $3}')" \
  | sed -n 's/.* CoreCnt=\([0-9]*\).*/\1/p')"
check "trespernode of a GPU" "Error creating the reservation: Invalid Trackable RESource (TRES) specification" \
  "$(scontrol create res start=now+2hours dur=10 nodecnt=1 trespernode=gres/gpu=1 user="$me" 2>&1)"
check "a job in an unknown reservation" "srun: error: Unable to allocate resources: Requested reservation is invalid" \
  "$(srun --reservation=no true 2>&1 || true)"
id=$(sbatch --parsable -o /dev/null -t 1 --reservation=r1 --wrap 'sleep 30')
becomes "squeue %v" "RUNNING r1" '"$(squeue -h -o '\''%T %v'\'' -j "$id")"'
match "a reservation in use is not deleted" "Requested reservation is in use" \
  "$(scontrol delete reservationname=r1 2>&1 || true)"
killed slurmctld; start_ctld
comes "the reservation survives a kill of slurmctld" "ReservationName=r1 " '"$(scontrol -o show res 2>/dev/null)"'
scancel "$id"; wait_empty
check "-N1 of two nodes takes the one without a reservation" "n2" \
  "$(srun -Q -t1 -N1 -w n[1-2] printenv SLURM_JOB_NODELIST)"
check "users are added" "Reservation updated." "$(scontrol update reservation=r1 users+=nobody)"
match "the added users are shown" "Users=$me,nobody " "$(scontrol -o show res r1)"
check "an unknown flag" "scontrol: error: Error parsing flags foo.  No reservation update." \
  "$(scontrol update reservationname=r1 flags=foo 2>&1 | head -1)"
held=$(sbatch --parsable -H -o /dev/null --reservation=r1 --wrap true)
match "a pending job uses its reservation" "Requested reservation is in use" \
  "$(scontrol delete reservationname=r1 2>&1 || true)"
scancel "$held"
check "a reservation is deleted" "" "$(scontrol delete reservationname=r1)"
scontrol create reservation reservationname=short start=now+2 end=now+6 nodes=ALL user=nobody >/dev/null
id=$(sbatch --parsable -o /dev/null -t 5 --wrap true)
sleep 1     # 1 s: the job does not start
check "a job that would run into a reservation waits" PENDING "$(squeue -h -o %T -j "$id")"
becomes "the job runs after the reservation" COMPLETED '"$(sacct -X -n -P -o State -j "$id")"'
# An announced maintenance: all jobs wait for it, those in other reservations too, and show it as their reason.
scontrol create reservation reservationname=maint start=now+30minutes dur=60 nodes=ALL users=nobody \
  flags=maint,ignore_jobs >/dev/null
check "a reservation over an announced maintenance" "Reservation created: mine" \
  "$(scontrol create reservation reservationname=mine start=now dur=20 nodes=n1 users="$me")"
ids=$(for w in "" "" "-N2" "-w n1" "--reservation=mine" "--reservation=mine"; do
  sbatch --parsable -o /dev/null -t 60 $w --wrap 'sleep 30'
done | paste -sd,)
comes "six jobs show the maintenance as their reason" "6" \
  '"$(squeue -h -j "$ids" -o %r | grep -c "^ReqNodeNotAvail, Reserved for maintenance$")"'
match "scontrol shows the maintenance" "Reason=ReqNodeNotAvail,_Reserved_for_maintenance" \
  "$(scontrol show job "${ids%%,*}")"
check "a short job of the reservation runs" n1 "$(srun -Q -t 5 --reservation=mine printenv SLURM_JOB_NODELIST)"
scancel ${ids//,/ }; wait_empty
scontrol delete reservation=mine; scontrol delete reservation=maint
# Refusals by scontrol itself, and reservations of nodes, of licenses, or of both.
shown() {
  scontrol -o show res "$1" \
    | sed -E 's/.* (Nodes=.*) NodeCnt=.*(PartitionName=[^ ]* Flags=[^ ]*) .*(TRES=[^ ]*) .*/\1 \2 \3/'
}
says() {
  check "$1" "$3" "$(scontrol create res reservationname=w start=now+1hour dur=10 user="$me" $2 2>&1 | head -1)"
  scontrol delete reservationname=w >/dev/null 2>&1 || true
}
says "nodecnt that is no number" "nodecnt=x" "scontrol: error: \"x\" is not a valid node count"
says "nodecnt of 0" "nodecnt=0" \
  "scontrol: error: CoreCnt, Nodes, NodeCnt, TRES or Watts must be specified.  No reservation created."
says "corecnt that is no number" "corecnt=x" \
  "scontrol: error: CoreCnt, Nodes, NodeCnt, TRES or Watts must be specified.  No reservation created."
says "memory alone" "tres=mem=10" "Error creating the reservation: Invalid node name specified"
says "an unknown resource" "tres=gres/x=1 nodecnt=1" \
  "Error creating the reservation: Invalid Trackable RESource (TRES) specification"
says "an array of corecnt" "corecnt=1,2" \
  "scontrol: error: Using a comma separated array for CoreCnt is no longer valid."
says "flags that exclude each other" "nodecnt=1 flags=replace,maint" \
  "scontrol: error: REPLACE and REPLACE_DOWN flags cannot be used with STATIC_ALLOC or MAINT flags"
says "force_start without a repeating flag" "nodecnt=1 flags=force_start" \
  "scontrol: error: FORCE_START flag requires a reoccuring reservation. No reservation created."
check "slurmctld's refusal of daily and weekly" \
  "Error creating the reservation: Requested operation not supported on this system" \
  "$(scontrol create res start=now dur=10 user="$me" nodecnt=1 flags=daily,weekly 2>&1 | tail -1)"
says "times that contradict each other" "end=now+3hours nodecnt=1" \
  "scontrol: error: StartTime + Duration does not equal EndTime.  No reservation created."
says "licenses alone without any_nodes" "licenses=lic:1" "Error creating the reservation: Invalid node name specified"
scontrol create res reservationname=any start=now dur=10 user=nobody licenses=lic:1 nodecnt=2 flags=any_nodes >/dev/null
check "licenses with any_nodes" "Nodes=(null) PartitionName=(null) Flags=ANY_NODES TRES=(null)" "$(shown any)"
id=$(sbatch --parsable -o /dev/null -L lic:2 --wrap true)
becomes "the reserved license is missing to other jobs" "PD Licenses" \
  '"$(squeue -h -o "%t %r" -j "$id")"'
scancel "$id"
scontrol update reservation=any nodes=n2 >/dev/null
check "nodes are added to a reservation of licenses" \
  "Nodes=n2 PartitionName=(null) Flags=SPEC_NODES,ANY_NODES TRES=cpu=4" "$(shown any)"
check "the start of a running reservation cannot change" "slurm_update error: Reservation already started" \
  "$(scontrol update reservation=any start=now+1hour 2>&1 | head -1)"
scontrol create res reservationname=f start=now+1hour dur=10 user=nobody nodecnt=1 flags=daily,overlap >/dev/null
scontrol update reservation=f flags=-daily,+flex tres=node=2 >/dev/null
check "flags are added and removed by sign, nodes are counted anew" \
  "Nodes=n[2-3] PartitionName=main Flags=FLEX,OVERLAP TRES=cpu=8" "$(shown f)"
# Nodes and users after an update.
scontrol create res reservationname=fewer start=now+3hours dur=10 user=nobody nodecnt=3 >/dev/null
scontrol update reservation=fewer nodecnt=2 >/dev/null
check "a smaller nodecnt keeps the last nodes" "Nodes=n[2-3] PartitionName=main Flags= TRES=cpu=8" "$(shown fewer)"
scontrol update reservation=fewer nodes=+n1,-n[2-3] >/dev/null; scontrol update reservation=fewer nodes+=n3 >/dev/null
check "nodes are added and removed by sign" "Nodes=n[1,3] PartitionName=main Flags=SPEC_NODES TRES=cpu=8" \
  "$(shown fewer)"
scontrol update reservation=fewer nodecnt=1 >/dev/null
check "a nodecnt keeps SPEC_NODES" "Nodes=n3 PartitionName=main Flags=SPEC_NODES TRES=cpu=4" "$(shown fewer)"
check "an unknown user with a sign" "slurm_update error: Invalid user id" \
  "$(scontrol update reservation=fewer users=+nosuch 2>&1 | head -1)"
if [ "$(id -u)" = 0 ]; then
  as() {
    (cd /; setpriv --reuid=65534 --regid=65534 --clear-groups -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "$@" 2>&1 \
      | head -1)
  }
  check "a user creates none" "Error creating the reservation: Invalid user id" \
    "$(as scontrol create res start=now dur=10 nodecnt=1 users=nobody)"
  check "a user changes none" "slurm_update error: Invalid user id" "$(as scontrol update reservation=fewer dur=5)"
  check "a user deletes none, and does not learn whether it exists" \
    "delete_reservation reservation=nosuch: Invalid user id" \
    "$(as scontrol delete reservation=nosuch)"
  check "a user does not set the log's level" "slurm_set_debug_level error: Permission denied" \
    "$(as scontrol setdebug info)"
fi
check "tres with a sign" \
  "scontrol: error: Parameter tres+=cpu=1 specified a plus or minus.  This is not allowed." \
  "$(scontrol update reservation=fewer tres+=cpu=1 2>&1)"
check "corecnt of a reservation of whole nodes" \
  "scontrol: error: Updating core/node TRES not supported for core-based reservations
slurm_update error: Core-based reservation can not be updated" "$(scontrol update reservation=fewer corecnt=1 2>&1)"
scontrol delete reservationname=fewer
scontrol update reservation=f flags= >/dev/null
check "an empty flags= changes none" "FLEX,OVERLAP" "$(scontrol -o show res f | sed -n 's/.* Flags=\([^ ]*\) .*/\1/p')"
check "OVERLAP cannot be removed" "scontrol: error: Error parsing flags -overlap.  No reservation update." \
  "$(scontrol update reservationname=f flags-=overlap 2>&1 | head -1)"
scontrol update reservation=f nodes=n[2-3] nodecnt=1 >/dev/null
check "nodes= with nodecnt= takes nodecnt of the nodes" \
  "Nodes=n2 PartitionName=main Flags=FLEX,OVERLAP,SPEC_NODES TRES=cpu=4" "$(shown f)"
scontrol update reservation=f nodes=n[2-3] >/dev/null; scontrol update reservation=f nodes= >/dev/null
check "an empty nodes= takes as many nodes" "Nodes=n[2-3] PartitionName=main Flags=FLEX,OVERLAP TRES=cpu=8" "$(shown f)"
check "more nodes than the cluster has" "Error creating the reservation: Requested nodes are busy" \
  "$(scontrol create res reservationname=g start=now+5hours dur=10 user=nobody nodecnt=4 2>&1 | head -1)"
match "SLURM_TIME_FORMAT" " StartTime=[0-9][0-9]:[0-9][0-9] " "$(SLURM_TIME_FORMAT=%H:%M scontrol -o show res f)"
# A failed node is replaced by a free node or by a node of a reservation with OVERLAP.
for r in $(scontrol -o show res | sed -n 's/^ReservationName=\([^ ]*\) .*/\1/p'); do
  scontrol delete reservationname="$r" >/dev/null 2>&1 || true
done
scontrol create res reservationname=over start=now dur=10 user=nobody nodes=n3 flags=overlap >/dev/null
scontrol create res reservationname=two start=now dur=10 user=nobody nodecnt=2 >/dev/null
check "nodes of an OVERLAP reservation come last" "Nodes=n[1-2] PartitionName=main Flags= TRES=cpu=8" "$(shown two)"
scontrol update nodename=n1 state=down reason=x
becomes "a node that is down is replaced" "Nodes=n[2-3] PartitionName=main Flags= TRES=cpu=8" '"$(shown two)"'
scontrol update nodename=n1 state=resume
