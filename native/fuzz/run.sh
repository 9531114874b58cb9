#!/bin/sh
# Runs each target for its part of the time. Usage: OUT=DIRECTORY run.sh SECONDS TARGET...
set -u
seconds=$(($1 / ($# - 1)))
shift
here=$(dirname "$(realpath "$0")")
OUT=$(realpath "$OUT")
export ASAN_OPTIONS=allocator_may_return_null=1
failed=0
cd "$OUT" || exit 1
for target in "$@"; do
    if grep -q LLVMFuzzerRunDriver "fuzz-$target"; then
        mkdir -p "corpus/$target"
        set -- -max_total_time=$((seconds > 0 ? seconds : 1)) -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
            "-artifact_prefix=$OUT/crash-$target-" "corpus/$target" "$here/corpus/$target"
    else
        set -- "$here/corpus/$target" "$seconds" ${SEED:-}
    fi
    if "./fuzz-$target" "$@" >"fuzz-$target.log" 2>&1; then
        echo "ok    fuzz $target: $(grep -E 'executed_units|mutations' "fuzz-$target.log" | tr -s ' ')"
    else
        failed=1
        tail -60 "fuzz-$target.log"
        echo "FAILED fuzz $target"
    fi
done
exit $failed
