#!/usr/bin/env bash
# Licenses of slurm.conf: who gets them, who waits, what the commands show of them.
# shows: Licenses
. "$(dirname "$0")/lib.bash"
start_cluster 1 4 "Licenses=fluent:4,matlab
AccountingStorageTRES=license/fluent,license/matlab"
check "show licenses" "LicenseName=fluent Total=4 Used=0 Free=4 Reserved=0 Remote=no" "$(scontrol -o show lic fluent)"
rc=0; sbatch -L nope --wrap true 2>err.txt || rc=$?
check "what there is none of" "1 sbatch: error: Batch job submission failed: Invalid license specification" \
  "$rc $(cat err.txt)"
a=$(sbatch --parsable -o /dev/null -L fluent:3,matlab --wrap 'sleep 60')
running "$a"
b=$(sbatch --parsable -o /dev/null -L fluent:2 --wrap 'sleep 3')
why() { for _ in $(seq 50); do [ "$(squeue -h -j "$1" -o %r)" != None ] && break; sleep 0.1; done; }
why "$b"
check "who finds none waits" "PD Licenses fluent:2" "$(squeue -h -j "$b" -o '%t %r %W')"
check "who has them" "fluent 3 1 matlab 1 0" \
  "$(scontrol -o show lic | sed 's/[A-Z][A-Za-z]*=//g' | awk '{print $1, $3, $4}' | xargs)"
match "a job's line" 'Licenses=fluent:3,matlab LicensesAlloc=fluent:3,matlab:1' "$(scontrol show job "$a")"
check "squeue -L" "$a" "$(squeue -h -L matlab -o %i)"
killed slurmctld; start_ctld
becomes "counted again after a kill" 3 \
  '"$(scontrol -o show lic fluent 2>/dev/null | grep -o "Used=[0-9]*" | cut -d= -f2)"'
scancel "$a"; wait_empty 30
check "given back" 0 "$(scontrol -o show lic fluent | grep -o 'Used=[0-9]*' | cut -d= -f2)"
check "the other has run" "COMPLETED|fluent:2" "$(sacct -X -n -P -j "$b" -o State,Licenses)"
check "the first of two kinds" "fluent:4" \
  "$(srun -L 'fluent:4|matlab' sh -c 'scontrol show job $SLURM_JOB_ID' | grep -o 'LicensesAlloc=[^ ]*' | cut -d= -f2)"
check "all of them are asked for, one is had" "ReqTRES license/fluent=4,license/matlab=1 AllocTRES license/fluent=4" \
  "$(srun -Q -L 'fluent:4|matlab' sh -c 'scontrol show job $SLURM_JOB_ID' \
    | sed -n 's/ *\(...*TRES\)=.*,billing=1,/\1 /p' | xargs)"
check "none of one are none" "" "$(srun -Q -L fluent:0 sh -c 'scontrol show job $SLURM_JOB_ID' | grep -o 'license/.*')"
check "the job is told" "fluent:1" "$(srun -Q -L fluent:1 printenv SLURM_JOB_LICENSES)"
wait_empty
check "of each task, with those of the job" "cpu=4,mem=40M,node=1,billing=4,license/fluent=3" \
  "$(srun -Q -n2 -L fluent:1 --tres-per-task=cpu:2,license/fluent:1 sh \
    -c '[ $SLURM_PROCID = 1 ] || scontrol show job $SLURM_JOB_ID' | grep -o 'AllocTRES=.*' | cut -d= -f2-)"
rc=0; srun --tres-per-task=license//fluent true 2>err.txt || rc=$?
check "a wrong word among them" "1 srun: error: Invalid generic resource (gres) specification" "$rc $(cat err.txt)"

# Resources in layers of nodes.
cat > "$dir/resources.yaml" <<'Y'
- resource: power
  mode: MODE_3
  variables:
    - name: full
      value: 30
  layers:
    - nodes: n1
      count: 100
      base:
        - name: storage
          value: 20
Y
scontrol reconfigure
becomes "layers are shown with their nodes" \
  "LicenseName=power Total=100 Used=20 Free=80 Reserved=0 Remote=no Nodes=n1" '"$(scontrol -o show lic power)"'
a=$(sbatch --parsable -o /dev/null --resources=power:full -L fluent --wrap 'sleep 60')
comes "both options" 'Licenses=fluent,power:30 LicensesAlloc=fluent:1,power\(n1\):30' \
  '"$(scontrol show job "$a" | sed '\''s/Licenses=fluent:1/Licenses=fluent/'\'')"'
b=$(sbatch --parsable -o /dev/null --resources=power:60 --wrap true); why "$b"
check "too little is left" "PD Licenses" "$(squeue -h -j "$b" -o '%t %r')"
check "taken" "power 50 50" "$(scontrol -o show lic power | sed 's/[A-Z][A-Za-z]*=//g' | awk '{print $1, $3, $4}')"
scancel "$a"; wait_empty 30
rc=0; sbatch --resources=power:empty --wrap true 2>err.txt || rc=$?
check "a word that stands for nothing" "1 sbatch: error: Batch job submission failed: Invalid license specification" \
  "$rc $(cat err.txt)"
rc=0; scontrol show lic nosuch 2>err.txt || rc=$?
check "no such license" '1 scontrol: error: query "nosuch" matched zero licenses.' "$rc $(cat err.txt)"
sed -i 's/^Licenses=.*/&,b@one:2,c@one:1,c@two:1/; $aLicenseParameters=RemoteFuzzyMatch' "$SLURM_CONF"
scontrol reconfigure
becomes "a name may lack its server" "LicenseName=b@one Total=2" \
  '"$(scontrol -o show lic b 2>/dev/null | cut -d" " -f1,2)"'
check "unless it means two" 'scontrol: error: query "c" matched more than one result, exiting.' \
  "$(scontrol show lic c 2>&1 || true)"
sed -i s/MODE_3/MODE_4/ "$dir/resources.yaml"
match "a mistake in the file" 'mode of resource power is none of' \
  "$(scontrol reconfigure 2>&1; cat "$dir"/log/slurmctld.log)"
check "and all stays as it was" 1 "$(scontrol -o show lic power | wc -l)"
