#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the README shows is what the program prints: each ```console block is
# run (`build/gpugate` is the program given) and compared. rules/README.md is
# the program's own catalogue. The maps of folders name files that are there.
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
		echo "README.md shows something else than: $(cat "$script")" >&2
		diff "$want" "$work/got" >&2
		fail=1
	}
done
"$gpugate" rules --format markdown | cmp -s - rules/README.md || {
	echo 'rules/README.md is old: make docs' >&2
	fail=1
}
"$(dirname "$0")/repairs.sh" "$gpugate" README.md | cmp -s - README.md || {
	echo "the README's table of repairs is old: make docs" >&2
	fail=1
}
# Maps of folders.
for map in lint webhook certs rules/doc rules/engine rules/kube; do
	map=$map/README.md
	for name in $(sed -n '/^|/s/`[^`]*`/\n&\n/gp' "$map" |
		sed -n 's/^`\([a-z_*./]*\.\(c\|h\|sh\|tsv\|txt\)\)`$/\1/p'); do
		set -- "${map%/*}"/$name
		[ -e "$1" ] || [ -e "$name" ] || {
			echo "$map names $name, which is not there" >&2
			fail=1
		}
	done
done
[ "$fail" -eq 0 ] && echo 'README: ok'
exit "$fail"
