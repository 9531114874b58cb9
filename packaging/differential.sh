#!/usr/bin/env bash
# The same command lines on the original Slurm and on Muster: standard output, standard error and exit code compared
# after times, numbers of jobs, versions and names of directories are masked.
#   differential.sh PREFIX [FILE [FROM]]      from the line that begins with FROM on
# Differences go to standard output; those in differential-known.txt are only counted.
# REFERENCE=PREFIX compares with the installation there instead of Debian's packages.
# A FILE *accounting.txt runs on clusters with slurmdbd, the original's with a MariaDB of its own. KEEP=1 lists the
# differences that are known as well.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
prefix=$(cd "$1" && pwd)
lines=${2:-$here/packaging/differential.txt}
from=${3:-}
known=${lines%.txt}-known.txt
work=$(mktemp -d /tmp/muster-diff-XXXXXX); chmod 755 "$work"
. "$here/packaging/pair.bash"
original_installed || {
  echo "skipped: neither REFERENCE nor Debian's slurm-wlm, with munge, is installed"
  rm -rf "$work"
  exit 0
}
trap clean EXIT
CLUSTERNAME=c1
EXTRA="Licenses=lic:4
PartitionName=other Nodes=n[3-4] MaxTime=1:00:00 State=UP"
case $lines in
  *accounting.txt)
    command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null && [ -x "$original_sbin/slurmdbd" ] || {
      echo "skipped: MariaDB and the original's slurmdbd are needed"
      exit 0
    }
    more="AccountingStorageEnforce=associations,limits,qos,safe
AccountingStorageTRES=gres/gpu,license/lic
GresTypes=gpu
TrackWCKey=yes
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=10000
PriorityWeightQOS=2000
PriorityWeightPartition=100
MailProg=$work/mail-KIND
JobCompType=jobcomp/filetxt
JobCompLoc=$work/KIND/jobcomp.txt
$EXTRA"
    for k in muster original; do
      printf '#!/bin/sh\necho "$2 to $3" >> %s\n' "$work/$k/mails" > "$work/mail-$k"
      chmod 755 "$work/mail-$k"
    done
    accounting_of muster "$prefix/bin" "$prefix/sbin" "${PORT:-26317}" "${more//KIND/muster}"
    accounting_of original $original_bin $original_sbin $((${PORT:-26317} + 100)) "${more//KIND/original}" ;;
  *)
    cluster muster "$prefix/bin" "$prefix/sbin" 4 8 "${PORT:-37817}"
    cluster original $original_bin $original_sbin 4 8 $((${PORT:-37817} + 100)) ;;
