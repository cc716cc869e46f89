#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the YAML reader with kubectl's, like yaml.sh, on COUNT random texts
# (tests/oracle/yaml_random.go): YAML and JSON of all styles, many of them broken,
# in UTF-8 and UTF-16, and the corpus's manifests with changes. The kinds of
# difference must be those listed in yaml-differences.txt, and each example there
# must show its own kind.
#
# usage: [COUNT=N] [SEED=N] yaml-random.sh [BUILD]
# A million texts take about two minutes on two cores. Prints a line "skip:" if
# nothing is compared (without Go >= 1.26), or if no manifests are changed
# (without the shared folder).
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
dump=$build/tests/tools/doc_dump
list=$tests/check/yaml-differences.txt
count=${COUNT:-200000} seed=${SEED:-1}
fail=0

# Compares the differences found (columns kind, detail, number, examples) with
# the list, whose lines are "random: DETAIL" and the kind.
check_random() {
	"$oracle" yaml-random "$dump" "$count" "$seed" "$corpus" \
		>"$work/found" || exit 2
	grep -qx "texts $count" "$work/found" ||
		say_fail "not all of $count texts were compared"
	grep '^random' "$list" | cut -f1,2 >"$work/listed"
	awk -F'\t' 'NR == FNR { listed[$0] = 1; next }
		/^texts / { next }
		!(("random" ($2 ? ": " $2 : "") "\t" $1) in listed)
		{ n += $3 }
		END { print n + 0 >"/dev/stderr" }' \
		"$work/listed" "$work/found" >"$work/new" 2>"$work/n"
	if [ -s "$work/new" ]; then
		say_fail "kinds that are not listed (seed $seed):"
		cat "$work/new" >&2
	fi
	read -r differ <"$work/n"
	echo "yaml-random: $differ of $count texts differ as listed"
	# With more differences, the texts would test little.
	[ "$differ" -lt $((count / 10)) ] || say_fail "$differ texts differ"
}

check_examples() {
	"$oracle" yaml-examples "$dump" "$list" >"$work/stale" || exit 2
	if [ -s "$work/stale" ]; then
		say_fail "examples that show another difference:"
		cat "$work/stale" >&2
	fi
}

[ -x "$dump" ] || { echo "yaml-random: build $dump first" >&2; exit 2; }

if ! go_is_new; then
	echo "skip: comparison with kubectl's reading: no Go >= 1.26"
	exit 0
fi
"$tests/oracle/build.sh" "$build" || { echo "no oracle" >&2; exit 1; }
if ! [ -d "$corpus" ]; then
	echo "skip: changed manifests: no folder $corpus"
	corpus=
fi
check_random
check_examples
echo "yaml-random: $count texts, seed $seed, $fail failed"
[ "$fail" -eq 0 ]
