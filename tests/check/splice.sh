#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the edits of a file have the same result as changes of its text, as
# a JSON Patch, and as changes of its tree.
#   random   random files and edits (tests/tools/edit_random.c): the spliced
#            text reads as the edited tree, no other byte changes, a second
#            time changes nothing
#   go       the same patches applied by the library of the API server (v4 of
#            evanphx/json-patch) and by its successor (v5)
#   diff     patch -p1 and git apply make the new text of the old one
#   corpus   usual fixes of every container of every file
#
# usage: splice.sh [BUILD]   COUNT=random pairs  SEED=their seed
# Without the shared folder or without Go >= 1.26 the parts that need it
# are skipped with a message.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
dump=$build/tests/tools/edit_dump
random=$build/tests/tools/edit_random

# count LOG WHAT: reads a log whose last line is "NAME: N passed, N failed".
count() {
	good=$(sed -n '$s/.*: \([0-9]*\) passed, 0 failed$/\1/p' "$1")
	if [ -n "$good" ]; then
		pass=$((pass + good))
	else
		say_fail "$2:"
		tail -n 60 "$1" >&2
	fi
}

check_random() {
	count=${COUNT:-100000} seed=${SEED:-1}
	mkdir "$work/diffs"
	"$random" "$count" "$seed" "$work/diffs" \
		>"$work/patches" 2>"$work/random"
	grep -v -e '^random:' -e ' refused: ' "$work/random" | tail -n 1
	count "$work/random" "random (seed $seed)"
	pairs=$(wc -l <"$work/patches")
	[ "$pairs" -gt $((count * 9 / 10)) ] ||
		say_fail "only $pairs of $count random texts can be read"
	# With fewer splices than pairs, the edits would test too little.
	[ "$(sed -n 's/.* \([0-9]*\) splices.*/\1/p' "$work/random")" -gt \
		"$count" ] || say_fail "fewer splices than pairs"
}

check_go() {
	version=$(go env GOVERSION 2>/dev/null) || version=
	if ! printf '%s\n' go1.26 "$version" | sort -CV; then
		echo "skip: comparison with evanphx/json-patch: no Go >= 1.26"
		return
	fi
	if "$tests/oracle/build.sh" "$build"; then
		"$oracle" patch <"$work/patches" >"$work/go" 2>&1
		count "$work/go" "patches"
	else
		say_fail "the oracle does not build"
	fi
}

# check_diff N COMMAND...: applies the diff of pair N with the command.
check_diff() {
	n=$1
	shift
	rm -rf "$work/tree"
	mkdir "$work/tree"
	cp "$work/diffs/$n.old" "$work/tree/$n.old"
	if (cd "$work/tree" && "$@" <"$work/diffs/$n.diff" >/dev/null) &&
		cmp -s "$work/tree/$n.old" "$work/diffs/$n.new"; then
		pass=$((pass + 1))
	else
		say_fail "$1 with the diff of pair $n"
	fi
}

check_diffs() {
	command -v patch >/dev/null || echo "skip: no patch(1)"
	command -v git >/dev/null || echo "skip: no git"
	for diff in $(ls "$work/diffs" | grep 'diff$' | head -n "${DIFFS:-400}"); do
		n=${diff%.diff}
		if [ ! -s "$work/diffs/$diff" ]; then
			cmp -s "$work/diffs/$n.old" "$work/diffs/$n.new" ||
				say_fail "no diff of pair $n"
			continue
		fi
		command -v patch >/dev/null && check_diff "$n" patch -s -p1
		command -v git >/dev/null &&
			check_diff "$n" git apply --whitespace=nowarn
	done
}

check_corpus() {
	find "$shared/corpus" -type f \( -name '*.yaml' -o -name '*.yml' \
		-o -name '*.json' \) -print0 |
		xargs -0 "$dump" --corpus >"$work/corpus" 2>&1
	grep -v '^corpus:' "$work/corpus"
	count "$work/corpus" corpus
	files=$(sed -n 's/^\([0-9]*\) files.*/\1/p' "$work/corpus")
	[ "${files:-0}" -ge 850 ] || say_fail "$files files in the corpus"
}

[ -x "$dump" ] && [ -x "$random" ] ||
	{ echo "splice: build $dump and $random first" >&2; exit 2; }
check_random
check_go
check_diffs
if [ -d "$shared/corpus" ]; then
	check_corpus
else
	echo "skip: corpus: no folder $shared/corpus"
fi
finish splice
