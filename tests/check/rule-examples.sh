#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the examples of `gpugate explain` as a user would copy them: each rule
# reports the lines marked `# flagged` and no others (rule_examples.py).
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
python3 "$tests/check/rule_examples.py" "$gpugate" "$tests/rules"
