#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The linter, the KRM function and the webhook say the same of every object of
# the corpus, with the cluster's state and with rules of one's own, too.
# usage: parity.sh BUILD [plain|state|rules]...
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
set -e
need "$corpus"
work=${PARITY_WORK:-$(mktemp -d)}; mkdir -p "$work"
[ "${PARITY_WORK:-}" ] || trap 'rm -rf "$work"' EXIT

# What `lint --fix` repairs by itself the webhook patches under this policy.
{
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\nrules:\n'
	tests/webhook/patched-rules.sh "$build/gpugate"
} >"$work/policy.yaml"
status=0
shift
[ $# -gt 0 ] || set -- plain state rules
for mode; do
	python3 tests/webhook/parity.py "$build" "$corpus" "$work" \
		"${mode/plain/}" || status=1
done
exit $status
