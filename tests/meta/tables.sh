#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the README with its table of fixes generated from the program's
# catalog: the lines between `<!-- repairs: ... -->` and `<!-- end of repairs
# -->`. The rest is written by hand.
# usage: tables.sh GPUGATE README
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
	echo '| rule | fix | flags |'
	echo '|---|---|---|'
	"$1" rules --format markdown | awk -F ' \\| ' '/^\| `/ && $4 != "" {
		sub(/^\| /, "", $1)
		sub(/ \|$/, "", $5)
		print "| " $1 " | " $4 " | " $5 " |" }' | sort
} >"$work/repairs"
awk -v table="$work/repairs" '
	/^<!-- repairs: / {
		print
		while ((getline line <table) > 0)
			print line
		skip = 1
		next
	}
	/^<!-- end of repairs -->$/ { skip = 0 }
	!skip' "$2"
