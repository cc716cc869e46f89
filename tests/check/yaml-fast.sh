#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the fast YAML reader with the one that uses libyaml: if the fast one
# makes a tree of a text, the other one must read the text too, without an issue,
# and its tree must be the same in every field. They read the manifests of this
# project, the corpus, the CRDs, the cases of yaml-test-suite, and COUNT texts
# made from each of these groups by changes at random from SEED. The fast reader
# must read at least 95 % of the corpus.
#
# usage: yaml-fast.sh [BUILD]     COUNT and SEED: see above
# Parts that need the shared folder, or Go >= 1.26 to split the suite, are
# skipped with a message.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
compare=$build/tests/tools/yaml_compare

# compare_files NAME FOLDER...: compares the files in the folders, and texts
# made from them.
compare_files() {
	name=$1
	shift
	find "$@" -type f \( -name '*.yaml' -o -name '*.yml' -o -name 'in.*' \
		-o -name '[0-9A-Z]*' \) ! -name '*.json' -size -2000k -print0 |
		sort -z >"$work/names"
	# More names than fit into one call would be compared in parts.
	xargs -0 -x -n 100000 "$compare" --mutate "${COUNT:-100000}" \
		"${SEED:-1}" <"$work/names" >"$work/out" 2>"$work/errors" ||
		say_fail "$name: the readers differ"
	head -c 4000 "$work/errors" >&2
	sed "s/^/$name: /" "$work/out"
	for n in $(sed -n 's/.*: \([0-9]*\) fast.*/\1/p' "$work/out"); do
		pass=$((pass + n))
	done
}

# Checks the share of documents that the last compare_files() read fast.
check_share() {
	sed -n 's/^documents: \([0-9]*\) fast, \([0-9]*\) left.*/\1 \2/p' \
		"$work/out" >"$work/share"
	read -r fast left <"$work/share"
	[ $((fast * 100)) -ge $(((fast + left) * 95)) ] ||
		say_fail "only $fast of $((fast + left)) documents read fast"
}

[ -x "$compare" ] || { echo "yaml-fast: build $compare first" >&2; exit 2; }

compare_files own "$tests/rules" "$tests/../deploy"
for folder in corpus crds; do
	if [ -d "$shared/$folder" ]; then
		compare_files "$folder" "$shared/$folder"
		[ "$folder" = corpus ] && check_share
	else
		echo "skip: $folder: no folder $shared/$folder"
	fi
done
if ! [ -d "$shared/suites/yaml-test-suite/src" ]; then
	echo "skip: yaml-test-suite: no folder in $shared/suites"
elif ! go_is_new; then
	echo "skip: yaml-test-suite: no Go >= 1.26 to take it apart"
else
	mkdir -p "$work/suite"
	"$tests/oracle/build.sh" "$build" || exit 2
	"$oracle" yaml-suite "$shared/suites/yaml-test-suite/src" \
		"$work/suite" >/dev/null || exit 2
	compare_files suite "$work/suite"
fi

finish yaml-fast
