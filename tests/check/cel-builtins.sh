#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Rules of the catalogue that are in CEL as well (rules/catalog/*/*.cel): both
# find the same, over the rules' own examples and the corpus.
#
# usage: cel-builtins.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
paths=("$tests/rules")
if [ -d "$corpus" ]; then
	paths+=("$corpus")
else
	skip "$corpus is absent"
fi

compare() {
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\ncustom: ["%s"]\n' \
		"$root/rules/catalog/*/*.cel" >"$work/policy.yaml"
	(cd "$work" && python3 "$tests/check/cel-builtins.py" \
		"$gpugate" "${paths[@]}") >"$work/log" || return
	! grep -vE '^[0-9]+ rules, ' "$work/log"
}
check cel-builtins compare
tail -n 1 "$work/log"
finish cel-builtins
