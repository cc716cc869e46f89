#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The validation rules of CustomResourceDefinitions on objects that break them:
# a real API server that has the definitions says the same of each.
#
# usage: crd-server.sh [BUILD]     SEED=of the objects
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$shared/crds"
need_pyyaml
need_control_plane --crds
"$python" "$tests/check/crd_server.py" "$gpugate" "$CONTROL_PLANE_DIR" \
	"$shared/crds" "$work" "${SEED:-1}"
