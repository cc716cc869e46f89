#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that --fix leaves complete files, old or new, if the program is
# killed, the disk is full or writing is not permitted. See fix_kill.py.
# usage: fix-kill.sh BUILD [KILLS]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
trap 'umount "$work/full" 2>/dev/null; rm -rf "$work"' EXIT
python3 "$tests/check/fix_kill.py" "$gpugate" "$tests/rules" "$work" "${2-220}"
