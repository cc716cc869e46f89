#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What lint passes, the webhook allows, and nothing else.
# usage: equivalence.sh BUILD [NUMBER [SEED]]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
folder=$corpus
if [ ! -d "$folder" ]; then
	echo "skip: no corpus at $folder: the rules' examples"
	folder=tests/rules
fi
python3 tests/webhook/equivalence.py "$build" "$folder" "$work" "${2:-1000}" \
	"${3:-1}"
