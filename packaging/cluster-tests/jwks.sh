#!/usr/bin/env bash
# Tokens of another issuer (AuthAltParameters=jwks=), signed here by openssl: commands, slurmrestd, replaced keys.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
b64() { base64 -w0 | tr '+/' '-_' | tr -d '='; }
openssl genrsa -out "$dir/a.pem" 2048 2>/dev/null
openssl genrsa -out "$dir/b.pem" 2048 2>/dev/null
openssl ecparam -name prime256v1 -genkey -noout -out "$dir/e.pem"
rsa() { printf '{"kty":"RSA","alg":"RS256","use":"sig","kid":"%s","n":"%s","e":"AQAB"}' "$1" \
  "$(openssl rsa -in "$dir/$1.pem" -noout -modulus | cut -d= -f2 | xxd -r -p | b64)"; }
# The last 64 bytes of the public key are its point.
ec() { openssl ec -in "$dir/e.pem" -pubout -outform DER 2>/dev/null | tail -c 64 > "$dir/point"
  printf '{"kty":"EC","crv":"P-256","kid":"e","x":"%s","y":"%s"}' \
    "$(head -c 32 "$dir/point" | b64)" "$(tail -c 32 "$dir/point" | b64)"; }
# The two numbers of an ECDSA signature, 32 bytes each.
raw() { openssl asn1parse -inform DER \
  | sed -n 's/.*INTEGER *://p' | while read -r n; do printf '%64s' "$n" | tr ' ' 0; done | xxd -r -p; }
# token ALG KID CLAIMS [KEY]
token() {
  local text key=${4:-$2}
  text=$(printf '{"alg":"%s","typ":"JWT","kid":"%s"}' "$1" "$2" | b64).$(printf '%s' "$3" | b64)
  if [ "$1" = ES256 ]; then echo "$text.$(printf '%s' "$text" | openssl dgst -sha256 -sign "$dir/$key.pem" | raw | b64)"
  else echo "$text.$(printf '%s' "$text" | openssl dgst -sha256 -sign "$dir/$key.pem" | b64)"; fi
}
echo "{\"keys\":[$(rsa a),$(ec),{\"kty\":\"oct\",\"kid\":\"x\",\"k\":\"AAAA\"}]}" > "$dir/jwks.json"
chmod 644 "$dir/jwks.json"
start_cluster 1 4 "AuthAltTypes=auth/jwt
AuthAltParameters=jwks=$dir/jwks.json,userclaimfield=preferred_username"
later=$(($(date +%s) + 600))
good="{\"sun\":\"nobody\",\"exp\":$later}"
# The user of a job that is submitted with the token, or the message of the refusal.
who() {
  local out
  out=$(SLURM_JWT=$1 sbatch --parsable -H -D / -o /dev/null --wrap true 2>&1) \
    && squeue -h -j "$out" -o %u || echo "${out##*: }"
}
no="Protocol authentication error"
check "RS256" nobody "$(who "$(token RS256 a "$good")")"
check "ES256" nobody "$(who "$(token ES256 e "$good")")"
check "userclaimfield" daemon "$(who "$(token RS256 a "{\"preferred_username\":\"daemon\",\"exp\":$later}")")"
check "a token without an expiry is refused" "$no" "$(who "$(token RS256 a '{"sun":"nobody"}')")"
check "an expired token is refused" "$no" "$(who "$(token RS256 a '{"sun":"nobody","exp":1000}')")"
check "a token with the signature of another key is refused" "$no" "$(who "$(token RS256 a "$good" b)")"
check "a token of an unknown key is refused" "$no" "$(who "$(token RS256 b "$good")")"
check "a token of an unknown user is refused" "$no" \
  "$(who "$(token RS256 a "{\"sun\":\"nosuchuser\",\"exp\":$later}")")"
check "a token signed with the public key as HS256 secret is refused" "$no" \
  "$(text=$(printf '{"alg":"HS256","kid":"a"}' | b64).$(printf '%s' "$good" | b64)
  who "$text.$(printf '%s' "$text" \
    | openssl dgst -sha256 -hmac "$(openssl rsa -in "$dir/a.pem" -pubout 2>/dev/null)" -binary | b64)")"
match "without jwt_key scontrol makes no tokens" "Requested operation is presently disabled" "$(scontrol token 2>&1)"
rport=$(free_port)
slurmrestd -u nobody -g nogroup -a rest_auth/jwt "localhost:$rport" </dev/null >"$dir/log/slurmrestd.log" 2>&1 &
echo $! > "$dir/run/slurmrestd.pid"
soon 'curl -s -o /dev/null "localhost:$rport/openapi"'
ask() {
  curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $1" "http://localhost:$rport/slurm/v0.0.45/jobs"
}
check "slurmrestd accepts RS256" 200 "$(ask "$(token RS256 a "$good")")"
check "slurmrestd accepts ES256" 200 "$(ask "$(token ES256 e "$good")")"
check "slurmrestd refuses the signature of another key" 401 "$(ask "$(token RS256 a "$good" b)")"
check "slurmrestd refuses an unknown key" 401 "$(ask "$(token RS256 b "$good")")"
echo "{\"keys\":[$(rsa b)]}" > "$dir/jwks.json"
becomes "replaced keys are read" "nobody $no" '"$(who "$(token RS256 b "$good")") $(who "$(token RS256 a "$good")")"'
echo broken > "$dir/jwks.json"
sleep 1.5    # 1.5 s: slurmctld looks at the file every 0.5 s
check "an invalid file changes nothing" nobody "$(who "$(token RS256 b "$good")")"
