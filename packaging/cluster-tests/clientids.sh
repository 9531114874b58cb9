#!/usr/bin/env bash
# Users that the daemons' hosts do not know: their ids come from a token (use_jwt_client_ids) or from a login host
# (use_client_ids).
# shows: AuthAltParameters, AuthInfo
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
unshare -m true 2>/dev/null || { echo "skipped: needs namespaces of mounts"; exit 0; }
uid=54321; getent passwd $uid >/dev/null && { echo "skipped: there is a user $uid"; exit 0; }
b64() { base64 -w0 | tr '+/' '-_' | tr -d =; }
jwt() { # user, further claims
  local body key
  key=$(od -An -tx1 -v "$dir/jwt.key" | tr -d ' \n')
  body=$(printf '{"alg":"HS256","typ":"JWT"}' | b64)
  body+=.$(printf '{"exp":%s,"sun":"%s"%s}' "$(($(date +%s) + 600))" "$1" "$2" | b64)
  echo "$body.$(printf %s "$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | b64)"
}
command -v openssl >/dev/null || { echo "skipped: needs openssl"; exit 0; }
head -c 32 /dev/urandom > "$dir/jwt.key"; chmod 600 "$dir/jwt.key"
chmod 777 "$dir"
start_cluster 1 2 "AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$dir/jwt.key,use_jwt_client_ids
AuthInfo=use_client_ids"
chmod 777 "$dir/work"
who=",\"uid\":$uid,\"gid\":$uid,\"id\":{\"gecos\":\"\",\"dir\":\"$dir/work\",\"shell\":\"/bin/sh\""
who+=",\"groups\":{\"ghosts\":$uid,\"hunters\":54322}}"
as_jwt() {
  (cd "$dir/work" && setpriv --reuid=$uid \
    --regid=$uid --clear-groups -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" SLURM_JWT="$token" "$@" 2>&1 </dev/null)
}
token=$(jwt ghost "$who")
id=$(as_jwt sbatch --parsable -o "$dir/work/out" --wrap 'id -u; id -g; id -G; echo $SLURM_JOB_USER; srun sh -c "id -u"')
wait_empty
check "a job of an unknown user runs with the ids of the token" "$uid
$uid
$uid 54322
ghost
$uid" "$(cat "$dir/work/out")"
check "the job's record has the user's name" "ghost $uid" \
  "$(scontrol show job "$id" | sed -n 's/.*UserId=\([a-z]*\)(\([0-9]*\)).*/\1 \2/p')"
check "accounting has the user's name" ghost "$(sacct -X -n -j "$id" -o User | xargs)"
token=$(jwt stranger '')
match "a token of an unknown user without ids is refused" "Protocol authentication error" "$(as_jwt squeue || true)"
sed -i 's/use_jwt_client_ids$/use_jwt_client_ids_only/' "$SLURM_CONF"
stopped slurmctld
start_ctld
soon '[ "$(sinfo -h -o %t 2>/dev/null)" = idle ]'
token=$(jwt nobody '')
match "use_jwt_client_ids_only: a token of a known user without ids is refused" "Protocol authentication error" \
  "$(as_jwt squeue || true)"
token=$(scontrol token username=nobody | sed 's/.*=//')
check "a token of scontrol has the user's ids" 0 "$(as_jwt squeue -h >/dev/null; echo $?)"

# A login host with users of its own and sackd.
mkdir -p "$dir/login"
cp "$dir/slurm.key" "$dir/login/" 2>/dev/null || cp "$dir/state/slurm.key" "$dir/login/slurm.key"
chmod 600 "$dir/login/slurm.key"
sed "s#^SlurmctldPidFile=.*#SlurmctldPidFile=$dir/login/ctld.pid#;s#^SlurmdPidFile=.*#SlurmdPidFile=$dir/login/d.pid#" \
  "$SLURM_CONF" > "$dir/login/slurm.conf"
chmod 755 "$dir/login"
cp /etc/passwd "$dir/login/passwd"
echo "laura:x:54400:54400::$dir/work:/bin/sh" >> "$dir/login/passwd"
cp /etc/group "$dir/login/group"; printf 'laura:x:54400:\nreaders:x:54401:laura\n' >> "$dir/login/group"
login() {
  unshare -m --propagation private \
    sh -c 'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/group" /etc/group && shift 0 && exec "$@"' \
    "$dir/login" "$@"
}
SLURM_CONF=$dir/login/slurm.conf \
  login sackd -D -f "$dir/login/slurm.conf" >"$dir/log/sackd.log" 2>&1 </dev/null & sack=$!
soon 'ls "$dir"/login/sack-test.socket 2>/dev/null >&2'
as_laura() {
  (cd "$dir/work" && SLURM_CONF=$dir/login/slurm.conf login setpriv \
    --reuid=54400 --regid=54400 --init-groups -- env PATH="$PATH" "$@" 2>&1 </dev/null)
}
id=$(as_laura sbatch --parsable -o "$dir/work/laura" --wrap 'id -u; id -G; echo $SLURM_JOB_USER')
wait_empty
check "a job of a login host's user runs with the user's ids" "54400
54400 54401
laura" "$(cat "$dir/work/laura" 2>/dev/null || echo "$id")"
check "the job's record has the name of the login host's user" "laura" \
  "$(scontrol show job "$id" | sed -n 's/.*UserId=\([a-z]*\)(54400).*/\1/p')"
check "a login host's user may cancel an own job" "CANCELLED" \
  "$(id=$(as_laura sbatch --parsable -o /dev/null --wrap 'sleep 60'); \
    as_laura scancel "$id"; wait_empty; scontrol show job "$id" | grep -o CANCELLED)"
for p in $(descendants $sack) $sack; do kill "$p" 2>/dev/null || true; done
