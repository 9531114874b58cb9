#!/usr/bin/env bash
# TLS between all daemons and commands: the site's certificates, untrusted peers, renewal without a restart, sackd.
# shows: TLSType, TLSParameters
. "$(dirname "$0")/lib.bash"
command -v openssl >/dev/null || { echo "skipped: needs openssl"; exit 0; }
authority() {
  openssl ecparam -out "$dir/$1_key.pem" -name prime256v1 -genkey && openssl req -x509 -key "$dir/$1_key.pem" \
    -out "$dir/$1_cert.pem" -subj "/CN=$1" -days 2
  chmod 644 "$dir/$1_cert.pem"
}
pair() { # name of the files, subject, authority
  openssl ecparam -out "$dir/$1_cert_key.pem.new" -name prime256v1 -genkey; chmod 600 "$dir/$1_cert_key.pem.new"
  openssl req -new -key "$dir/$1_cert_key.pem.new" -out "$dir/$1.csr" -subj "/CN=$2"
  openssl x509 -req -in "$dir/$1.csr" -CA "$dir/${3:-ca}_cert.pem" -CAkey "$dir/${3:-ca}_key.pem" \
    -CAcreateserial -days 1 -out "$dir/$1_cert.pem.new" 2>/dev/null
  mv "$dir/$1_cert_key.pem.new" "$dir/$1_cert_key.pem"; mv "$dir/$1_cert.pem.new" "$dir/$1_cert.pem"
}
serial() {
  (openssl s_client -connect "127.0.0.1:$1" -CAfile "$dir/ca_cert.pem" </dev/null 2>/dev/null || true) \
    | openssl x509 -noout -serial
}
{ authority ca; authority other; pair ctld ctld; pair dbd dbd; pair slurmd slurmd; pair restd localhost; } 2>/dev/null
prepare_dbd
printf 'TLSType=tls/s2n\nDebugFlags=TLS,AuditTLS\n' >> "$dir/slurmdbd.conf"
printf 'ClusterName=test\nSlurmctldHost=localhost\nStateSaveLocation=%s\nNodeName=n1\nPartitionName=p Nodes=n1\n' \
  "$dir" > "$SLURM_CONF"
for wrong in "TLSType=tls/none2:TLSType=tls/none2 is not part of this version" \
  "TLSParameters=ca_cert_fle=/x:Invalid TLSParameters ca_cert_fle" \
  "TLSParameters=ca_cert_file=x:TLSParameters=ca_cert_file is no absolute path"; do
  sed '$a'"${wrong%%:*}" "$SLURM_CONF" > "$dir/wrong.conf"
  match "${wrong%%:*}" "wrong.conf:6.*${wrong#*:}" \
    "$(slurmctld -D -f "$dir/wrong.conf" 2>&1 </dev/null | head -3 || true)"
done
mv "$dir/ctld_cert_key.pem" "$dir/away.pem"
sed '$aTLSType=tls/s2n' "$SLURM_CONF" > "$dir/wrong.conf"
match "no certificate, no slurmctld" "ctld_cert_key.pem: No such file or directory" \
  "$(timeout 60 slurmctld -D -f "$dir/wrong.conf" 2>&1 </dev/null | tail -3 || true)"
