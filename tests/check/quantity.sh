#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares quantities with apimachinery's ParseQuantity: both must accept the
# same texts, with the same canonical text, Value and MilliValue. Cases are
# all combinations of the signs, numbers and suffixes in the oracle's lists,
# and random texts.
#
# usage: quantity.sh [BUILD]     COUNT=random texts  SEED=their seed
# Skips with a message if there is no Go >= 1.26.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
dump=$build/tests/tools/quantity_dump
count=${COUNT:-200000}
seed=${SEED:-1}

fail() {
	echo "quantity: $1" >&2
	echo "quantity: 0 passed, 1 failed"
	exit 1
}

[ -x "$dump" ] || { echo "quantity: build $dump first" >&2; exit 2; }
if ! go_is_new; then
	echo "skip: comparison with apimachinery: no Go >= 1.26"
	echo "quantity: 0 passed, 0 failed"
	exit 0
fi
"$tests/oracle/build.sh" "$build" ||
	fail "the oracle does not build"

"$oracle" quantity-cases "$count" "$seed" >"$work/cases" || exit 2
"$oracle" quantity <"$work/cases" >"$work/gos" || fail "the oracle stopped"
"$dump" <"$work/cases" >"$work/ours" || fail "quantity_dump stopped"

n=$(wc -l <"$work/cases")
good=$(grep -c '^ok' "$work/gos")
[ "$n" -gt "$count" ] && [ "$(wc -l <"$work/gos")" -eq "$n" ] &&
	[ "$(wc -l <"$work/ours")" -eq "$n" ] || fail "lines are missing"
[ "$good" -gt $((n / 4)) ] && [ "$good" -lt $((n * 19 / 20)) ] ||
	fail "$good of $n cases are quantities"

# The cases that differ: Go's result, gpugate's result, text.
paste "$work/gos" "$work/ours" "$work/cases" |
	awk -F '\t' '$1 != $2' >"$work/different"
bad=$(wc -l <"$work/different")
if [ "$bad" -gt 0 ]; then
	echo "FAIL apimachinery's, ours, text (seed $seed):" >&2
	head -n 20 "$work/different" >&2
fi
echo "quantity: $((n - bad)) passed, $bad failed"
[ "$bad" -eq 0 ]
