#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the JSON Patch applier with json-patch-tests. Every enabled case must
# pass, and only the cases listed here may be disabled.
#
# usage: patch.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
suite=$shared/suites/json-patch-tests
dump=$build/tests/tools/edit_dump

# Cases that the suite leaves open: documents that are neither a map nor a list,
# two members with one name (the last counts, as for every reader of gpugate).
disabled() {
	cat <<-'END'
	disabled 10 Toplevel scalar values OK?: would pass
	disabled 56 Whole document: would pass
	disabled 85 duplicate ops: would fail
	disabled 13 A.13 Invalid JSON Patch Document: would pass
	END
}

# check_file FILE N: checks that its N enabled cases pass.
check_file() {
	answer=$("$dump" --suite "$suite/$1")
	if [ "$(echo "$answer" | tail -n 1 | cut -d, -f1,2)" = \
		"$2 passed, 0 failed" ]; then
		pass=$((pass + $2))
	else
		fail=$((fail + 1))
		echo "FAIL $1: not $2 cases that pass:" >&2
		echo "$answer" | grep -v '^disabled' >&2
	fi
	found="$found$(echo "$answer" | grep '^disabled')
"
}

[ -x "$dump" ] || { echo "patch: build $dump first" >&2; exit 2; }
if [ ! -d "$suite" ]; then
	echo "skip: json-patch-tests: no folder $suite"
	exit 0
fi
found=
check_file tests.json 92
check_file spec_tests.json 16
if [ "$found" != "$(disabled)
" ]; then
	fail=$((fail + 1))
	printf 'FAIL disabled cases are:\n%s' "$found" >&2
fi
finish json-patch
