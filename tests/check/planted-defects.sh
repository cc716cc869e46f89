#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that planted defects are found (planted_defects.py). usage:
# planted-defects.sh BUILD [-v]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$corpus"
need "$shared/crds"
need_pyyaml
"$python" "$tests/check/planted_defects.py" "$build" "$corpus" "$shared/crds" "$work" \
	"${@:2}"
