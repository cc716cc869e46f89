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
# new finding must not depend on luck or load (an input may take ten minutes,
# so that only an endless one fails): about as many inputs as a quiet
# machine reads in SECONDS (the head of the target says how many in one), an
# empty corpus that is not read again, addresses that stay. (A review measures
# its time, which leads `review` a little elsewhere.) Without it the search is
# random.
corpus=$build/corpus-$target
run=("$build/fuzz_$target" -max_total_time="$seconds" -timeout=60)
if [ -n "${FUZZ_SEED-}" ]; then
	rm -rf "$corpus" && mkdir "$corpus"
	rate=$(sed -n 's/^ \* Inputs a second: //p' "$here/fuzz_$target.c")
	run=("$build/fuzz_$target" -seed="$FUZZ_SEED" -reload=0
		-runs=$((rate * seconds)) -timeout=600)
	# A container may forbid it.
	! setarch -R true 2>/dev/null || run=(setarch -R "${run[@]}")
fi
if "${run[@]}" -rss_limit_mb=2048 \
	-artifact_prefix="$build/crashes/$target-" -print_final_stats=1 \
	"$corpus" "${seeds[@]}" >"$build/fuzz-$target.log" 2>&1; then
	grep -E 'number_of_executed_units|average_exec' "$build/fuzz-$target.log" || :
	echo "fuzz $target: 1 passed, 0 failed"
else
	tail -40 "$build/fuzz-$target.log"
	echo "fuzz $target: 0 passed, 1 failed"
	exit 1
fi
