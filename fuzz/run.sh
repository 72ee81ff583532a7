#!/usr/bin/env bash
# Runs every fuzz target for a while, one after the other, and fails if any finds something.
#   fuzz/run.sh [seconds for each = 20] [target...]
# Needs cargo-fuzz and a nightly toolchain; installs nothing. New inputs go to fuzz/corpus (not kept in git), an input
# that breaks a target to fuzz/artifacts. Seeds kept in git lie in fuzz/seeds/<target>.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-20}
targets=("${@:2}")
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <(basename -s .rs fuzz/fuzz_targets/*.rs)
fi

# The folders that calls and rpc_line serve: in memory where that is possible, and gone afterwards.
parent=/dev/shm
[ -w "$parent" ] || parent=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d "$parent/file-editor-fuzz.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# AddressSanitizer cannot be linked statically: the target is named, and cargo-fuzz's RUSTFLAGS take the place of those
# in .cargo/config.toml.
host=$(rustc -vV | sed -n 's/^host: //p')

# Caches that last over inputs look like leaks, and looking for leaks takes most of the time.
failed=()
for target in "${targets[@]}"; do
    echo "== $target, ${seconds}s"
    mkdir -p "fuzz/corpus/$target"
    options=(-max_total_time="$seconds" -max_len=4096 -timeout=30 -rss_limit_mb=2048 -detect_leaks=0 -print_final_stats=1)
    [ ! -f "fuzz/seeds/$target.dict" ] || options+=(-dict="fuzz/seeds/$target.dict")
    log="$TMPDIR/$target.log"
    if cargo +nightly fuzz run --fuzz-dir fuzz --target "$host" --sanitizer address "$target" \
        "fuzz/corpus/$target" "fuzz/seeds/$target" -- "${options[@]}" >"$log" 2>&1; then
        grep --text --extended-regexp '^(Done|stat::)' "$log"
    else
        failed+=("$target")
        # Kept apart until the end, so that the reason stands last and not before the next targets' lines.
        grep --text --invert-match --extended-regexp $'^#[0-9]+\t' "$log" | cut --bytes=1-2000 | tail --lines=60 >"$log.end"
    fi
done

if [ ${#failed[@]} -gt 0 ]; then
    for target in "${failed[@]}"; do
        echo "== $target failed; the last lines of its output:"
        cat "$TMPDIR/$target.log.end"
    done >&2
    echo "failed: ${failed[*]}; the inputs lie in fuzz/artifacts" >&2
    exit 1
fi
echo "nothing found in ${#targets[@]} targets"
