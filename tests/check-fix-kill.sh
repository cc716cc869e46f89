#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is left of a repair that is killed, finds the disk full, or may not
# write: whole files, old or new. See fix_kill.py.
# usage: check-fix-kill.sh BUILD [KILLS]
set -u
LC_ALL=C
export LC_ALL
here=$(dirname "$0")
gpugate=$(realpath "$1/gpugate") || exit 2
out=$(mktemp -d)
trap 'umount "$out/full" 2>/dev/null; rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
python3 "$here/fix_kill.py" "$gpugate" "$here/rules" "$out" "${2-220}"
