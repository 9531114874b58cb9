#!/usr/bin/env bash
# Where jobs land: the same submissions on the original Slurm and on Muster, over nodes of two sockets with cores,
# threads, memory and GPUs; what the job was given (nodes, CPU_IDs, memory, GPUs), what its environment says, or why it
# waits, is compared.
#   placement.sh PREFIX [FILE [SECTION]]
# Differences go to standard output. Lines of a section that begin with "known:" may differ, for the reason above them.
# REFERENCE=PREFIX compares with the installation there instead of Debian's packages. KEEP=1 lists the differences of
# "known:" lines as well.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd); prefix=$(cd "$1" && pwd); lines=${2:-$here/packaging/placement.txt}; only=${3:-}
port=${PORT:-35817}
. "$here/packaging/pair.bash"
original_installed || { echo "skipped: neither REFERENCE nor Debian's slurm-wlm, with munge, is installed"; exit 0; }
root=$(mktemp -d /tmp/muster-place-XXXXXX); chmod 755 "$root"
work=$root; trap 'for work in "$root"/*/; do clean 2>/dev/null; done; rm -rf "$root"' EXIT

# what a job tells of itself; jobs' numbers are left out
cat > "$root/tell" <<'T'
#!/bin/bash
scontrol -d show job "$SLURM_JOB_ID" > "$1.show"
words='NTASKS|NPROCS|JOB_NUM_NODES|NNODES|TASKS_PER_NODE|JOB_CPUS_PER_NODE|CPUS_ON_NODE|CPUS_PER_TASK|CPUS_PER_GPU'
words="$words|MEM_PER_|NTASKS_PER|JOB_GPUS|GPUS|GPU|THREADS_PER_CORE|JOB_NODELIST|HINT|DISTRIBUTION"
env | grep -E "^(SLURM_($words)|CUDA_VISIBLE)" | sort > "$1.env"
[ -z "${STEP:-}" ] || eval "$STEP" > "$1.step" 2>&1
mv "$1.env" "$1.done"
T
chmod 755 "$root/tell"

# the fields of a job that say where it is
fields() {
  local names='JobState|Reason|NumNodes|NumCPUs|NumTasks|CPUs/Task|ReqB:S:C:T|Socks/Node|NtasksPerN:B:S:C|CoreSpec'
  names="$names|MinCPUsNode|MinMemoryNode|MinMemoryCPU|OverSubscribe|NodeList|Nodes|CPU_IDs|Mem|GRES|Shared"
  tr ' ' '\n' < "$1" | grep -E "^($names)=" \
    | sed -E 's/^GRES=(.*)/GRES=\1/' | tr '\n' ' ' | sed -E 's/ (NumNodes|Nodes)=/\n\1=/g'; echo
}
idle() {
  for _ in $(seq 100); do
    [ -z "$(squeue -h -o %i)" ] && ! sinfo -h -N -o %t | grep -qE 'comp' && return
    sleep 0.1
  done
}

