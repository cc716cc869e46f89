#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The README's table of repairs, out of the program's own catalogue.
# repairs.sh GPUGATE          print the table
# repairs.sh GPUGATE README   the README with its table as it should be
set -eu
table() {
	echo '| rule | repair | flags |'
	echo '|---|---|---|'
	"$1" rules --format markdown |
		awk -F ' \\| ' '/^\| `/ && $4 != "" {
			sub(/^\| /, "", $1)
			sub(/ \|$/, "", $5)
			print "| " $1 " | " $4 " | " $5 " |" }' | sort
}
if [ $# -eq 1 ]; then
	table "$1"
	exit
fi
table "$1" >"${TMPDIR:-/tmp}/repairs.$$"
awk -v table="${TMPDIR:-/tmp}/repairs.$$" '
	/^<!-- repairs: / { print; while ((getline line <table) > 0) print line
		skip = 1; next }
	/^<!-- end of repairs -->/ { skip = 0 }
	!skip' "$2"
rm -f "${TMPDIR:-/tmp}/repairs.$$"
