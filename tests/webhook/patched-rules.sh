#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules of a policy with which the webhook patches what `lint --fix` repairs
# without a policy: previews are switched on by name only.
# usage: patched-rules.sh GPUGATE
"$1" rules --format json | python3 -c '
import json, sys
for rule in json.load(sys.stdin)["rules"]:
    if rule["repair"] == "safe" and not rule["preview"]:
        print("  %s: {action: patch}" % rule["name"])'