run() { # run KIND LINE: what became of the last command's job; those before it are there already
  local kind=$1 line=$2 last id bin=$original_bin; [ "$kind" = muster ] && bin=$prefix/bin
  export PATH=$bin:/usr/bin:/bin SLURM_CONF=$work/$kind/slurm.conf
  if [[ $line == "! "* ]]; then
    eval "${line#! }" </dev/null 2>&1 | sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}/TIME/g'
    return
  fi
  idle
  while [[ $line == *" ;; "* ]]; do
    id=$(eval "sbatch --parsable -o /dev/null ${line%% ;; *} --wrap 'sleep 300'") || echo "before: $id"
    for _ in $(seq 30); do
      case $(squeue -h -j "$id" -o '%T %r') in RUNNING*|*Resources*|*Priority*|*Held*) break ;; esac
      sleep 0.1
    done
    line=${line#* ;; }
  done
  unset STEP; [[ $line == *" :: "* ]] && { export STEP=${line#* :: }; line=${line%% :: *}; }
  local out=$work/$kind/out; rm -f "$out".*
  if ! id=$(eval "sbatch --parsable -o /dev/null $line $root/tell $out" 2>"$out.err"); then
    sed 's/^/refused: /' "$out.err"
  else
    sed 's/^/told: /' "$out.err"
    for _ in $(seq 25); do [ -e "$out.done" ] && break; sleep 0.1; done
    case $(squeue -h -j "$id" -o %T 2>/dev/null) in RUNNING|COMPLETING|CONFIGURING) for _ in $(seq 60); do
      [ -e "$out.done" ] && break
      sleep 0.1
    done ;; esac
    if [ -e "$out.done" ]; then fields "$out.show"; cat "$out.done"; [ -e "$out.step" ] && cat "$out.step"
    else scontrol -d show job "$id" > "$out.show" 2>&1; fields "$out.show"; fi
  fi
  scancel -u root >/dev/null 2>&1
}

section() { # section NAME FILE-OF-LINES: both clusters with what the lines "@" say
  local name=$1 file=$2 k n=0; work=$root/$name; mkdir -p "$work"; chmod 755 "$work"
  sed -n 's/^@topo //p' "$file" > "$work/topology"
  [ -e "$work/gres" ] || sed -n 's/^@gres //p' "$file" > "$work/gres"
  before() {
    local d=$work/$1
    cp "$work/gres" "$d/gres.conf"
    [ ! -s "$work/topology" ] || cp "$work/topology" "$d/topology.conf"
    sed -n 's/^@drop //p' "$file" | while read -r word; do sed -i "/^$word/d" "$d/slurm.conf"; done
    sed -i -E "/^(NodeName|PartitionName)=/d" "$d/slurm.conf"
    sed -n 's/^@ //p' "$file" | while IFS= read -r l; do
      key=${l%%=*}
      case $key in NodeName|PartitionName|DownNodes) ;; *) sed -i "/^$key=/d" "$d/slurm.conf" ;; esac
      echo "$l"
    done > "$d/more"
    local base; base=$(sed -n 's/^SlurmctldPort=//p' "$d/slurm.conf")
    awk -v base="$base" -v host="$(hostname -s 2>/dev/null || hostname)" \
      '/^NodeName=/ { r = $1; sub(/^NodeName=n\[?/, "", r); sub(/\]$/, "", r)
      n = split(r, a, "-"); if (n < 2) a[2] = a[1]
      print $0 " NodeHostname=" host " NodeAddr=127.0.0.1 Port=[" base+a[1] "-" base+a[2] "]"; next } { print }' \
        "$d/more" >> "$d/slurm.conf"
  }
  local nodes; nodes=$(sed -n 's/^@nodes //p' "$file")
  BEFORE=before cluster muster "$prefix/bin" "$prefix/sbin" "${nodes:-4}" 16 "$port"
  BEFORE=before cluster original $original_bin $original_sbin "${nodes:-4}" 16 $((port + 300))
  # what a cluster does with its first job takes longer than with any other
  for k in muster original; do
    ( export PATH=$original_bin:/usr/bin:/bin SLURM_CONF=$work/$k/slurm.conf; [ $k = original ] \
      || PATH=$prefix/bin:/usr/bin:/bin
    id=$(sbatch --parsable -o /dev/null --wrap true) && for _ in $(seq 100); do
        [ -z "$(squeue -h -j "$id" -o %i 2>/dev/null)" ] && break; sleep 0.1; done ) </dev/null >/dev/null 2>&1 &
          pids="${pids:-} $!"; done
  wait $pids; pids=
  for k in muster original; do
    ( n=0; while IFS= read -r l; do case $l in ''|'#'*|'@'*) continue ;; esac; n=$((n+1))
        run $k "${l#known: }" > "$work/$k.$n" 2>&1 </dev/null; done < "$file" ) &
    pids="${pids:-} $!"
  done
  wait $pids; pids=
  # SLURM_GPUS_PER_TASK is set as the manual says; the original's sbatch leaves it out
  while IFS= read -r l; do case $l in ''|'#'*|'@'*) continue ;; esac
    n=$((n+1))
    for k in muster original; do
      sed -E -e "s#$work/(muster|original)#DIR#g; s/\b(JobId|job) ?=?[0-9]+/JOB/g; /^SLURM_GPUS_PER_TASK=/d" \
        -e "s/,[a-z]+(:[a-z]+)?:0\(IDX:\)//g; s/=[a-z]+(:[a-z]+)?:0\(IDX:\),?/=/g" \
        -e "s/NumNodes=([0-9]+)-([0-9]+)( NumCPUs=[0-9]+ NumTasks=\2 )/NumNodes=\1\3/" \
        "$work/$k.$n" > "$work/$k.$n.x"
    done
    if cmp -s "$work/muster.$n.x" "$work/original.$n.x"; then
      same=$((same+1))
      [[ $l != known:* ]] || echo "== [$name] $l"$'\n'"the same in spite of its reason"
    elif [[ $l == known:* && -z ${KEEP:-} ]]; then listed=$((listed+1))
    else different=$((different+1))
    echo "== [$name] $l"
    diff "$work/muster.$n.x" "$work/original.$n.x" | grep '^[<>]'
  fi
  done < "$file"
  clean
}
same=0 listed=0 different=0
mkdir -p "$root/sections"
awk -v d="$root/sections" '/^== /{f=d "/" $2; next} f{print > f}' "$lines"
for f in "$root"/sections/*; do
  s=$(basename "$f")
  [ -z "$only" ] || [ "$only" = "$s" ] || continue
  section "$s" "$f"
  port=$((port + 12))
done
echo "$same the same, $listed different for a reason that the file gives, $different different"
[ $different -eq 0 ]
