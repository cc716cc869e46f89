#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the YAML reader with the code by which kubectl reads the same bytes (its
# splitter, sigs.k8s.io/yaml, encoding/json; see tests/oracle/yaml.go).
#   corpus      every file: no difference
#   suite       every case of yaml-test-suite: the differences listed in
#               yaml-differences.txt and no others
# yaml-random.sh compares random texts.
#
# usage: yaml.sh [BUILD]
# Without the shared folder or without Go >= 1.26 the parts that need it
# are skipped with a message.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
suite=$shared/suites/yaml-test-suite/src
dump=$build/tests/tools/doc_dump
list=$tests/check/yaml-differences.txt

# compare FOLDER: writes the differences to $work/found, and sets n to the
# number of files.
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

[ -x "$dump" ] || { echo "yaml: build $dump first" >&2; exit 2; }

if go_is_new; then
	if "$tests/oracle/build.sh" "$build"; then
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
	else
		say_fail "the oracle does not build"
	fi
else
	echo "skip: comparison with kubectl's reading: no Go >= 1.26"
fi

finish yaml
