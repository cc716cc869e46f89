#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Objects of the corpus before a real API server that has policies in force and
# knows the operators' kinds: what it makes of quantities, defaults and lists
# is what `lint --admission-policy` sees.
#
# usage: corpus-server.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$corpus"
need "$shared/crds"
need_pyyaml
need_control_plane --crds --disable-admission-plugins=ServiceAccount,Priority,RuntimeClass
"$python" "$tests/check/corpus_server.py" values "$gpugate" \
	"$CONTROL_PLANE_DIR" "$shared" "$work"
