#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The YAML reader against what kubectl makes of the same bytes (its splitter,
# sigs.k8s.io/yaml, encoding/json; see tests/oracle/yaml.go).
#   corpus      every file: no difference
#   suite       every case of yaml-test-suite: the differences listed in
#               yaml-differences.txt and no others
#   random      random documents, half of them broken: kinds of difference
#               that are listed
#
# usage: check-yaml.sh [BUILD]     COUNT=random texts  SEED=of them
# Without the shared folder or without Go >= 1.26 what needs it is skipped
# aloud.
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../build}" && pwd) || exit 2
shared=${GPUGATE_SHARED:-$here/../../shared}
suite=$shared/suites/yaml-test-suite/src
dump=$build/tests/tools/doc_dump
oracle=$build/tests/oracle/oracle
list=$here/yaml-differences.txt
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
pass=0 fail=0

say_fail() {
	fail=$((fail + 1))
	echo "FAIL $1" >&2
}

# Folder: differences into found, number of files into n.
compare() {
	"$oracle" yaml-compare "$dump" "$1" >"$work/all" || exit 2
	n=$(sed -n 's/^files //p' "$work/all")
	grep -v '^files ' "$work/all" >"$work/found"
}

check_corpus() {
	compare "$shared/corpus"
	[ "$n" -ge 850 ] || say_fail "$n files in the corpus"
	if [ -s "$work/found" ]; then
		say_fail "corpus: read in another way than kubectl reads it:"
		head -n 20 "$work/found" >&2
	else
		pass=$((pass + n))
	fi
}

check_suite() {
	mkdir "$work/suite"
	"$oracle" yaml-suite "$suite" "$work/suite" >/dev/null || exit 2
	compare "$work/suite"
	[ "$n" -eq 406 ] || say_fail "$n cases in the suite, not 406"
	cut -f1,2 "$work/found" | sort >"$work/cases"
	grep -v -e '^#' -e '^random' "$list" | cut -f1,2 | sort >"$work/listed"
	if diff "$work/listed" "$work/cases" >"$work/diff"; then
		pass=$((pass + n))
	else
		say_fail "suite: listed (<), found (>):"
		cat "$work/diff" >&2
	fi
}

# Kinds of difference: errors without their numbers.
check_random() {
	count=${COUNT:-20000} seed=${SEED:-1}
	mkdir "$work/random"
	"$oracle" yaml-mutate "$work/random" "$count" "$seed" || exit 2
	compare "$work/random"
	[ "$n" -eq "$count" ] || say_fail "$n random texts, not $count"
	sed 's/[0-9]*\t\([a-z]*\)/random\t\1/
		s/\terror [0-9]*:[0-9]*: /\t/
		s/line [0-9][0-9]*/line N/
		s/^random\t\([a-z]*\)\t\(.*\)/random: \2\t\1/' "$work/found" |
		sort >"$work/kinds"
	grep '^random' "$list" | cut -f1,2 | sort >"$work/listed"
	if sort -u "$work/kinds" | comm -23 - "$work/listed" |
		grep . >"$work/diff"; then
		say_fail "random (seed $seed): kinds that are not listed:"
		cat "$work/diff" >&2
		grep differs "$work/found" | head >&2
	else
		pass=$((pass + count))
	fi
	# Else the texts would not test much.
	[ "$(wc -l <"$work/found")" -lt $((count / 20)) ] ||
		say_fail "$(wc -l <"$work/found") of $count random texts differ"
}

go_is_new() {
	version=$(go env GOVERSION 2>/dev/null) || return 1
	printf '%s\n' go1.26 "$version" | sort -CV
}

[ -x "$dump" ] || { echo "check-yaml: build $dump first" >&2; exit 2; }

if go_is_new; then
	if "$here/oracle/build.sh" "$build"; then
		if [ -d "$shared/corpus" ]; then
			check_corpus
		else
			echo "skip: corpus: no folder $shared/corpus"
		fi
		if [ -d "$suite" ]; then
			check_suite
		else
			echo "skip: yaml-test-suite: no folder $suite"
		fi
		check_random
	else
		say_fail "the oracle does not build"
	fi
else
	echo "skip: comparison with kubectl's reading: no Go >= 1.26"
fi

echo "yaml: $pass passed, $fail failed"
[ "$fail" -eq 0 ]
