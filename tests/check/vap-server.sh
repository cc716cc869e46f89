#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The suite of vap.sh before a real API server: which of all its policies
# deny each object of its cases, and what each failing validation says, is the
# same as under `lint --admission-policy`.
#
# usage: vap-server.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$shared/suites/vap"
need_pyyaml
need_control_plane
"$python" "$tests/check/vap_server.py" "$gpugate" "$shared/suites/vap" \
	"$CONTROL_PLANE_DIR" "$work"
