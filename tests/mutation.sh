#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mutation check: if a rule is switched off, its tests must fail. Checks this
# for each rule.
# usage: mutation.sh GPUGATE [RULE]
set -u
here=$(dirname "$0")
gpugate=$1
pass=0 fail=0
for folder in "$here"/rules/${2:-*}/; do
	rule=$(basename "$folder")
	"$here"/run-rules.sh --ignore "$rule" "$gpugate" "$folder" >/dev/null 2>&1
	passes=$? should=1
	# invalid-syntax cannot be switched off, so its tests still pass.
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
