#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build one libFuzzer target with address and undefined sanitizers and run it.
# Crashes stay in BUILD/crashes. usage: run.sh BUILD TARGET SECONDS
set -eu
build=$1 target=$2 seconds=$3
here=$(dirname "$0")
command -v clang >/dev/null || {
	echo "skip: clang is not on PATH"
	exit 0
}
# Both programs have options of their own by one name.
program=$build/libgpugated.a
[ "$target" != lsp ] || program=$build/liblint.a
mkdir -p "$build/corpus-$target" "$build/crashes" "$build/gen"
# Steps that run side by side share what is built: one builds, the others wait.
flock "$build/lock" \
	make --no-print-directory BUILD="$build" CC=clang \
	CFLAGS="-O1 -g -DCHECK_WANTS=1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" \
	LDFLAGS= "$build/libgpugate.a" "$program" >"$build/make-$target.log" 2>&1 || {
	tail -20 "$build/make-$target.log"
	exit 1
}
clang -std=c11 -D_GNU_SOURCE -Iinclude -I. -I"$build/gen" -O1 -g \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-o "$build/fuzz_$target" "$here/fuzz_$target.c" \
	"$program" "$build/libgpugate.a" \
	-lyaml -lpcre2-8 -ljansson -Wl,--as-needed -lmicrohttpd -lgnutls \
	-lssl -lcrypto -lcurl -pthread
seeds=()
for folder in tests/rules deploy/examples "$here/regress-$target"; do
	[ -d "$folder" ] && seeds+=("$folder")
done
# FUZZ_SEED=N: the same inputs in the same order every time, for CI, where a
# new finding must not depend on luck; without it the search is random.
limit=(-max_total_time="$seconds")
[ -z "${FUZZ_SEED-}" ] || limit+=(-seed="$FUZZ_SEED")
if "$build/fuzz_$target" "${limit[@]}" -timeout=30 -rss_limit_mb=2048 \
	-artifact_prefix="$build/crashes/$target-" -print_final_stats=1 \
	"$build/corpus-$target" "${seeds[@]}" >"$build/fuzz-$target.log" 2>&1; then
	grep -E 'number_of_executed_units|average_exec' "$build/fuzz-$target.log" || :
	echo "fuzz $target: 1 passed, 0 failed"
else
	tail -40 "$build/fuzz-$target.log"
	echo "fuzz $target: 0 passed, 1 failed"
	exit 1
fi
