#!/usr/bin/env bash
# Certificates of nodes that slurmctld signs: by the site's scripts, by a token of scontrol that is valid once; renewal;
# instances of clouds; ResumeAfter.
# shows: CertmgrType, CertmgrParameters
. "$(dirname "$0")/lib.bash"
command -v openssl >/dev/null || { echo "skipped: needs openssl"; exit 0; }
script() { printf '#!/bin/bash\n%s\n' "$2" > "$dir/$1"; chmod 755 "$dir/$1"; }
serial() {
  (openssl s_client -connect "127.0.0.1:$1" -CAfile "$dir/ca_cert.pem" </dev/null 2>/dev/null || true) \
    | openssl x509 -noout -serial 2>/dev/null
}
subject() {
  (openssl s_client -connect "127.0.0.1:$1" -CAfile "$dir/ca_cert.pem" </dev/null 2>/dev/null || true) \
    | openssl x509 -noout -subject 2>/dev/null | sed 's/.*CN *= *//'
}
{
  openssl ecparam -out "$dir/ca_key.pem" -name prime256v1 -genkey
  openssl req -x509 -key "$dir/ca_key.pem" -out "$dir/ca_cert.pem" -subj /CN=ca -days 2
  openssl ecparam -out "$dir/ctld_cert_key.pem" -name prime256v1 -genkey
  chmod 600 "$dir/ctld_cert_key.pem"
  openssl req -new -key "$dir/ctld_cert_key.pem" -out "$dir/ctld.csr" -subj /CN=ctld
  openssl x509 -req -in "$dir/ctld.csr" -CA "$dir/ca_cert.pem" -CAkey "$dir/ca_key.pem" -CAcreateserial \
    -days 1 -out "$dir/ctld_cert.pem"
} 2>/dev/null
chmod 644 "$dir/ca_cert.pem"
for n in n1 n2; do
  openssl ecparam -out "$dir/$n.key" -name prime256v1 -genkey 2>/dev/null
  echo "token-of-$n" > "$dir/$n.token"
done
echo token-of-n1 > "$dir/tokens"
script token.sh "cat $dir/\$1.token"; script key.sh "cat $dir/\$1.key"
script csr.sh "openssl req -new -key $dir/\$1.key -subj /CN=\$1"
script valid.sh "echo \"\$1\" >> $dir/asked; grep -qx -- \"\$1\" $dir/tokens"
script sign.sh \
  "openssl x509 -req -CA $dir/ca_cert.pem -CAkey $dir/ca_key.pem -CAcreateserial -days 1 <<< \"\$1\" 2>/dev/null"
all=get_node_token_script=$dir/token.sh,generate_csr_script=$dir/csr.sh
all+=,get_node_cert_key_script=$dir/key.sh,validate_node_script=$dir/valid.sh,sign_csr_script=$dir/sign.sh
cat > "$SLURM_CONF" <<C
ClusterName=test
SlurmctldHost=localhost
StateSaveLocation=$dir
NodeName=n1
PartitionName=p Nodes=n1
TLSType=tls/s2n
C
for wrong in "CertmgrType=certmgr/none:CertmgrType=certmgr/none is not part of this version" \
  "CertmgrParameters=sign_script=/x:Invalid CertmgrParameters sign_script" \
  "CertmgrParameters=certificate_renewal_period=0:Invalid certificate_renewal_period: 0. Needs to be positive integer"
do
  sed '$a'"${wrong%%:*}" "$SLURM_CONF" > "$dir/wrong.conf"
  match "${wrong%%:*}" "wrong.conf:7.*${wrong#*:}" \
    "$(slurmctld -D -f "$dir/wrong.conf" 2>&1 </dev/null | head -3 || true)"
done
start_cluster 1 2 "TLSType=tls/s2n
CertmgrType=certmgr/script
CertmgrParameters=$all,single_use_tokens,certificate_renewal_period=2
NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=@port+5@ CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=other Nodes=n2"
check "a node whose token the site knows has a certificate" "n1 0" \
  "$(subject $((port + 1))) $(srun true </dev/null; echo $?)"
check "the files of the certificate are readable by the owner only" "600 600" \
  "$(stat -c %a "$dir/spool/n1/slurmd_cert.pem" "$dir/spool/n1/slurmd_cert_key.pem" | xargs)"
match "scontrol shows the time of the renewal" '"tls_cert_last_renewal":\{"set":true,"infinite":false,"number":[1-9]' \
  "$(scontrol show node n1 --json | tr -d ' \n')"
