#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Values of the wrong shape, in manifests, reviews and states: see confused.py.
# usage: check-confused.sh BUILD [PART...]
set -u
here=$(dirname "$0")
corpus=${GPUGATE_SHARED:-$here/../../shared}/corpus
build=$1
shift
[ -d "$corpus" ] || { echo "skip: no corpus at $corpus"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/confused.py" "$build" "$corpus" "$work" "$@"
