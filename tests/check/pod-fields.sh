#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Defects are found wherever a kind keeps the field (pod_fields.py, which takes
# the places from pod-fields.yaml and from the rows of kinds.txt). usage: pod-fields.sh BUILD [-v]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need_pyyaml
"$python" "$tests/check/pod_fields.py" "$gpugate" \
	"$tests/check/pod-fields.yaml" \
	"$tests/../rules/kube/data/kinds.txt" "$work" "${@:2}"
