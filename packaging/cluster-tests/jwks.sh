#!/usr/bin/env bash
# Tokens that somebody else signs (AuthAltParameters=jwks=): made here by openssl, shown to commands and to
# slurmrestd; keys that are exchanged.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
b64() { base64 -w0 | tr '+/' '-_' | tr -d '='; }
openssl genrsa -out "$dir/a.pem" 2048 2>/dev/null
openssl genrsa -out "$dir/b.pem" 2048 2>/dev/null
openssl ecparam -name prime256v1 -genkey -noout -out "$dir/e.pem"
rsa() { printf '{"kty":"RSA","alg":"RS256","use":"sig","kid":"%s","n":"%s","e":"AQAB"}' "$1" \
  "$(openssl rsa -in "$dir/$1.pem" -noout -modulus | cut -d= -f2 | xxd -r -p | b64)"; }
# the last 64 bytes of the public key are its point
ec() { openssl ec -in "$dir/e.pem" -pubout -outform DER 2>/dev/null | tail -c 64 > "$dir/point"
  printf '{"kty":"EC","crv":"P-256","kid":"e","x":"%s","y":"%s"}' \
    "$(head -c 32 "$dir/point" | b64)" "$(tail -c 32 "$dir/point" | b64)"; }
# the two numbers of an ECDSA signature, 32 bytes each
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
# who squeue --me is with that token, or how it is refused
who() {
  local out
  out=$(SLURM_JWT=$1 sbatch --parsable -H -D / -o /dev/null --wrap true 2>&1) \
    && squeue -h -j "$out" -o %u || echo "${out##*: }"
}
no="Protocol authentication error"
check "RS256" nobody "$(who "$(token RS256 a "$good")")"
check "ES256" nobody "$(who "$(token ES256 e "$good")")"
check "userclaimfield" daemon "$(who "$(token RS256 a "{\"preferred_username\":\"daemon\",\"exp\":$later}")")"
check "no end" "$no" "$(who "$(token RS256 a '{"sun":"nobody"}')")"
check "over" "$no" "$(who "$(token RS256 a '{"sun":"nobody","exp":1000}')")"
check "another's signature" "$no" "$(who "$(token RS256 a "$good" b)")"
check "an unknown key" "$no" "$(who "$(token RS256 b "$good")")"
check "a user who is not here" "$no" "$(who "$(token RS256 a "{\"sun\":\"nosuchuser\",\"exp\":$later}")")"
check "the public key is no secret" "$no" \
  "$(text=$(printf '{"alg":"HS256","kid":"a"}' | b64).$(printf '%s' "$good" | b64)
  who "$text.$(printf '%s' "$text" \
    | openssl dgst -sha256 -hmac "$(openssl rsa -in "$dir/a.pem" -pubout 2>/dev/null)" -binary | b64)")"
match "without a jwt_key no tokens are made" "Requested operation is presently disabled" "$(scontrol token 2>&1)"
rport=$(free_port)
slurmrestd -u nobody -g nogroup -a rest_auth/jwt "localhost:$rport" </dev/null >"$dir/log/slurmrestd.log" 2>&1 &
echo $! > "$dir/run/slurmrestd.pid"
n=0; until curl -s -o /dev/null "localhost:$rport/openapi"; do n=$((n+1)); \
  [ $n -lt 100 ] || { cat "$dir/log/slurmrestd.log"; exit 1; }; sleep 0.2; done
ask() {
  curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $1" "http://localhost:$rport/slurm/v0.0.45/jobs"
}
check "over REST" "200 200 401 401" "$(ask "$(token RS256 a "$good")") $(ask \
    "$(token ES256 e "$good")") $(ask "$(token RS256 a "$good" b)") $(ask "$(token RS256 b "$good")")"
sleep 1.1; echo "{\"keys\":[$(rsa b)]}" > "$dir/jwks.json"
becomes "keys are exchanged" "nobody $no" '"$(who "$(token RS256 b "$good")") $(who "$(token RS256 a "$good")")"'
echo broken > "$dir/jwks.json"; sleep 1.5
check "a broken file changes nothing" nobody "$(who "$(token RS256 b "$good")")"
