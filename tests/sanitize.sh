#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds with sanitizers in a separate folder and runs with that build the unit
# tests, the tests of the command line, objects with values of wrong types, and
# the whole corpus in every format. With the sanitizer `thread` alone, leaves
# out tests that use a single thread: most of the command line, the rules, the
# known ways past a rule, and the comparison of linter and webhook with objects
# changed at random.
# usage: sanitize.sh SANITIZERS BUILD
set -eu
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
build=$2
here=$(dirname "$0")
corpus=${GPUGATE_SHARED:-../shared}/corpus
make --no-print-directory SANITIZE="$1" BUILD="$build" -j2 all unit tools >/dev/null
pass=0 fail=0
# A test that fails without a sanitizer report may have missed a deadline in
# such a slow build: it is retried once, with a message.
try() {
	if "$@" >"$build/sanitize.out" 2>&1; then
		pass=$((pass + 1))
	elif ! grep -q 'Sanitizer\|runtime error' "$build/sanitize.out" &&
		echo "again: $*" && "$@" >"$build/sanitize.out" 2>&1; then
		pass=$((pass + 1))
	else
		fail=$((fail + 1))
		echo "FAIL $*"
		grep -A14 '^not ok' "$build/sanitize.out" || :
		tail -40 "$build/sanitize.out"
	fi
}
for test in "$build"/tests/unit/test_*; do
	[ -x "$test" ] && [ "${test%.d}" = "$test" ] && try "$test"
done
cli=("$here/cli")
[ "$1" != thread ] ||
	cli=("$here"/cli/{gpugated,lsp,output,render}.bats
		"$here"/cli/{secrets,snapshot,state,walk}.bats)
GPUGATE=$PWD/$build/gpugate try bats --tap "${cli[@]}"
try "$here/check/wrong-types.sh" "$build" manifests several reviews
if [ "$1" != thread ]; then
	try "$here/run-rules.sh" "$build/gpugate"
	try "$here/check/bypass.sh" "$build/gpugate"
	OBJECTS=500 SEED=7 EVERY=25 try "$here/check/same-answer.sh" "$build" \
		repairs state rules
fi
if [ -d "$corpus" ]; then
	for format in full concise json jsonl sarif junit github gitlab rdjson \
		markdown html openreports; do
		try "$build/gpugate" lint --isolated --no-ignore-vcs \
			--preset all --fail-on never --format "$format" "$corpus"
	done
else
	echo "skip: $corpus is absent"
fi
echo "sanitize $1: $pass passed, $fail failed"
[ "$fail" -eq 0 ]
