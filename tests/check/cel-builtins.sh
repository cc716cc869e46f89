#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares rules of the catalog with their versions in CEL
# (rules/catalog/*/*.cel). Both must find the same in the rules' examples and
# in the corpus. cel-go, with the policies of deploy/vap, must deny the same
# objects.
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

judge=-
if ! python3 -c 'import yaml' 2>/dev/null; then
	skip 'no python3-yaml: cel-go judges no policy of deploy/vap'
elif ! go_is_new; then
	skip 'no Go >= 1.26: cel-go judges no policy of deploy/vap'
elif "$tests/oracle/build.sh" "$build"; then
	judge=$oracle
else
	say_fail "the oracle does not build"
fi

compare() {
	"$root/rules/catalog/cel.sh" "$work/cel" || return
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\ncustom: ["%s"]\n' \
		"$work/cel/*/*.cel" >"$work/policy.yaml"
	(cd "$work" && python3 "$tests/check/cel-builtins.py" \
		"$gpugate" "$judge" "${paths[@]}") >"$work/log" || return
	! grep -vE '^[0-9]+ rules, ' "$work/log"
}
check cel-builtins compare
check deploy/vap "$gpugate" lint --isolated --fail-on info deploy/vap
tail -n 1 "$work/log"
finish cel-builtins
