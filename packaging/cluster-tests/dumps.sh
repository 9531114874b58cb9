#!/usr/bin/env bash
# Files of sacctmgr dump, with all their fields, between Slurm (the original of packaging/pair.bash) and Muster: each
# loads the file of the other and then has the same associations.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
work=$dir
. "$(dirname "$0")/../pair.bash"
original_installed || { echo "skipped: neither REFERENCE nor Debian's slurm-wlm, with munge, is installed"; exit 0; }
for p in "$original_sbin/slurmdbd" mariadbd; do
  command -v "$p" >/dev/null || { echo "skipped: needs $p"; exit 0; }
done
one=$(free_port); accounting_of muster "$prefix/bin" "$prefix/sbin" "$one" ""
mkdir -p "$dir/log"; two=$(free_port); accounting_of original "$original_bin" "$original_sbin" "$two" ""
on() {
  local k=$1
  shift
  if [ "$k" = original ]; then
    SLURM_CONF=$dir/original/slurm.conf $original_bin/sacctmgr "$@"
  else
    SLURM_CONF=$dir/muster/slurm.conf sacctmgr "$@"
  fi </dev/null 2>&1
}
tree() { # where, prefix of the accounts, three users: limits of all kinds
  local k=$1 a=$2 u=$3 v=$4 w=$5
  set() { on "$k" -i "$@" >/dev/null || { echo "FAIL on $k: $*: $(on "$k" -i "$@")"; fails=$((fails+1)); }; }
  set add \
    account "${a}lab" fairshare=7 description="the lab of x: all of it" organization="some org" grptres=cpu=100,mem=4G \
    grptresmins=cpu=90000 grptresrunmins=cpu=5000 grpjobs=40 grpjobsaccrue=9 grpsubmit=50 grpwall=3-0
  set add account "${a}sub" parent="${a}lab" maxjobs=5 qos=+high maxwall=2-0 maxtresmins=cpu=500 \
    maxtrespernode=cpu=3 maxjobsaccrue=3
  set add account "${a}deep" parent="${a}sub" defaultqos=low qos=low,high priority=0 maxsubmit=0
  set add user "$u" account="${a}lab,${a}sub" maxtres=cpu=4 wckeys=wk1,wk2 defaultwckey=wk1
  set add user "$v" account="${a}sub" defaultqos=high fairshare=parent
  set add user "$v" account="${a}sub" partition=main maxjobs=2 qoslevel=high,low
  set add user "$v" account="${a}deep"; set modify user "$v" set defaultaccount="${a}deep"
  set add user "$w" account="${a}lab" adminlevel=operator; set add coordinator user="$w" account="${a}lab,${a}deep"
  set modify user "$u" where account="${a}sub" set grpwall=100 maxsubmit=10 priority=5 grptresrunmins=cpu=1000 \
    qos-=normal
}
# Before 25.05 Slurm writes no lines of QOS.
woqos=; case $("$original_sbin/slurmctld$debian_suffix" -V) in *\ 2[0-4].*) woqos=woqos ;; esac
qos() { # where
  on "$1" -i add qos low description="what is left" usagefactor=0.5 maxwall=1:00:00 grptres=cpu=10,mem=4G \
    grpjobs=0 >/dev/null
  on "$1" -i add \
    qos high priority=10 description="comes first" maxtresperuser=cpu=8 maxjobsperuser=0 flags=DenyOnLimit,NoReserve \
    gracetime=60 preempt=low preemptexempttime=90 usagethreshold=0.25 mintres=cpu=1 maxsubmitjobsperaccount=7 >/dev/null
}
dump() { on "$1" dump "$2" file="$dir/$3" ${4:-} >/dev/null; grep -v '^#' "$dir/$3" || true; }
seen() { # where, cluster: all its associations, users, keys and accounts
  local assoc=account,user,partition,parentname,share,grptres,grptresmins,grptresrunmins
  assoc+=,grpjobs,grpjobsaccrue,grpsubmit,grpwall,maxtres,maxtresmins,maxtrespernode
  on "$1" -nP show assoc cluster="$2" format=$assoc,maxjobs,maxjobsaccrue,maxsubmit,maxwall,priority,qos,defaultqos \
    | sort
  on "$1" -nP show user withassoc cluster="$2" format=user,defaultaccount,defaultwckey,admin | sort -u
  on "$1" -nP show wckey cluster="$2" format=wckey,user | tr -d '*' | sort
  on "$1" -nP show account withassoc cluster="$2" format=account,descr,org | sort -u
  dump "$1" "$2" "$1.all" "${3:-}" | sort
}
qos muster; qos original; tree muster mu bin daemon sys; tree original de games mail man
check "the same commands give the same dump" "$(dump original c1 original.cfg \
    | sed "s/\bde\(lab\|sub\|deep\)/mu\1/g; s/'games'/'bin'/; s/'mail'/'daemon'/; s/'man'/'sys'/")" \
  "$(dump muster c1 muster.cfg $woqos)"
# Debian's Slurm mostly fails to load a file that has both a new account and keys of a new user, also a file of its own.
# So it loads the file without keys, the whole file, and the file once more for the default key, which would otherwise
# be the last key.
sed "s/:[A-Za-z]*WCKeys*='[^']*'//g" "$dir/muster.cfg" > "$dir/plain.cfg"
for f in plain muster muster; do
  on original -i load file="$dir/$f.cfg" || true
done > "$dir/log/original.load"
on muster -i load file="$dir/original.cfg" > "$dir/log/muster.load" || true
check "Slurm loads a file of Muster without errors" "" \
  "$(grep -i 'error\|problem\|misform' "$dir/log/original.load" || true)"
check "Muster loads a file of Slurm without errors" "" "$(grep -i 'error\|problem' "$dir/log/muster.load" || true)"
check "both have the same associations" "" "$(diff <(seen muster c1 $woqos) <(seen original c1) || true)"
match "the file has the coordinators" "^dedeep,delab$" "$(on muster -nP show user man withcoord format=coordinators)"
before=$(on muster -nP show qos | sort); dump muster c1 qos.cfg >/dev/null
on muster -i delete account mulab,musub,mudeep,delab,desub,dedeep >/dev/null
on muster -i delete qos high,low >/dev/null
check "the QOS are deleted" normal "$(on muster -nP show qos format=name)"
on muster -i load file="$dir/qos.cfg" > "$dir/log/qos.load" || true
check "a file of Muster restores the QOS" "$before" "$(on muster -nP show qos | sort)"
sed 's/Priority=10/Priority=11/' "$dir/qos.cfg" > "$dir/changed.cfg"
match "a file with another priority changes the QOS" 'Changed Priority +for QOS +high +10 -> 11' \
  "$(on muster -i load file="$dir/changed.cfg")"
for k in original muster; do
  on $k -i load file="$dir/$([ $k = original ] && echo plain || echo original).cfg" cluster=c2 > "$dir/log/$k.new" \
    || true
  match "a cluster of a new name on $k" "c2" "$(cat "$dir/log/$k.new")"
done
for f in "$dir"/*/run/*.pid; do
  daemon=$(cat "$f")
  kill "$daemon" 2>/dev/null || continue
  soon '! kill -0 "$daemon" 2>/dev/null' 10
done
finish
