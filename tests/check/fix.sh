#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fixes real manifests, once with every safe fix, and once with every fix and a
# policy that gives all opt-in values. fix.py lists the checks. fix_pairs.py
# tests fixes beside other findings, fix_shapes.py fixable rules in unusual
# shapes.
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
python3 "$tests/check/fix_pairs.py" "$gpugate" "$tests/rules" \
	"$tests/check/fix-policy.yaml" || status=1
# fix_shapes.py also compares verdicts of the API server, if it can be started.
# shellcheck source=tests/control-plane/control-plane.sh
. "$tests/control-plane/control-plane.sh"
kubectl=()
at_exit=control_plane_stop
rc=0
control_plane_start "$work/plane" || rc=$?
case $rc in
0) kubectl=("$CONTROL_PLANE_BIN/kubectl" --cache-dir "$work/kubectl"
	--kubeconfig "$work/plane/admin.kubeconfig") ;;
77) echo 'skip: no control plane here' ;;
*) exit 1 ;;
esac
python3 "$tests/check/fix_shapes.py" "$gpugate" "$tests/rules" "$work" \
	"${kubectl[@]}" || status=1
exit $status
