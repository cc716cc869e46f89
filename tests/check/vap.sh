#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks the policies of a public library under `lint --admission-policy`: the
# verdict on each object of its suite must be the API server's. Also checks
# that the validation rules of operators' CRDs, which API servers accept,
# compile under their schemas.
#
# usage: vap.sh [BUILD]   ONLY=C-0046: one policy  KEEP=1: show the files
# Prints why it is skipped if the shared folder or python3-yaml is missing.
set -u
build=${1:-build}
tests=$(dirname "$(dirname "$0")")
suite=$tests/../../shared/suites/vap
if [ ! -d "$suite" ]; then
	echo "skip: no $suite"
	exit 0
fi
if ! python3 -c 'import yaml' 2>/dev/null; then
	echo "skip: no python3-yaml"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
crds=$tests/../../shared/crds
rules=$(grep -rhc 'rule:' "$crds" 2>/dev/null | awk '{n += $1} END {print n + 0}')
if [ "$rules" -lt 100 ]; then
	echo "skip: no CRDs in $crds"
else
	: >"$work/empty.yaml"
	"$build/gpugate" lint -q --isolated --admission-policy "$crds" \
		"$work/empty.yaml" || exit 1
	echo "CRDs: their rules compile ($rules lines)"
fi
python3 "$tests/check/vap.py" "$build/gpugate" "$suite" "$work"
