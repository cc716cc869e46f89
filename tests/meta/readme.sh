#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the README shows is what the program prints: each ```console block is
# run (`build/gpugate` is the program given) and compared. The tables of rules
# and repairs are the program's own catalogue; the chart's list of kinds is
# that of kinds.txt, the policies of deploy/vap are those of the catalogue.
set -u
gpugate=$1
fail=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v dir="$work" '/^```console$/ { n++; open = 1; next }
	/^```$/ { open = 0 }
	open && /^\$ / { print substr($0, 3) >(dir "/" n ".sh"); next }
	open { print >(dir "/" n ".want") }' README.md
for script in "$work"/*.sh; do
	want=${script%.sh}.want
	sed "s#build/gpugate#$gpugate#" "$script" >"$work/run"
	sh "$work/run" >"$work/got" 2>&1
	cmp -s "$work/got" "$want" || {
		echo "README.md does not show what this prints: $(cat "$script")" >&2
		diff "$want" "$work/got" >&2
		fail=1
	}
done
for readme in README.md rules/README.md; do
	"$(dirname "$0")/tables.sh" "$gpugate" "$readme" >"$work/got"
	grep -qE '^<!-- (repairs|rules): ' "$readme" && cmp -s "$work/got" "$readme" || {
		echo "the tables of $readme are old: make docs" >&2
		fail=1
	}
done
awk -f deploy/chart/kinds.awk rules/kube/data/kinds.txt |
	cmp -s - deploy/chart/gpugate/files/kinds.yaml || {
	echo "the chart's kinds are old: make docs" >&2
	fail=1
}
deploy/vap/generate.sh "$gpugate" "$work/vap" &&
	diff -r -x README.md -x generate.sh "$work/vap" deploy/vap >&2 || {
	echo "the policies of deploy/vap are old: make docs" >&2
	fail=1
}
[ "$fail" -eq 0 ] && echo 'README: ok'
exit "$fail"
