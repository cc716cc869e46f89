#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares patches of templates with apimachinery's strategicpatch: random
# templates and patches, with directives and nulls, must give the same pods.
# Only the order of items that are merged by a key may differ.
#
# usage: template.sh [BUILD]     COUNT=cases  SEED=their seed
# Skips with a message if there is no Go >= 1.26.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
dump=$build/tests/tools/template_dump

[ -x "$dump" ] || { echo "template: build $dump first" >&2; exit 2; }
if ! go_is_new; then
	echo "skip: comparison with apimachinery: no Go >= 1.26"
	exit 0
fi
"$tests/oracle/build.sh" "$build" || {
	echo 'template: 0 passed, 1 failed'
	exit 1
}
"$oracle" template-cases "${COUNT:-100000}" "${SEED:-1}" >"$work/cases" &&
	"$dump" <"$work/cases" >"$work/ours" &&
	"$oracle" template-compare <"$work/ours" | tee "$work/sum"
grep -q '^template: [1-9][0-9]* passed, 0 failed' "$work/sum"
