#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the findings of a first run (first_run.py).
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$corpus"
python3 "$tests/check/first_run.py" "$gpugate" "$build/tests/tools/object_dump" \
	"$corpus"
