#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks values of wrong types in manifests, reviews and states: see
# wrong_types.py.
# usage: wrong-types.sh BUILD [PART...]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
shift
need "$corpus"
python3 "$tests/check/wrong_types.py" "$build" "$corpus" "$work" "$@"
