#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks enumerations and required fields of Kubernetes' own kinds: a real API
# server rejects the objects that field-value-invalid and field-missing report,
# and the table of types has all marks that it confirms.
#
# usage: field-values.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
go_is_new || skip_all 'no Go >= 1.26'
"$tests/oracle/build.sh" "$build" || {
	say_fail 'the oracle does not build'
	finish field-values
}
need_pyyaml
need_control_plane
# The oracle reads the comments of the modules from which it is built.
oracle=$(realpath "$build/tests/oracle/oracle")
(cd "$tests/oracle" && "$oracle" native-types) |
	"$python" "$tests/check/field_values.py" "$gpugate" \
		"$CONTROL_PLANE_DIR" "$work"
