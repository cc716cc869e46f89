#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Repairs of real manifests: with every safe repair on, and with every repair
# there is and a policy that gives all opt-in values. See fix.py for what is
# asked of them.
# usage: check-fix.sh BUILD
set -u
LC_ALL=C
export LC_ALL
here=$(dirname "$0")
gpugate=$(realpath "$1/gpugate") || exit 2
shared=${GPUGATE_SHARED:-../shared}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
set -- "$here/rules"
for folder in corpus seeds; do
	if [ -d "$shared/$folder" ]; then
		set -- "$@" "$shared/$folder"
	else
		echo "skip: $shared/$folder is absent"
	fi
done
status=0
python3 "$here/fix.py" "$gpugate" "$out/safe" "$@" -- || status=1
python3 "$here/fix.py" "$gpugate" "$out/unsafe" "$@" -- \
	--unsafe-fixes --config "$here/fix-policy.yaml" || status=1
exit $status
