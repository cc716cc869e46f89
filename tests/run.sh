#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs steps, STEPS_AT_ONCE (2) at a time, and counts their results; prints a
# table and one line `N passed, N failed, N skipped` (table.sh). A step is
# `name=command`. Results of cmocka and bats are counted, and lines `...: N
# passed, N failed[, N skipped]`; a step that prints none of these counts as
# one test. A line that begins with `skip:` is one skipped test and is shown.
#
# usage: run.sh LOGS STEP...
set -u
logs=$1
shift
rm -rf "$logs"
mkdir -p "$logs"

run_step() {
	name=${1%%=*} command=${1#*=}
	begin=$(date +%s)
	sh -c "$command" >"$logs/$name.log" 2>&1 </dev/null
	echo $? >"$logs/$name.status"
	echo $(($(date +%s) - begin)) >"$logs/$name.seconds"
	times >"$logs/$name.times" # CPU times of this shell and of its children
}

# cpu FILE: prints the seconds in an output of `times`.
cpu() {
	awk '{ gsub(/[ms]/, " "); s += $1 * 60 + $2 + $3 * 60 + $4 }
		END { printf "%d\n", s + 0.5 }' "$1"
}

count() {
	awk -v status="$(cat "$2")" '
	/^\[  PASSED  \] [0-9]+ test/ { p += $4; said = 1; next }
	/^\[  FAILED  \] [0-9]+ test/ { f += $4; said = 1; next }
	/^ok [0-9]+ .*# skip/ { s++; said = 1; next }
	/^ok [0-9]+/ { p++; said = 1; next }
	/^not ok [0-9]+/ { f++; said = 1; next }
	/^skip:/ { s++; said = 1; next }
	match($0, /[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/) {
		split(substr($0, RSTART), w, /[ ,]+/)
		p += w[1]; f += w[3]; s += w[5]; said = 1 }
	END {
		if (!said) { if (status == 0) p = 1; else f = 1 }
		else if (status != 0 && !f) f = 1
		print p + 0, f + 0, s + 0 }' "$1"
}

running=0
for step; do
	run_step "$step" &
	running=$((running + 1))
	if [ "$running" -ge "${STEPS_AT_ONCE:-2}" ]; then
		wait -n 2>/dev/null || wait
		running=$((running - 1))
	fi
done
wait

for step; do
	name=${step%%=*}
	counted=$(count "$logs/$name.log" "$logs/$name.status")
	echo "$name $counted $(cat "$logs/$name.seconds") $(cpu "$logs/$name.times")"
	sed -n "s/^skip:/$name: skip:/p" "$logs/$name.log" >&3
	[[ $counted == *' 0 '* ]] || echo "$name" >&4
done 3>"$logs/skips" 4>"$logs/failures" >"$logs/steps"
cat "$logs/skips"
while read -r name; do
	echo "FAILED $name:"
	grep -A12 '^not ok' "$logs/$name.log" | head -n 60 | sed 's/^/    /'
	tail -n 60 "$logs/$name.log" | sed 's/^/    /'
done <"$logs/failures"
"$(dirname "$0")/table.sh" "$logs" >"$logs/table"
status=$?
sed '$d' "$logs/table"
# Repeats the failed steps, a line for each, so that a truncated log ends with them.
while read -r name; do
	echo "FAILED $name: $(grep -aiE 'not ok|fail|error|differ' \
		"$logs/$name.log" | head -n 2 | cut -c-200)"
done <"$logs/failures"
tail -n 1 "$logs/table"
exit $status
