#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Manifests that try to get GPUs past the gate: both doors must deny each of
# them, and let the good twins through. See tests/bypass/README.md.
#
# usage: check-bypass.sh GPUGATE [CASE...]   CASE: part of a case's name
set -u
here=$(cd "$(dirname "$0")" && pwd)
gpugate=$1
shift
command -v python3 >/dev/null ||
	{ echo 'skip: no python3 for the bypass cases'; exit 0; }
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
python3 -B "$here/bypass/check.py" "$gpugate" "$here/bypass" "$tmp" "$@"
