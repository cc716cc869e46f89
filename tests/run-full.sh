#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The long checks: oracles in Go, format validators, the API server's
# verdicts, sanitizers, static analysis, fuzzers. A step that lacks a
# dependency is skipped, and says so. With `ci`, only the checks that find
# faults which no other check finds and that finish in minutes
# (tests/README.md).
# usage: run-full.sh BUILD [ci]
set -u
build=$1 only=${2-}
here=$(dirname "$0")
fuzz_time=${FUZZ_TIME:-20}

steps=()
if [ "$only" = ci ]; then
	fuzz_time=${FUZZ_TIME:-5}
	for name in plants fix twins yaml json quantity patch splice \
		instructions; do
		steps+=("check-$name=$here/check/$name.sh $build")
	done
else
	# The first group is part of `make check`, the second of
	# `make check-load`; fresh and image have a target each.
	for script in "$here"/check/*.sh; do
		name=$(basename "$script" .sh)
		case $name in
		corpus | seeds | first-run | corpus-index | bypass | parity | baseline | equivalence | cluster) ;;
		server | reliability | rotation | speed | live | self-managed) ;;
		fresh | image) ;;
		*) steps+=("check-$name=$script $build") ;;
		esac
	done
	steps+=(
		"check-parity=$here/check/parity.sh $build state rules"
		"sanitize-thread=$here/sanitize.sh thread build-tsan"
		"tidy=make --no-print-directory tidy"
	)
fi
steps=(
	"sanitize=$here/sanitize.sh address,undefined build-asan"
	"demo=sh $here/../deploy/examples/demo.sh $build/gpugate $build/gpugated"
	"format=make --no-print-directory format-check"
	"${steps[@]}"
)
for target in "$here"/fuzz/fuzz_*.c; do
	name=$(basename "$target" .c)
	time=$fuzz_time
	# The linter is built for this one alone.
	[ "$name" != fuzz_lsp ] || time=$((fuzz_time / 2))
	steps+=("fuzz-${name#fuzz_}=$here/fuzz/run.sh build-fuzz ${name#fuzz_} $time")
done
"$here/run.sh" "$build/logs-${only:-full}" "${steps[@]}"
