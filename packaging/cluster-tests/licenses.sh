#!/usr/bin/env bash
# Licenses of slurm.conf: allocation, pending jobs, and licenses in commands.
# shows: Licenses
. "$(dirname "$0")/lib.bash"
start_cluster 1 4 "Licenses=fluent:4,matlab
AccountingStorageTRES=license/fluent,license/matlab"
check "show licenses" "LicenseName=fluent Total=4 Used=0 Free=4 Reserved=0 Remote=no" "$(scontrol -o show lic fluent)"
rc=0; sbatch -L nope --wrap true 2>err.txt || rc=$?
check "an unknown license is refused" "1 sbatch: error: Batch job submission failed: Invalid license specification" \
  "$rc $(cat err.txt)"
a=$(sbatch --parsable -o /dev/null -L fluent:3,matlab --wrap 'sleep 60')
running "$a"
b=$(sbatch --parsable -o /dev/null -L fluent:2 --wrap 'sleep 3')
why() { soon "[ \"\$(squeue -h -j $1 -o %r)\" != None ]" 10; } # until the job has a reason
why "$b"
check "a job without free licenses is pending" "PD Licenses fluent:2" "$(squeue -h -j "$b" -o '%t %r %W')"
check "scontrol shows the used licenses" "fluent 3 1 matlab 1 0" \
  "$(scontrol -o show lic | sed 's/[A-Z][A-Za-z]*=//g' | awk '{print $1, $3, $4}' | xargs)"
match "scontrol show job has the licenses" 'Licenses=fluent:3,matlab LicensesAlloc=fluent:3,matlab:1' \
  "$(scontrol show job "$a")"
check "squeue -L" "$a" "$(squeue -h -L matlab -o %i)"
killed slurmctld; start_ctld
becomes "used licenses are counted after a kill of slurmctld" 3 \
  '"$(scontrol -o show lic fluent 2>/dev/null | grep -o "Used=[0-9]*" | cut -d= -f2)"'
scancel "$a"; wait_empty 30
check "licenses are freed at the job's end" 0 "$(scontrol -o show lic fluent | grep -o 'Used=[0-9]*' | cut -d= -f2)"
check "the pending job has run" "COMPLETED|fluent:2" "$(sacct -X -n -P -j "$b" -o State,Licenses)"
check "alternatives: the first license is allocated" "fluent:4" \
  "$(srun -L 'fluent:4|matlab' sh -c 'scontrol show job $SLURM_JOB_ID' | grep -o 'LicensesAlloc=[^ ]*' | cut -d= -f2)"
check "alternatives: ReqTRES has all licenses and AllocTRES has one license" \
  "ReqTRES license/fluent=4,license/matlab=1 AllocTRES license/fluent=4" \
  "$(srun -Q -L 'fluent:4|matlab' sh -c 'scontrol show job $SLURM_JOB_ID' \
    | sed -n 's/ *\(...*TRES\)=.*,billing=1,/\1 /p' | xargs)"
check "zero licenses are no request" "" \
  "$(srun -Q -L fluent:0 sh -c 'scontrol show job $SLURM_JOB_ID' | grep -o 'license/.*')"
check "SLURM_JOB_LICENSES" "fluent:1" "$(srun -Q -L fluent:1 printenv SLURM_JOB_LICENSES)"
wait_empty
check "licenses of each task and of the job are added" "cpu=4,mem=40M,node=1,billing=4,license/fluent=3" \
  "$(srun -Q -n2 -L fluent:1 --tres-per-task=cpu:2,license/fluent:1 sh \
    -c '[ $SLURM_PROCID = 1 ] || scontrol show job $SLURM_JOB_ID' | grep -o 'AllocTRES=.*' | cut -d= -f2-)"
rc=0; srun --tres-per-task=license//fluent true 2>err.txt || rc=$?
check "an invalid license in --tres-per-task is refused" \
  "1 srun: error: Invalid generic resource (gres) specification" "$rc $(cat err.txt)"

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
becomes "scontrol shows a resource with its nodes" \
  "LicenseName=power Total=100 Used=20 Free=80 Reserved=0 Remote=no Nodes=n1" '"$(scontrol -o show lic power)"'
a=$(sbatch --parsable -o /dev/null --resources=power:full -L fluent --wrap 'sleep 60')
comes "a job with --resources and --licenses has both" \
  'Licenses=fluent,power:30 LicensesAlloc=fluent:1,power\(n1\):30' \
  '"$(scontrol show job "$a" | sed '\''s/Licenses=fluent:1/Licenses=fluent/'\'')"'
b=$(sbatch --parsable -o /dev/null --resources=power:60 --wrap true); why "$b"
check "a job that requests more than the free resource is pending" "PD Licenses" "$(squeue -h -j "$b" -o '%t %r')"
check "scontrol shows the used resource" "power 50 50" \
  "$(scontrol -o show lic power | sed 's/[A-Z][A-Za-z]*=//g' | awk '{print $1, $3, $4}')"
scancel "$a"; wait_empty 30
rc=0; sbatch --resources=power:empty --wrap true 2>err.txt || rc=$?
check "an unknown variable of a resource is refused" \
  "1 sbatch: error: Batch job submission failed: Invalid license specification" "$rc $(cat err.txt)"
rc=0; scontrol show lic nosuch 2>err.txt || rc=$?
check "scontrol of an unknown license" '1 scontrol: error: query "nosuch" matched zero licenses.' "$rc $(cat err.txt)"
sed -i 's/^Licenses=.*/&,b@one:2,c@one:1,c@two:1/; $aLicenseParameters=RemoteFuzzyMatch' "$SLURM_CONF"
scontrol reconfigure
becomes "RemoteFuzzyMatch finds a license without its server" "LicenseName=b@one Total=2" \
  '"$(scontrol -o show lic b 2>/dev/null | cut -d" " -f1,2)"'
check "RemoteFuzzyMatch refuses an ambiguous name" 'scontrol: error: query "c" matched more than one result, exiting.' \
  "$(scontrol show lic c 2>&1 || true)"
sed -i s/MODE_3/MODE_4/ "$dir/resources.yaml"
match "an invalid resources.yaml is reported" 'mode of resource power is none of' \
  "$(scontrol reconfigure 2>&1; cat "$dir"/log/slurmctld.log)"
check "an invalid resources.yaml changes nothing" 1 "$(scontrol -o show lic power | wc -l)"
