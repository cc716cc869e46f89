# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Counting, for checks that are written in bash: source this file. $work is a
# folder of theirs.
pass=0 fail=0 skipped=0

# check NAME COMMAND...: counts, and shows the last words of what fails: its
# own, and what it was about in $work/log.
check() {
	local name=$1
	shift
	if "$@" >"$work/check.log" 2>&1; then
		pass=$((pass + 1))
		return
	fi
	fail=$((fail + 1))
	echo "FAIL $name: $*" | cut -c1-2000
	cat "$work/check.log" "$work/log" 2>/dev/null | tail -n 30 |
		cut -c1-2000 | sed 's/^/    /'
}

skip() {
	skipped=$((skipped + 1))
	echo "skip: $1"
}

# finish NAME: the sum, and the exit.
finish() {
	echo "$1: $pass passed, $fail failed, $skipped skipped"
	[ "$fail" -eq 0 ]
	exit
}
