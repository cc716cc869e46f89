#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that defects are found in every place where a kind has the field
# (pod_fields.py, which reads the places from pod-fields.yaml and from the rows
# of kinds.txt).
# usage: pod-fields.sh BUILD [-v]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need_pyyaml
"$python" "$tests/check/pod_fields.py" "$gpugate" \
	"$tests/check/pod-fields.yaml" \
	"$tests/../rules/kube/data/kinds.txt" "$work" "${@:2}"
