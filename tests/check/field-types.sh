#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks field-type-invalid and quantity-invalid with values of a wrong type in
# objects of the corpus: a real API server rejects the reported ones and, for
# native kinds, no others. Also checks that custom_types.tsv has all fields of
# the operators' definitions, and that the server rejects the words, the missing
# fields and the values beyond a bound of operators' kinds that field-value-invalid
# and field-missing report.
#
# usage: field-types.sh [BUILD]     SEED=seed of the values
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$corpus"
need "$shared/crds"
need_pyyaml
check 'custom_types.tsv has the fields of the definitions' "$python" \
	"$tests/oracle/custom_types.py" --missing \
	"$root/rules/kube/data/custom_types.tsv" "$shared/crds"
need_control_plane --crds
for compare in field_types operator_values operator_bounds; do
	"$python" "$tests/check/$compare.py" "$gpugate" "$CONTROL_PLANE_DIR" \
		"$corpus" "$work" "${SEED:-1}" || fail=1
done
[ "$fail" -eq 0 ]
