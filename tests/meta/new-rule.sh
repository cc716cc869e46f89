#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Follows tests/README.md from the beginning to a tested rule, in a copy of
# the tree: the skeleton compiles, its examples fail without the rule, and
# `make rule` rejects what it must reject.
# usage: new-rule.sh BUILD
set -u
build=$1
tree=$(mktemp -d) || exit 2
trap 'rm -rf "$tree"' EXIT
fail=0
bad() {
	echo "FAIL $1" >&2
	fail=1
}
git ls-files -z | tar -c --null -T - --ignore-failed-read 2>/dev/null |
	tar -x -C "$tree"
# Copies the existing objects, so that only new files are compiled.
mkdir "$tree/build"
cp -a "$build/rules" "$build/lint" "$build/gen" "$build/libgpugate.a" \
	"$tree/build/"
cd "$tree" || exit 2
find . -path ./build -prune -o -type f -exec touch -d '2 days ago' {} +

make -s rule NAME=gpu-made-up CATEGORY=resources >/dev/null ||
	bad 'make rule'
make -s check-rule NAME=gpu-made-up >log 2>&1 || {
	bad 'make check-rule'
	tail -n 20 log >&2
}
grep -q 'rules: 2 passed, 0 failed' log || bad 'the examples did not run'
grep -q 'mutation: 1 passed, 0 failed' log || bad 'no mutation check'
for count in '1 GPU' '2 GPUs' '4 GPUs'; do
	build/gpugate lint --isolated --select gpu-made-up --format json \
		tests/rules/gpu-made-up/bad.yaml |
		grep -q "is an example with $count\"" || bad "no count: $count"
done
build/gpugate explain gpu-made-up >/dev/null || bad 'explain does not know it'

for words in 'NAME=gpu-made-up CATEGORY=resources' 'NAME=Gpu CATEGORY=shm' \
	'NAME=gpu-x CATEGORY=nothing' 'CATEGORY=shm' 'NAME=gpu-x'; do
	# shellcheck disable=SC2086
	make -s rule $words >/dev/null 2>&1 && bad "make rule $words"
done
rm -r tests/rules/gpu-made-up
make -s check-rule NAME=gpu-made-up 2>&1 | grep -q 'no tests/rules/' ||
	bad 'a rule without tests is not noticed'
[ "$fail" -eq 0 ] && echo 'new rule: ok'
exit "$fail"
