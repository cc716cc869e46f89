#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the README and the guide show the program's real output: each
# ```console block is run (`gpugate` is the program given) and compared. The
# table of fixes, the pages of the rules and the policies of deploy/vap must
# match the program's catalog; the chart's list of kinds, deploy/base and
# lint/docs/kinds.md must match kinds.txt. The targets of links in all documents
# must exist.
set -u
gpugate=$1
guide=lint/docs/README.md
fail=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v dir="$work" '/^```console$/ { n++; open = 1; next }
	/^```$/ { open = 0 }
	open && /^\$ / { print substr($0, 3) >(dir "/" n ".sh"); next }
	open { print >(dir "/" n ".want") }' README.md "$guide"
for script in "$work"/*.sh; do
	want=${script%.sh}.want
	sed "s#^\(build/\)*gpugate#$gpugate#" "$script" >"$work/run"
	sh "$work/run" >"$work/got" 2>&1
	cmp -s "$work/got" "$want" || {
		echo "README.md or $guide does not show what this prints: $(cat "$script")" >&2
		diff "$want" "$work/got" >&2
		fail=1
	}
done
"$(dirname "$0")/tables.sh" "$gpugate" "$guide" >"$work/got"
grep -q '^<!-- repairs: ' "$guide" && cmp -s "$work/got" "$guide" || {
	echo "the table of $guide is old: make docs" >&2
	fail=1
}
python3 -B tests/check/kind_fields.py rules/kube/data/kinds.txt |
	cmp -s - lint/docs/kinds.md || {
	echo "lint/docs/kinds.md is old: make docs" >&2
	fail=1
}
awk -f deploy/chart/kinds.awk rules/kube/data/kinds.txt |
	cmp -s - deploy/chart/gpugate/files/kinds.yaml || {
	echo "the chart's kinds are old: make docs" >&2
	fail=1
}
# Helm is not available here, so compare lists: the rules of the rendered
# webhooks must name all kinds of the chart.
python3 - deploy/chart/gpugate/files/kinds.yaml deploy/base/webhooks.yaml <<'END' || {
import re, sys
chart, base = (open(path).read() for path in sys.argv[1:])
rendered = {(group, name) for group, names in
            re.findall(r'apiGroups: \["(.*)"\]\n(?:.*\n){2} *resources: (.*)', base)
            for name in re.findall(r'"(.*?)"', names)}
listed = {(group, name) for group, names in
          re.findall(r'- group: "?([^"\n]*)"?\n *resources:([^:#]*?)(?=\n *- group|\n[a-z]|\Z)', chart)
          for name in re.findall(r'[a-z]+', names)}
for group, name in sorted(listed - rendered):
    print(f"deploy/base has no {name} of {group!r}", file=sys.stderr)
sys.exit(len(listed) < 100 or bool(listed - rendered))
END
	echo "deploy/base is old: deploy/chart/kustomize.sh" >&2
	fail=1
}
deploy/vap/generate.sh "$gpugate" "$work/vap" &&
	diff -r -x README.md -x generate.sh "$work/vap" deploy/vap >&2 || {
	echo "the policies of deploy/vap are old: make docs" >&2
	fail=1
}
rules/docs/generate.sh "$gpugate" "$work/docs" &&
	diff -r -x generate.sh "$work/docs" rules/docs >&2 || {
	echo 'the pages of rules/docs are old: make docs' >&2
	fail=1
}
"$(dirname "$0")/picture.sh" "$gpugate" | cmp -s - .github/gpugate.svg || {
	echo 'the picture .github/gpugate.svg is old: make docs' >&2
	fail=1
}
git ls-files -z '*.md' | xargs -0 "$(dirname "$0")/links.py" || fail=1
[ "$fail" -eq 0 ] && echo 'README: ok'
exit "$fail"
