#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rewrites the corpus and the examples of the rules in other styles: the same
# findings must be at the right places.
# usage: rewritten-input.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
set -e
python3 "$tests/check/rewritten_input.py" "$build" tests/rules deploy/examples
need "$corpus"
python3 "$tests/check/rewritten_input.py" "$build" "$corpus"
