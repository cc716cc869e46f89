#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What rules claim the API server refuses, against what a real one answered:
# to small objects made for it, and to every document of the corpus.
# Disagreements are listed, with their reasons, in tests/api-server.txt.
set -u
here=$(dirname "$0")
shared=${GPUGATE_SHARED:-../shared}
[ -f "$shared/reference/api-server-verdicts.tsv" ] || {
	echo "skip: $shared/reference/api-server-verdicts.tsv is absent"
	exit 0
}
python3 "$here/api_server.py" "$1/gpugate" "$shared" "$here/api-server.txt"
