#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that unrelated edits reopen no baselined finding.
# usage: baseline.sh BUILD [NUMBER [SEED]]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
folder=$corpus
if [ ! -d "$folder" ]; then
	echo "skip: no corpus at $folder: the rules' examples"
	folder=tests/rules
fi
python3 "$tests/check/baseline.py" "$build" "$folder" "$work" "${2:-200}" \
	"${3:-1}"
