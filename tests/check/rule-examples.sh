#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The examples of `gpugate explain`, as somebody would copy them: each rule
# reports the lines marked `# flagged` and no others (rule_examples.py).
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
python3 "$tests/check/rule_examples.py" "$gpugate" "$tests/rules"