mv "$dir/away.pem" "$dir/ctld_cert_key.pem"
printf 'ClusterName=test\nSlurmctldHost=localhost\nAuthType=auth/slurm\n%s\n' "$accounting" > "$SLURM_CONF"
start_dbd
start_cluster 2 4 "TLSType=tls/s2n
DebugFlags=TLS,AuditTLS
TreeWidth=2
MetricsType=metrics/openmetrics
SlurmctldParameters=enable_configless
$accounting"
check "show config has TLSType" "TLSType=tls/s2n" "$(scontrol show config | grep ^TLSType | tr -d ' ')"
check "a job over two nodes" "0: n1
1: n2" "$(srun -N2 -l bash -c 'echo $SLURMD_NODENAME' </dev/null | sort)"
check "a long output stream" "$(seq 200000 | sha256sum)" "$(srun seq 200000 </dev/null | sha256sum)"
check "input reaches its task" "$(seq 100000 | sha256sum)" "$(seq 100000 | srun cat | sha256sum)"
id=$(sbatch --parsable -o "$dir/work/out" --wrap 'srun -N2 hostname >/dev/null; echo done' -N2); wait_empty
check "a batch job" done "$(cat "$dir/work/out")"
check "the batch job is accounted" COMPLETED "$(sacct -X -n -j "$id" -o State | xargs)"
check "subjects of the daemons' certificates" "ctld dbd slurmd" \
  "$(for p in "$port" "$dbd_port" $((port+1)); do
    (openssl s_client -connect "127.0.0.1:$p" -CAfile "$dir/ca_cert.pem" </dev/null 2>/dev/null || true) \
      | openssl x509 -noout -subject | sed 's/.*CN *= *//'
  done | xargs)"
match "TLS 1.3 is used" "TLSv1.3.*Verify return code: 0" \
  "$( (openssl s_client -connect "127.0.0.1:$port" -CAfile "$dir/ca_cert.pem" </dev/null 2>/dev/null || true) \
  | tr '\n' ' ')"
check "TLS 1.1 is refused" refused "$(openssl s_client -tls1_1 -connect "127.0.0.1:$port" </dev/null >/dev/null 2>&1 \
    && echo taken || echo refused)"
for d in slurmctld slurmd-n1; do for of in client server; do
  match "DebugFlags=TLS: $d as $of" \
    "TLS: connection successfully created. cipher suite:TLSv1.3 TLS_[A-Z0-9_]+. peer:[a-z0-9.]+:[0-9]+. tls mode:$of" \
    "$(grep "TLS: conn.*mode:$of" "$dir/log/$d.log" | head -1)"
done; done
match "AuditTLS: slurmd logs slurmctld's certificate" \
  "AUDIT_TLS: certificate of 127.0.0.1:$port: subject:CN=ctld issuer:CN=ca serial:[0-9a-f]+ valid until:20" \
  "$(grep "AUDIT_TLS: certificate of 127.0.0.1:$port:" "$dir/log/slurmd-n1.log" | head -1)"
match "AuditTLS: slurmdbd logs its certificate" "certificate shown to [a-z0-9.:]+: subject:CN=dbd" \
  "$(grep AUDIT_TLS "$dir/log/slurmdbd.log" | head -1)"
match "metrics over TLS" slurm_jobs "$(curl -s --cacert "$dir/ca_cert.pem" --connect-to "ctld:$port:127.0.0.1:$port" \
    "https://ctld:$port/metrics/jobs" || true)"
check "no plain HTTP" "" "$(curl -s -m 5 "http://127.0.0.1:$port/livez" || true)"
sed '/^TLSType/d' "$SLURM_CONF" > "$dir/plain.conf"
match "a command without TLS is refused" "Unable to contact slurm controller" \
  "$(SLURM_CONF=$dir/plain.conf timeout 60 squeue 2>&1 || true)"
mkdir -p "$dir/stranger"
sed "\$aTLSParameters=ca_cert_file=$dir/other_cert.pem" "$SLURM_CONF" > "$dir/stranger/slurm.conf"
cp "$dir/slurm.key" "$dir/stranger/"
match "a command that trusts another authority" "Unable to contact slurm controller" \
  "$(SLURM_CONF=$dir/stranger/slurm.conf timeout 60 squeue 2>&1 || true)"

other_than() { [ -z "$2" ] || [ "$2" = "$1" ] || echo other; }
before=$(serial "$port"); node_before=$(serial $((port + 1)))
srun -N2 sleep 20 </dev/null & busy=$!
{ pair ctld ctld; pair slurmd slurmd; } 2>/dev/null
becomes "slurmctld uses a renewed certificate without a restart" other \
  '"$(other_than "$before" "$(serial "$port")")"'
