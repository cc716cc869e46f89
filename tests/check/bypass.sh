#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that the linter and the webhook deny each manifest that tries to bypass
# them, and accept the harmless variants. See tests/bypass/README.md.
#
# usage: bypass.sh GPUGATE [CASE...]   CASE: part of a case's name
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
shift
command -v python3 >/dev/null ||
	{ echo 'skip: no python3 for the bypass cases'; exit 0; }
python3 -B "$tests/bypass/check.py" "$gpugate" "$tests/bypass" "$work" "$@"
