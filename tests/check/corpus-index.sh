#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the table of kinds with the references.
#   index   kinds, documents and accelerator requests of every file of the
#           corpus must equal its index, except for index-exceptions.txt
#   paths   a GPU pod at every place of workload-paths.tsv must be found,
#           except for kind-exceptions.txt
#   crds    a GPU pod at every place of the CustomResourceDefinitions that
#           has the shape of a pod must be found, except for
#           kind-exceptions.txt
#
# usage: corpus-index.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
dump=$build/tests/tools/object_dump
passed=0 failed=0

# sum_up FILE: shows the lines "FAIL ...", and adds up the last line, "counts
# PASSED FAILED".
sum_up() {
	grep '^FAIL' "$1" >&2
	set -- $(sed -n 's/^counts //p' "$1")
	passed=$((passed + $1)) failed=$((failed + $2))
}

check_index() {
	(cd "$shared/corpus" && tail -n +2 INDEX.tsv | cut -f8 |
		tr '\n' '\0' | xargs -0 "$dump") >"$work/dump" ||
		echo 'FAIL object_dump ended badly' >&2
	awk -F'\t' -v list="$tests/check/index-exceptions.txt" '
	BEGIN {
		while ((getline line <list) > 0)
			if (line !~ /^#/) {
				split(line, w, " ")
				known[w[1] " " w[2] " " w[3]] = 1
			}
	}
	# Compares kinds as sets, because a file has another order than the
	# index.
	function kinds(text,    n, i, w, out) {
		n = split(text, w, /, */)
		split("", seen)
		for (i = 1; i <= n; i++)
			seen[w[i]] = 1
		return n ? n : 0
	}
	function same(a, b,    i) {
		kinds(a)
		for (i in seen)
			left[i] = 1
		kinds(b)
		for (i in seen)
			if (i in left)
				delete left[i]
			else
				return 0
		for (i in left) {
			split("", left)
			return 0
		}
		return 1
	}
	FILENAME ~ /INDEX/ { if (FNR > 1) { k[$8] = $5; d[$8] = $6; g[$8] = $7 }
		next }
	{
		bad = ""
		split("", left)
		if (!same($2, k[$1]))
			bad = bad " kinds " $2 " not " k[$1]
		if ($3 != d[$1])
			bad = bad " documents " $3 " not " d[$1]
		if ($4 != g[$1] && !(($4 " " g[$1] " " $1) in known))
			bad = bad " accelerator " $4 " not " g[$1]
		if (bad != "") { print "FAIL " $1 bad; fail++ } else pass++
		files++
	}
	END {
		for (f in k)
			total++
		if (files != total) {
			print "FAIL " total - files " files without a line"
			fail++
		}
		print "counts " pass + 0 " " fail + 0
	}' "$shared/corpus/INDEX.tsv" "$work/dump" >"$work/result"
	sum_up "$work/result"
}

# check_places LIST: checks that a GPU pod is found in each manifest of the
# list, which kinds.py writes.
check_places() {
	cut -f1 "$1" | xargs "$dump" --pods >"$work/dump"
	awk -F'\t' -v list="$tests/check/kind-exceptions.txt" '
	BEGIN {
		while ((getline line <list) > 0)
			if (line !~ /^#/) {
				split(line, w, " ")
				known[++n] = w[1] "\t" w[2] "\t" w[3]
			}
	}
	function excepted(what,    i, prefix) {
		for (i = 1; i <= n; i++) {
			if (known[i] == what)
				return 1
			prefix = known[i]
			if (sub(/\*$/, "", prefix) &&
			    index(what, prefix) == 1)
				return 1
		}
		return 0
	}
	FNR == NR { what[$1] = $2 "\t" $3 "\t" $4; next }
	/^\t/ {
		if (/ guessed/) {
			print "FAIL only guessed: " what[file]
			fail++
		}
		next
	}
	{
		file = $1
		if ($4 == "y" || excepted(what[file])) { pass++; next }
		print "FAIL no GPU pod: " what[file]
		fail++
	}
	END { print "counts " pass + 0 " " fail + 0 }' \
		"$1" "$work/dump" >"$work/result"
	sum_up "$work/result"
}

if [ -d "$shared/corpus" ]; then
	check_index
else
	echo "skip: $shared/corpus is absent"
fi
mkdir "$work/made"
if [ -f "$shared/reference/workload-paths.tsv" ]; then
	python3 "$tests/check/kinds.py" paths "$shared/reference/workload-paths.tsv" \
		"$work/made" >"$work/list" && check_places "$work/list"
else
	echo "skip: $shared/reference/workload-paths.tsv is absent"
fi
if [ -d "$shared/crds" ] && python3 -c 'import yaml' 2>/dev/null; then
	python3 "$tests/check/kinds.py" crds "$shared/crds" "$work/made" \
		>"$work/list" && check_places "$work/list"
else
	echo "skip: $shared/crds is absent, or Python has no yaml"
fi
echo "corpus-index: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
