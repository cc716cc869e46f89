#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The corpus and the examples of the rules, written in other ways: the same
# findings at the right places.
# usage: rewritten-input.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
set -e
python3 "$tests/check/rewritten_input.py" "$build" tests/rules deploy/examples
need "$corpus"
python3 "$tests/check/rewritten_input.py" "$build" "$corpus"
