#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the answers of lint, lint --fix, krm and the webhook, for the corpus
# and for objects changed at random. tests/webhook/same_answer.py lists the
# settings.
# usage: [OBJECTS=300] [SEED=1] [EVERY=1] [WORK=FOLDER] same-answer.sh BUILD
#        SETTING...
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
folder=$corpus
if [ ! -d "$folder" ]; then
	echo "skip: no corpus at $folder: the rules' examples"
	folder=tests/rules
fi
shift
mkdir -p "${WORK:=$work}"
python3 tests/webhook/same_answer.py "$build" "$folder" "$WORK" \
	"${OBJECTS:-300}" "${SEED:-1}" "${EVERY:-1}" "$@"
