#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that a real API server rejects the fixtures in which a rule reports an
# error, or their pods, and accepts others. tests/check/receipts.tsv lists the
# rules.
#
# usage: receipts.sh [BUILD [RULE...]]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need_pyyaml
need_control_plane --crds --disable-admission-plugins=ServiceAccount
"$python" "$tests/check/receipts.py" "$gpugate" "$CONTROL_PLANE_DIR" \
	"$tests/rules" "$tests/check/receipts.tsv" "${@:2}"
