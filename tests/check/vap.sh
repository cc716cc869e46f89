#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Policies of a public library under `lint --admission-policy`: the verdict on
# each object of its suite is the API server's.
#
# usage: vap.sh [BUILD]   ONLY=C-0046: one policy  KEEP=1: show the files
# Skipped aloud without the shared folder or without python3-yaml.
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
python3 "$tests/check/vap.py" "$build/gpugate" "$suite" "$work"
