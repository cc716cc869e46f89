#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A README whose generated parts are what the program's own catalogue says: the
# lines between `<!-- repairs: ... -->` or `<!-- rules: ... -->` and the
# `<!-- end of ... -->` of the same name. The rest is written by hand.
# usage: tables.sh GPUGATE README
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Without its title: the README has one.
"$1" rules --format markdown | sed 1,2d >"$work/rules"
{
	echo '| rule | repair | flags |'
	echo '|---|---|---|'
	awk -F ' \\| ' '/^\| `/ && $4 != "" {
		sub(/^\| /, "", $1)
		sub(/ \|$/, "", $5)
		print "| " $1 " | " $4 " | " $5 " |" }' "$work/rules" | sort
} >"$work/repairs"
awk -v work="$work" '
	/^<!-- (repairs|rules): / {
		print
		name = substr($2, 1, length($2) - 1)
		while ((getline line <(work "/" name)) > 0)
			print line
		skip = 1
		next
	}
	/^<!-- end of (repairs|rules) -->$/ { skip = 0 }
	!skip' "$2"
