#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Repairs of real manifests: with every safe repair on, and with every repair
# there is and a policy that gives all opt-in values. See fix.py for what is
# asked of them.
# usage: fix.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
set -- "$tests/rules"
for folder in corpus seeds; do
	if [ -d "$shared/$folder" ]; then
		set -- "$@" "$shared/$folder"
	else
		echo "skip: $shared/$folder is absent"
	fi
done
status=0
python3 "$tests/check/fix.py" "$gpugate" "$work/safe" "$@" -- || status=1
python3 "$tests/check/fix.py" "$gpugate" "$work/unsafe" "$@" -- \
	--unsafe-fixes --config "$tests/check/fix-policy.yaml" || status=1
exit $status
