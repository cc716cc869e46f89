#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks the position of findings about admission policies: in the failing cases
# of a public library of policies, another value at the position makes the
# validation true in 98 of 100 cases.
#
# usage: positions.sh [BUILD]   ONLY=C-0046: one policy
# Prints why it is skipped if the shared folder or PyYAML is missing.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$shared/suites/vap"
need_pyyaml
if "$python" "$tests/check/positions.py" "$gpugate" "$shared/suites/vap" \
	"$work"; then
	pass=1
else
	fail=1
fi
finish positions