match "a node with an unknown token has no certificate" "the token is not valid" \
  "$(start_node n2; cat "$dir/log/start.out" "$dir/log/slurmd-n2.log")"
scontrol update nodename=n2 certtoken=token-of-n2
check "scontrol sets a token" TOKEN_SET "$(scontrol show node n2 --json \
    | python3 -c 'import json,sys; print(*json.load(sys.stdin)["nodes"][0]["cert_flags"])')"
check "slurmctld stores no token in clear text" 0 \
  "$(grep -rl token-of-n2 "$dir/state" "$dir/log/slurmctld.log" 2>/dev/null | wc -l)"
killed slurmctld; start_ctld
: > "$dir/asked"; start_node n2
soon 'sinfo -h -n n2 -o %t | grep -q idle'
check "a token of scontrol is valid after a restart of slurmctld" "n2 0" \
  "$(subject $((port + 5))) $(srun -p other true </dev/null; echo $?)"
check "validate_node_script is not called for a token of scontrol" "" "$(cat "$dir/asked")"
check "a token of scontrol is valid once" "" "$(scontrol show node n2 --json \
    | python3 -c 'import json,sys; print(*json.load(sys.stdin)["nodes"][0]["cert_flags"])')"
cp "$dir/spool/n2/slurmd_cert_token" "$dir/kept"; echo forged > "$dir/spool/n2/slurmd_cert_token"
stopped slurmd-n2
touch -d '3 minutes ago' "$dir/spool/n2/slurmd_cert.pem"
match "a forged token for the renewal is refused" "the token is not valid" \
  "$(start_node n2 || true; tail -3 "$dir/log/slurmd-n2.log")"
cp "$dir/kept" "$dir/spool/n2/slurmd_cert_token"; start_node n2; soon 'sinfo -h -n n2 -o %t | grep -q idle'
check "the token that slurmctld gave for the renewal is valid" "idle 0" \
  "$(sinfo -h -n n2 -o %t | head -1) $(srun -p other true </dev/null; echo $?)"
as_nobody() {
  (cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "$@" 2>&1)
}
if [ "$(id -u)" = 0 ]; then
  check "a user may not set a token" "slurm_update error: Invalid user id" \
    "$(as_nobody scontrol update nodename=n2 certtoken=x)"
fi
first=$(serial $((port + 1)))
touch -d '3 minutes ago' "$dir/spool/n1/slurmd_cert.pem"
stopped slurmd-n1
start_node n1
soon 'sinfo -h -n n1 -o %t | grep -q idle'
check "an old certificate is renewed at a start" another "$([ "$(serial $((port + 1)))" != "$first" ] && echo another)"
second=$(serial $((port + 1)))
touch -d '3 minutes ago' "$dir/spool/n1/slurmd_cert.pem"
soon '[ "$(serial $((port + 1)))" != "$second" ]' 80
check "slurmd renews its certificate while it runs" "another 0" \
  "$([ "$(serial $((port + 1)))" != "$second" ] && echo another) $(srun true </dev/null; echo $?)"

scontrol update nodename='n[1-2]' instanceid='i-[7-8]' instancetype=big
check "scontrol sets the instances of nodes" "InstanceId=i-8 InstanceType=big" \
  "$(scontrol show node n2 | grep -o 'Instance.*' | xargs)"
stopped slurmd-n2
slurmd -f "$SLURM_CONF" \
  -N n2 -d "$prefix/sbin/slurmstepd" --instance-id i-99 --instance-type small </dev/null >>"$dir/log/start.out" 2>&1
soon 'scontrol show node n2 | grep -q i-99'
becomes "slurmd sets the instance of its node" "InstanceId=i-99 InstanceType=small" \
  '"$(scontrol show node n2 | grep -o "Instance.*" | xargs)"'
scontrol update nodename=n1 state=drain reason=disk resumeafter=4
match "resumeafter of a drained node is shown" "DRAIN.*ResumeAfterTime=20" "$(scontrol show node n1 | tr '\n' ' ')"
soon '[ "$(sinfo -h -n n1 -o %t)" = idle ]'
becomes "the node is resumed after resumeafter" "idle ResumeAfterTime=None" \
  '"$(sinfo -h -n n1 -o %t | head -1) $(scontrol show node n1 | grep -o "ResumeAfterTime=[^ ]*")"'
