#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the expressions that `gpugate rules --format vap` exports deny the
# same objects as the rules, in the environment of Kubernetes 1.36.
#
# usage: export.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
if ! python3 -c 'import yaml' 2>/dev/null; then
	echo "skip: no python3-yaml"
	exit 0
fi
if ! go_is_new; then
	echo 'skip: no Go >= 1.26'
	exit 0
fi
"$tests/oracle/build.sh" "$build" || say_fail "the oracle does not build"

judge() {
	cd "$work" || return
	cp "$tests/check/export-rules.yaml" rules.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\ncustom: [rules.yaml]\n' \
		>.gpugate.yaml
	python3 "$tests/check/export.py" "$gpugate" "$oracle" >log || return
	! grep -E '^(only|not) ' log && grep -q '^1512 verdicts' log
}
check export judge
finish export
