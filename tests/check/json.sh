#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the JSON reader with JSONTestSuite and with Go's encoding/json.
#   y_  every file must be accepted
#   n_  every file must be rejected
#   i_  and all others: same result and value as in Go, except for
#       the differences listed below
#   random texts, half of them broken: same result as in Go
#
# usage: json.sh [BUILD]     COUNT=random texts  SEED=their seed
# Without the suite or without Go >= 1.26 the parts that need it are
# skipped with a message.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
suite=$shared/suites/JSONTestSuite/test_parsing
dump=$build/tests/tools/doc_dump

# Prints the intended differences: FILE, gpugate's result, Go's result, reason.
differences() {
	cat <<-'END'
	i_string_UTF-16LE_with_BOM.json accept refuse UTF-16 with a mark is decoded first, as kubectl does
	i_structure_UTF-8_BOM_empty_object.json accept refuse the byte order mark is taken off first, as kubectl does
	i_string_UTF-8_invalid_sequence.json refuse accept invalid UTF-8: Go puts U+FFFD in its place
	i_string_UTF8_surrogate_U+D800.json refuse accept invalid UTF-8
	i_string_invalid_utf-8.json refuse accept invalid UTF-8
	i_string_iso_latin_1.json refuse accept invalid UTF-8
	i_string_lone_utf8_continuation_byte.json refuse accept invalid UTF-8
	i_string_not_in_unicode_range.json refuse accept invalid UTF-8
	i_string_overlong_sequence_2_bytes.json refuse accept invalid UTF-8
	i_string_overlong_sequence_6_bytes.json refuse accept invalid UTF-8
	i_string_overlong_sequence_6_bytes_null.json refuse accept invalid UTF-8
	i_string_truncated-utf-8.json refuse accept invalid UTF-8
	END
}

# check_suite PREFIX STATUS NUMBER: reads the files of the suite with the prefix.
check_suite() {
	n=0
	for file in "$suite/$1"*; do
		n=$((n + 1))
		"$dump" --json "$file" >"$work/out" 2>&1
		status=$?
		if [ $status -eq "$2" ]; then
			pass=$((pass + 1))
		else
			say_fail "$(basename "$file"): status $status, not $2"
		fi
	done
	[ $n -eq "$3" ] || say_fail "$n files $1*, not $3"
}

# Prints lines "NAME accept VALUE" or "NAME refuse" for the files in a folder.
ours() {
	(cd "$1" && ls | xargs "$dump" --json) | grep -v '^== ' |
		"$oracle" canon | sed 's/^error .*/refuse/;t;s/^/accept /' |
		named "$1"
}

gos() {
	folder=$1
	shift
	(cd "$folder" && ls | xargs "$oracle" json "$@") |
		sed 's/^refuse .*/refuse/' | named "$folder"
}

named() {
	ls "$1" >"$work/names"
	paste -d' ' "$work/names" -
}

# Prints names with different results or values, and both results.
differing() {
	diff "$work/ours" "$work/gos" | sed -n 's/^[<>] //p' |
		cut -d' ' -f1 | sort -u | while read -r name; do
		echo "$name $(decision "$name" ours) $(decision "$name" gos)"
	done
}

decision() {
	awk -v name="$1" '$1 == name { print $2 }' "$work/$2"
}

check_go() {
	ours "$suite" >"$work/ours"
	gos "$suite" >"$work/gos"
	differing >"$work/found"
	differences | cut -d' ' -f1-3 | sort >"$work/listed"
	n=$(wc -l <"$work/ours")
	[ "$n" -eq 318 ] || say_fail "$n answers to 318 files of the suite"
	if diff "$work/listed" "$work/found" >"$work/diff"; then
		pass=$((pass + n))
	else
		say_fail "differences to Go: listed (<), found (>):"
		cat "$work/diff" >&2
	fi
}

check_random() {
	count=${COUNT:-20000}
	mkdir "$work/random"
	"$oracle" json-mutate "$work/random" "$count" "${SEED:-1}" || exit 2
	ours "$work/random" >"$work/ours"
	gos "$work/random" --utf8 >"$work/gos"
	good=$(grep -c ' accept ' "$work/gos")
	[ "$(wc -l <"$work/ours")" -eq "$count" ] ||
		say_fail "random texts without an answer"
	[ "$good" -gt $((count / 4)) ] && [ "$good" -lt $((count * 3 / 4)) ] ||
		say_fail "$good of $count random texts are good JSON"
	differing >"$work/found"
	if [ -s "$work/found" ]; then
		say_fail "random texts (seed ${SEED:-1}): ours, Go's"
		head -n 20 "$work/found" >&2
	else
		pass=$((pass + count))
	fi
}

[ -x "$dump" ] || { echo "json: build $dump first" >&2; exit 2; }

have_suite=
if [ -d "$suite" ]; then
	have_suite=yes
	check_suite y_ 0 95
	check_suite n_ 1 188
else
	echo "skip: JSONTestSuite: no folder $suite"
fi

if go_is_new; then
	oracle=$build/tests/oracle/oracle
	if "$tests/oracle/build.sh" "$build"; then
		[ -z "$have_suite" ] || check_go
		check_random
	else
		say_fail "the oracle does not build"
	fi
else
	echo "skip: comparison with encoding/json: no Go >= 1.26"
fi

finish json
