#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build one libFuzzer target with address and undefined sanitizers and run it.
# Crashes stay in BUILD/crashes.
#
# usage: run.sh BUILD TARGET [SECONDS]
# With SECONDS, the search is random, takes that long and begins with the
# inputs of the previous search. Without SECONDS, the result depends neither on
# chance nor on load: the number of inputs (at the head of the target, times
# FUZZ_TIMES) and the seed (FUZZ_SEED) are fixed, the corpus begins empty and
# is not read again, and addresses do not change. (A review measures its time,
# so runs of `review` differ a little.)
set -eu
build=$1 target=$2 seconds=${3-} times=${FUZZ_TIMES:-1} seed=${FUZZ_SEED:-1}
here=$(dirname "$0")
command -v clang >/dev/null || {
	echo "skip: clang is not on PATH"
	exit 0
}
# Each target is linked with one of the programs: both define some functions with
# the same name.
program=$build/libgpugated.a
[ "$target" != lsp ] || program=$build/liblint.a
mkdir -p "$build/corpus-$target" "$build/crashes" "$build/gen"
# Steps that run in parallel share the build: one builds, the others wait.
flock "$build/lock" \
	make --no-print-directory BUILD="$build" CC=clang \
	CFLAGS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" \
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
# A slow target gets only the share of seeds at the top of its file: changed
# inputs find more errors than unchanged ones.
every=$(sed -n 's/^ \* Seeds: 1 of //p' "$here/fuzz_$target.c")
if [ -n "$every" ]; then
	rm -rf "$build/seeds-$target" && mkdir "$build/seeds-$target"
	find "${seeds[@]}" -type f | LC_ALL=C sort | awk "NR % $every == 1" |
		while read -r file; do
			cp "$file" "$build/seeds-$target/$(echo "$file" | tr / _)"
		done
	seeds=("$build/seeds-$target")
	[ ! -d "$here/regress-$target" ] || seeds+=("$here/regress-$target")
fi
corpus=$build/corpus-$target
if [ -n "$seconds" ]; then
	run=("$build/fuzz_$target" -max_total_time="$seconds")
else
	rm -rf "$corpus" && mkdir "$corpus"
	inputs=$(sed -n 's/^ \* Inputs: //p' "$here/fuzz_$target.c")
	[ -n "$inputs" ] || {
		echo "fuzz_$target.c: its head has no line \`Inputs: N\`" >&2
		exit 2
	}
	run=("$build/fuzz_$target" -seed="$seed" -reload=0
		-runs=$((inputs * times)))
	# Turns off random addresses, which a container may forbid.
	! setarch -R true 2>/dev/null || run=(setarch -R "${run[@]}")
fi
# The time limit is long, so that it finds endless inputs, but not slow ones on a
# loaded machine.
if "${run[@]}" -timeout=600 -rss_limit_mb=2048 \
	-artifact_prefix="$build/crashes/$target-" -print_final_stats=1 \
	"$corpus" "${seeds[@]}" >"$build/fuzz-$target.log" 2>&1; then
	grep -E 'number_of_executed_units|average_exec' "$build/fuzz-$target.log" || :
	echo "fuzz $target: 1 passed, 0 failed"
else
	tail -40 "$build/fuzz-$target.log"
	echo "seed $seed, FUZZ_TIMES=$times"
	echo "fuzz $target: 0 passed, 1 failed"
	exit 1
fi
