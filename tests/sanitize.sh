#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build with sanitizers beside the plain build and run the suite with it:
# units, rules, command line, and the whole corpus in every format.
# usage: sanitize.sh SANITIZERS BUILD
set -eu
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
build=$2
here=$(dirname "$0")
corpus=${GPUGATE_SHARED:-../shared}/corpus
make --no-print-directory SANITIZE="$1" BUILD="$build" -j2 all unit tools >/dev/null
pass=0 fail=0
try() {
	if "$@" >"$build/sanitize.out" 2>&1; then
		pass=$((pass + 1))
	else
		fail=$((fail + 1))
		echo "FAIL $*"
		tail -40 "$build/sanitize.out"
	fi
}
for test in "$build"/tests/unit/test_*; do
	[ -x "$test" ] && [ "${test%.d}" = "$test" ] && try "$test"
done
try "$here/run-rules.sh" "$build/gpugate"
GPUGATE=$PWD/$build/gpugate try bats --tap "$here/cli"
if [ -d "$corpus" ]; then
	for format in full concise json jsonl sarif junit github gitlab rdjson \
		checkstyle markdown; do
		try "$build/gpugate" lint --isolated --no-ignore-vcs \
			--preset all --fail-on never --format "$format" "$corpus"
	done
else
	echo "skip: $corpus is absent"
fi
echo "sanitize $1: $pass passed, $fail failed"
[ "$fail" -eq 0 ]