esac
cat > "$work/words" <<'W'
as() { local u=$1; shift; setpriv --reuid=$u --regid=$(id -g $u) --clear-groups -- "$@"; }
empty() {
  local n=0
  while [ -n "$(squeue -h -t R,CG,PD -o %i,%r 2>/dev/null | grep -v JobHeld)" ] && [ $((n+=1)) -lt 100 ]; do
    sleep 0.2
  done
}
show() {
  sleep 2
  squeue -h -t PD -o '%u %C %r' | sort
  squeue -h -t R -o '%u %C' | sort
  scancel -u irc
  scancel -u daemon
  empty
}
mails() {
  sleep 1
  grep " Name=$1 " "$(dirname "$SLURM_CONF")/mails" | sed -E 's/Job_id=[0-9]+/Job_id=#/; s/\([0-9]+\)/(#)/' | sort
}
completions() {
  sleep 1
  grep " Name=$1 " "$(dirname "$SLURM_CONF")/jobcomp.txt" \
    | sed -E 's/JobId=[0-9]+/JobId=#/g; s/(TimeLimit|NodeList)=[^ ]*//g; s/mem=[0-9]+M,//' | sort
}
over() {
  sacctmgr -i "$@" >/dev/null
  sleep 1
  for o in -n2 '-n1 --mem=20 -L lic:1' -N2; do
    as irc sbatch $Q -o /dev/null -t 10 $o --wrap 'sleep 60' 2>&1 | sed 's/job [0-9]*/job/'
  done
  show
}
W
mask() {
  sed -E -e "s#$work/(muster|original)#DIR#g; s#/tmp/muster-diff-[A-Za-z0-9]+#DIR#g" \
    -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]{3})?/TIME/g' \
    -e 's/(slurm|slurm-wlm) [0-9]+\.[0-9]+\.[0-9]+/slurm VERSION/g' \
    -e 's/[A-Z][a-z]{2} [A-Z][a-z]{2} +[0-9]+ [0-9:]{8} [0-9]{4}/TIME/g' -e 's/[0-9]+:[0-9]{2}(:[0-9]{2})?/CLOCK/g' \
    -e 's/[ \t]+$//'
}
# Numbers of jobs come to differ when one of the two refuses what the other takes. next_ids notes by how much they do,
# from which number to which; alike then says whether two answers differ in nothing but that.
next_ids() {
  local a b
  a=$(SLURM_CONF=$work/muster/slurm.conf "$prefix/bin/scontrol" show config | sed -n 's/^NEXT_JOB_ID *= *//p')
  b=$(SLURM_CONF=$work/original/slurm.conf $original_bin/scontrol show config | sed -n 's/^NEXT_JOB_ID *= *//p')
  echo "${ida:-1} $a ${apart:-$((b - a))} $((b - a))" >> "$work/ids"; ida=$a apart=$((b - a))
}
alike() {
  awk -v ids="$work/ids" \
    'BEGIN { while ((getline l < ids) > 0) { split(l, p, " "); from[++n] = p[1]; to[n] = p[2]
        low[n] = p[3] < p[4] ? p[3] : p[4]; high[n] = p[3] + p[4] - low[n] } }
    function job(x, d,  k) {
      for (k = n; k > 0; k--) if (x >= from[k] && x <= to[k] && d >= low[k] && d <= high[k]) return 1
      return 0
    }
    FNR == NR { a[++r] = $0; next } { b[++s] = $0 }
    END { if (r != s) exit 1
      for (i = 1; i <= r; i++) { x = a[i]; y = b[i]
        while (1) { u = match(x, /[0-9]+/); ul = RLENGTH; v = match(y, /[0-9]+/); vl = RLENGTH
          if (u != v || substr(x, 1, u ? u - 1 : length(x)) != substr(y, 1, v ? v - 1 : length(y))) exit 1
          if (!u) break
          m = substr(x, u, ul); o = substr(y, v, vl); if (m != o && !job(m + 0, o - m)) exit 1
          x = substr(x, u + ul); y = substr(y, v + vl) } } }' "$work/a" "$work/b"
}
run() { # run KIND LINE: what it printed, and its exit code
  local bin=$original_bin; [ "$1" = muster ] && bin=$prefix/bin
  local d=$work/$1
  (cd "$d/cwd" && BASH_ENV=$work/words PATH=$bin:/usr/bin:/bin SLURM_CONF=$d/slurm.conf timeout \
    ${LIMIT_S:-120} bash -c "$2" >"$d/out" 2>"$d/err" </dev/null; echo "exit $?" >"$d/rc")
  # (whether the original's sacctmgr tells that its connection has ended is a matter of chance)
  {
    sed 's/^/out: /' "$d/out"
    sed '/Getting response to message type: DBD_FINI/d; s/^/err: /' "$d/err"
    cat "$d/rc"
  } | mask
}
for k in muster original; do mkdir -p "$work/$k/cwd"; chmod 777 "$work/$k/cwd"; done
same=0 listed=0 different=0
while IFS= read -r line; do
  case $line in ''|'#'*) continue ;; "$from"*) from= ;; *) [ -z "$from" ] || continue ;; esac
  run muster "$line" > "$work/a" & run original "$line" > "$work/b"; wait $!
  case $line in *sbatch*|*srun*|*salloc*|*over*) next_ids ;; esac
  if cmp -s "$work/a" "$work/b" || alike; then same=$((same + 1))
  elif [ -z "${KEEP:-}" ] && grep -qxF -- "$line" <(sed '/^#/d' "$known" 2>/dev/null); then listed=$((listed + 1))
  else different=$((different + 1)); echo "== $line"; diff "$work/a" "$work/b" | grep '^[<>]'; fi
done < "$lines"
echo "$same the same, $listed different for a reason that ${known##*/} gives, $different different"
[ $different -eq 0 ]