becomes "slurmd uses a renewed certificate without a restart" other \
  '"$(other_than "$node_before" "$(serial $((port + 1)))")"'
renewed=$(serial "$port")
echo broken > "$dir/ctld_cert.pem"
soon 'serial "$port" >/dev/null; grep -q "the certificate from before goes on" "$dir/log/slurmctld.log"'
match "a broken certificate is logged" "the certificate from before goes on: $dir/ctld_cert.pem" \
  "$(grep "TLS: the" "$dir/log/slurmctld.log" | tail -1)"
check "commands work with a broken certificate file" 0 "$(squeue -h >/dev/null; echo $?)"
check "the certificate from before is used" "$renewed" "$(serial "$port")"
pair ctld ctld 2>/dev/null
rc=0; wait $busy || rc=$?
check "a step goes on over the renewal" 0 "$rc"
killed slurmctld; start_ctld
soon '[ "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" = 2 ]'
check "nodes are idle after a kill of slurmctld" 2 "$(sinfo -h -N -o %T | grep -c idle)"
check "a job runs after a kill of slurmctld" 0 "$(srun -N2 true </dev/null; echo $?)"

mkdir -p "$dir/run/conf-parent"
RUNTIME_DIRECTORY=$dir/run/conf-parent SLURM_SACK_KEY=$dir/slurm.key sackd -D --conf-server "127.0.0.1:$port" \
  --ca-cert-file "$dir/ca_cert.pem" >"$dir/log/sackd.log" 2>&1 </dev/null &
soon '[ -e "$dir/run/conf-parent/conf/slurm.conf" ]'
check "configuration over TLS" "$(sha256sum < "$SLURM_CONF")" "$(sha256sum < "$dir/run/conf-parent/conf/slurm.conf")"
check "sackd stores the authority beside the configuration" 2 \
  "$(SLURM_CONF=$dir/run/conf-parent/conf/slurm.conf sinfo -h -N -o %T | grep -c idle)"
kill %% 2>/dev/null || true

rest=$(free_port)
SLURMRESTD_SECURITY=disable_user_check slurmrestd -f "$SLURM_CONF" "127.0.0.1:$rest" "https://127.0.0.1:$((rest + 1))" \
  "unix://$dir/run/rest.socket" </dev/null >"$dir/log/restd.log" 2>&1 &
echo $! > "$dir/run/restd.pid"
soon 'curl -s -o /dev/null --unix-socket "$dir/run/rest.socket" http://x/openapi/v3'
ask() { curl -s -m 10 -o /dev/null -w '%{http_code}' --cacert "$dir/ca_cert.pem" "$@" || true; }
if [ "$(id -u)" = 0 ]; then
  check "slurmrestd reaches slurmctld over TLS" 200 \
    "$(ask --unix-socket "$dir/run/rest.socket" http://x/slurm/v0.0.45/ping)"
fi
ask_tls() { ask --connect-to "localhost:$1:127.0.0.1:$1" "https://localhost:$1/openapi/v3"; }
check "a port without a scheme: plain HTTP" 200 "$(ask "http://127.0.0.1:$rest/openapi/v3")"
check "a port without a scheme: TLS" 200 "$(ask_tls "$rest")"
check "an https:// port: no plain HTTP" 000 "$(ask "http://127.0.0.1:$((rest + 1))/openapi/v3")"
check "an https:// port: TLS" 200 "$(ask_tls $((rest + 1)))"
kill "$(pid_of restd)"; rm -f "$dir/restd_cert.pem"
match "https:// without a certificate" "restd_cert.pem: No such file or directory" \
  "$(SLURMRESTD_SECURITY=disable_user_check timeout 60 slurmrestd -f "$SLURM_CONF" "https://127.0.0.1:$((rest + 2))" \
  2>&1 </dev/null || true)"
