#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests objects that were created a moment ago, on a real API server under
# load: no object is denied because the state lacks them.
# usage: absence.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
. tests/control-plane/control-plane.sh
. tests/webhook/account.sh
trap 'control_plane_stop; rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
[ -d "$shared/crds" ] || { echo 'skip: absences (no CRDs)'; exit 0; }
status=0
control_plane_start "$work/cluster" --crds || status=$?
[ $status != 77 ] || { echo 'skip: absences (no Go)'; exit 0; }
[ $status = 0 ] || exit 1
account_make deploy/components/cluster-state/rbac.yaml || exit 1
python3 tests/webhook/absence.py "$gpugated" "$work/cluster" \
	"$(control_plane_free_port)" "$(control_plane_free_port)"
