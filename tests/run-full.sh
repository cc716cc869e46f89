#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The long checks: oracles in Go, format validators, the API server's verdicts,
# sanitizers, static analysis, fuzzers. A step whose dependency is missing is
# skipped with a message.
# usage: run-full.sh BUILD full|ci   ci: only the steps in tests/ci.txt
set -u
build=$1 which=$2
here=$(dirname "$0")

# Skips scripts of `make check`, and fresh.sh (make check-fresh).
steps=()
for script in "$here"/check/*.sh; do
	name=$(basename "$script" .sh)
	case $name in
	corpus | seeds | first-run | fresh | bypass | same-answer | baseline | cluster) ;;
	# Scripts of make check-load and make check-image.
	server | reliability | rotation | speed | live | self-managed | image) ;;
	recipes) steps+=("recipes-run=$script $build") ;;
	*) steps+=("$name=$script $build") ;;
	esac
done
steps+=(
	"same-answer-more=OBJECTS=1000 $here/check/same-answer.sh $build repairs recommended strict state rules suppressions"
	"mutation=$here/mutation.sh $build/gpugate"
	"demo=sh $here/../deploy/examples/demo.sh $build/gpugate $build/gpugated"
	"format=make --no-print-directory format-check"
	"sanitize=$here/sanitize.sh address,undefined build-asan"
	"sanitize-thread=$here/sanitize.sh thread build-tsan"
	"tidy=make --no-print-directory tidy"
)
for target in "$here"/fuzz/fuzz_*.c; do
	name=$(basename "$target" .c)
	steps+=("fuzz-${name#fuzz_}=$here/fuzz/run.sh build-fuzz ${name#fuzz_}")
done

# Keeps the order of tests/ci.txt, which begins with the longest step.
if [ "$which" = ci ]; then
	all=("${steps[@]}") steps=()
	while read -r name _; do
		known=${#steps[@]}
		for step in "${all[@]}"; do
			[ "${step%%=*}" != "$name" ] || steps+=("$step")
		done
		[ "${#steps[@]}" -gt "$known" ] || {
			echo "tests/ci.txt: there is no step $name" >&2
			exit 2
		}
	done < <(grep -v '^#' "$here/ci.txt")
fi
"$here/run.sh" "$build/logs-$which" "${steps[@]}"
