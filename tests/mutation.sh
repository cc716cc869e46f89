#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mutation check: with any one rule switched off, its own tests must fail.
# usage: mutation.sh GPUGATE [RULE]
set -u
here=$(dirname "$0")
gpugate=$1
pass=0 fail=0
for folder in "$here"/rules/${2:-*}/; do
	rule=$(basename "$folder")
	"$here"/run-rules.sh --ignore "$rule" "$gpugate" "$folder" >/dev/null 2>&1
	passes=$? should=1
	# Unreadable input is reported with any settings.
	[ "$rule" != invalid-syntax ] || should=0
	if [ $passes -ne $should ]; then
		echo "FAIL the tests of $rule end with $passes without the rule" >&2
		fail=$((fail + 1))
	else
		pass=$((pass + 1))
	fi
done
echo "mutation: $pass passed, $fail failed"
[ "$fail" -eq 0 ]
