#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the suite of vap.sh with a real API server: each object of its cases must
# be denied by the same policies, with the same message of each failing
# validation, as under `lint --admission-policy`.
#
# usage: vap-server.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$shared/suites/vap"
need_pyyaml
need_control_plane
"$python" "$tests/check/vap_server.py" "$gpugate" "$shared/suites/vap" \
	"$CONTROL_PLANE_DIR" "$work"
