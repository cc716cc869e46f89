#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the steps that run.sh wrote into folders of logs, the slowest first,
# then the line of totals. A folder without results belongs to a run that was
# interrupted, and counts as one failure. CPU seconds are shown because they do not
# grow with the load of the machine.
# usage: table.sh LOGS...
for logs; do
	if [ -f "$logs/steps" ]; then
		cat "$logs/steps"
	else
		printf '%s 0 1 0 0 0\n' "$logs-was-not-run"
	fi
done | sort -k5,5nr | awk '
	BEGIN { printf "%8s %6s %7s %7s %8s  step\n", "seconds", "cpu",
		"passed", "failed", "skipped" }
	{ printf "%8d %6d %7d %7d %8d  %s\n", $5, $6, $2, $3, $4, $1
	  p += $2; f += $3; s += $4 }
	END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'
