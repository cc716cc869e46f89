#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Objects changed at random say the same in the linter and the webhook, by seed.
# usage: mutants.sh BUILD [NUMBER [SEED]]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
set -e
folder=$corpus
if [ ! -d "$folder" ]; then
	echo "skip: mutants: no corpus at $folder: those of the rules' examples"
	folder=tests/rules
fi
work=${MUTANTS_WORK:-$(mktemp -d)}
mkdir -p "$work"
[ "${MUTANTS_WORK:-}" ] || trap 'rm -rf "$work"' EXIT

# Whatever can be repaired is patched, and what is left is denied.
{
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n'
	printf 'extends: [strict]\nrules:\n'
	tests/webhook/patched-rules.sh "$build/gpugate"
} >"$work/policy.yaml"
python3 tests/webhook/mutants.py "$build" "$folder" "$work" "${2:-300}" "${3:-1}"
