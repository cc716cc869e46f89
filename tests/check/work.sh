#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the cost of linting grows with the file: twice the input takes at
# most 2.3 times the instructions, and the peak memory of large files is bounded
# (64 MB, unless a check gives another limit). A finding reports a file that is
# cut off.
#
# usage: work.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
command -v valgrind >/dev/null || { echo 'skip: no valgrind'; exit 0; }

instructions() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		"$gpugate" lint --isolated --format full -j1 "$1" \
		2>&1 >"$work/out" | sed -n 's/.*Collected : *//p'
}

# grows SHAPE N: compares N items with twice as many
grows() {
	local sums=() n
	for n in "$2" $(($2 * 2)); do
		python3 "$tests/check/work.py" make "$1" "$n" >"$work/in.yaml"
		sums+=("$(instructions "$work/in.yaml")")
	done
	echo "$1: ${sums[*]}"
	[ "${sums[0]}" -gt 1000000 ] &&
		[ $((sums[1] * 10)) -le $((sums[0] * 23)) ]
}

while read -r shape n; do
	check "twice as many $shape" grows "$shape" "$n"
done <<'END'
duplicates 12000
flow-duplicates 12000
containers 2000
volumes 1600
pods 1500
items 1500
comments 1500
classes 1500
priorities 1500
END

# small SHAPE N WORDS FORMAT [MB]: checks peak memory and output of a large file
small() {
	python3 "$tests/check/work.py" make "$1" "$2" >"$work/in.yaml"
	python3 "$tests/check/work.py" peak "${5:-64}" "$gpugate" lint --isolated -j1 \
		--format "$4" "$work/in.yaml" >"$work/log" &&
		grep -q "$3" "$work/log"
}
for format in concise full sarif html; do
	check "2 MB of duplicate keys, $format" small duplicates 300000 \
		'is not checked' "$format"
	check "85,000 containers, $format" small containers 85000 \
		'too long to check' "$format" 70
	check "62,000 Pods with findings, $format" small pods 62000 \
		'is not checked' "$format" 160
done
check '4,000 claims, none of the 4,000 classes' small classes 4000 \
	'Skipped.*dra-class-unknown' full
check '257 replicatedJobs' small jobs 257 \
	'Skipped.*jobset-target-unknown' full
check '101 subgroups' small subgroups 101 'Skipped.*kai-rejects' full
check 'a pool and 2,001 servers' small servers 2001 \
	'Skipped.*server-port-mismatch' full

# With more findings than are kept, the same ones are shown for any number of
# threads, one finding reports that there are more, and the exit status is 2.
mkdir "$work/many"
python3 "$tests/check/work.py" make duplicates 12000 >"$work/in.yaml"
for i in $(seq 1000 1203); do
	ln "$work/in.yaml" "$work/many/$i.yaml"
done
many() { # JOBS
	"$gpugate" lint --isolated "-j$1" --format concise "$work/many" \
		>"$work/many-$1" 2>"$work/log"
	[ $? -eq 2 ] && [ "$(grep -c 'those of later files' "$work/many-$1")" = 1 ] &&
		grep '^.*1199.yaml:.*2000000 findings; those of later files' \
			"$work/many-$1" && ! grep -q 1200.yaml "$work/many-$1"
}
same() { cmp "$work/many-1" "$work/many-2"; }
check 'more findings than are kept' many 1
check 'and with two threads' many 2
check 'they are the same' same
finish work
