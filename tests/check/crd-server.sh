#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the validation rules of CustomResourceDefinitions with a real API
# server that has the definitions, on objects that break the rules: the
# messages must be the same.
#
# usage: crd-server.sh [BUILD]     SEED=seed of the objects
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$shared/crds"
need_pyyaml
need_control_plane --crds
"$python" "$tests/check/crd_server.py" "$gpugate" "$CONTROL_PLANE_DIR" \
	"$shared/crds" "$work" "${SEED:-1}"
