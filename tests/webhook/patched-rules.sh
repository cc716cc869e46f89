#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules of a policy with which the webhook patches what `lint --fix` repairs
# without a policy: previews are switched on by name only, and of some rules the
# repair is safe for some pods, while the webhook makes all that are asked for.
# usage: patched-rules.sh GPUGATE
"$1" rules --format json | python3 -c '
import json, sys
at_times = {"job-replacement-double-claim"}
for rule in json.load(sys.stdin)["rules"]:
    if rule["repair"] == "safe" and not rule["preview"] and \
            rule["name"] not in at_times:
        print("  %s: {action: patch}" % rule["name"])'
