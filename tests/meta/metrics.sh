#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints sizes of functions and files, and fails if a limit is exceeded. Lines
# of the product's functions: median <= 15, p90 <= 40, none over 70. Lines of
# files, tests included: none over 600, in rules/catalog none over 300.
set -u
files=$(git ls-files '*.c' '*.h' | grep -v '^tests/oracle/')
functions=$(mktemp)
# shellcheck disable=SC2086
awk 'FNR == 1 { open = 0 }
	/^\{/ { open = 1; start = FNR; next }
	/^\}/ { if (open) { print FNR - start - 1, FILENAME ":" start; open = 0 } }' \
	$(git ls-files '*.c' | grep -v '^tests/') | sort -n >"$functions"
n=$(wc -l <"$functions")
nth() { sed -n "$(($1 + 1))p" "$functions" | cut -d' ' -f1; }
median=$(nth $((n / 2))) p90=$(nth $((n * 9 / 10)))
max=$(tail -1 "$functions" | cut -d' ' -f1)
echo "functions $n: median $median, p90 $p90, longest $(tail -3 "$functions" | tr '\n' ';')"
fail=0
[ "$median" -le 15 ] && [ "$p90" -le 40 ] && [ "$max" -le 70 ] || {
	echo 'function sizes exceed median 15, p90 40, max 70' >&2
	fail=1
}
lines=0 count=0
for file in $files; do
	l=$(wc -l <"$file")
	lines=$((lines + l)) count=$((count + 1))
	case $file in rules/catalog/*) limit=300 ;; *) limit=600 ;; esac
	[ "$l" -le "$limit" ] || {
		echo "$file: $l lines (at most $limit)" >&2
		fail=1
	}
done
echo "files $count, lines $lines"
for file in $(git ls-files 'tests/*.py' '*.sh' 'tests/*.go' '*.mk' Makefile); do
	[ "$(wc -l <"$file")" -le 600 ] || {
		echo "$file: more than 600 lines" >&2
		fail=1
	}
done
rm -f "$functions"
exit "$fail"
