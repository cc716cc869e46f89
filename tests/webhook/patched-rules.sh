#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules of a policy by which the door patches what `lint --fix` repairs.
# usage: patched-rules.sh GPUGATE
"$1" rules --format json | python3 -c '
import json, sys
for rule in json.load(sys.stdin)["rules"]:
    if rule["repair"] == "safe":
        print("  %s: {action: patch}" % rule["name"])'
