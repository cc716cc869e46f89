#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The corpus written in other ways: the same findings at the right places.
# `make check` does the same with the examples of the rules.
# usage: check-twins.sh BUILD
set -eu
corpus=${GPUGATE_SHARED:-../shared}/corpus
[ -d "$corpus" ] || {
	echo "skip: $corpus is absent"
	exit 0
}
python3 "$(dirname "$0")/twins.py" "$1" "$corpus"
