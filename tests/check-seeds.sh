#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The manifests of the guides this project began with: each is recognised,
# and the defects known in them are found.
set -u
seeds=${GPUGATE_SHARED:-../shared}/seeds
[ -d "$seeds" ] || {
	echo "skip: $seeds is absent"
	exit 0
}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
python3 "$(dirname "$0")/seeds.py" "$1" "$seeds" "$out"
