#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The corpus written in other ways: the same findings at the right places.
# `make check` does the same with the examples of the rules.
# usage: twins.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
set -e
need "$corpus"
python3 "$tests/check/twins.py" "$build" "$corpus"
