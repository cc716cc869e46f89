#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares our CEL with cel-go in the environment of Kubernetes 1.37. Every case
# of CEL's conformance suite and every random expression over objects must have
# the same value, error, cost and rejection, except for the differences listed
# in cel-differences.txt. Without cel-go, the cases are compared with the
# suite's expectations.
#
# usage: cel.sh [BUILD]     COUNT=random expressions  SEED=their seed
# Without the suite or without Go >= 1.26 the parts that need it are
# skipped with a message.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
suite=$shared/suites/cel
ours=$build/tests/tools/cel_answers
[ -x "$ours" ] || { echo "cel: build $ours first" >&2; exit 2; }

have_go=
if go_is_new; then
	"$tests/oracle/build.sh" "$build" && have_go=yes ||
		say_fail "the oracle does not build"
else
	echo 'skip: comparison with cel-go: no Go >= 1.26'
fi

# compare NAME: evaluates $work/NAME.cases with gpugate and, if there is Go, with
# cel-go, and compares the answers. The last line of cel_compare.py is `PASSED FAILED`.
compare() {
	"$ours" <"$work/$1.cases" >"$work/$1.ours" || say_fail "$1: it ended"
	[ -z "$have_go" ] || "$oracle" cel <"$work/$1.cases" >"$work/$1.go" ||
		say_fail "$1: the oracle ended"
	python3 "$tests/check/cel_compare.py" "$work/$1" \
		"$tests/check/cel-differences.txt" ${have_go:+"$oracle"} \
		>"$work/$1.log"
	sed '$d' "$work/$1.log" >&2
	read -r good bad < <(tail -n 1 "$work/$1.log")
	pass=$((pass + good))
	fail=$((fail + bad))
}

if [ -d "$suite" ]; then
	python3 "$tests/check/cel_suite.py" "$suite" "$work/suite.cases" \
		"$work/suite.expected" || exit 2
	compare suite
	[ "$(grep -c '^ok' "$work/suite.ours")" -ge 1230 ] ||
		say_fail 'fewer than 1,230 cases of the suite have a value'
else
	echo "skip: the conformance suite: no folder $suite"
fi

if [ -n "$have_go" ]; then
	count=${COUNT:-20000}
	python3 "$tests/check/cel_random.py" "$count" "${SEED:-1}" \
		>"$work/random.cases" || exit 2
	compare random
fi

finish cel
