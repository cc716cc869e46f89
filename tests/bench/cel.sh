#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures the CPU time of one evaluation of some expressions, the best of three,
# and compares it with cel-go in the environment of Kubernetes. Prints `skip:` without
# Go.
#
# usage: cel.sh BUILD
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
ours=$build/tests/tools/cel_answers
oracle=$build/tests/oracle/oracle
if ! command -v go >/dev/null || ! "$here/../oracle/build.sh" "$build" >/dev/null; then
	echo 'skip: one expression beside cel-go: no Go, or it did not build'
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
object='{"metadata":{"name":"train","labels":{"app":"x","team":"ml"}},"spec":{
"replicas":3,"containers":[{"name":"a","image":"registry.example.com/train:1"},
{"name":"b","image":"registry.example.com/side:2","resources":{"limits":{
"nvidia.com/gpu":"8","memory":"64Gi"}}}]}}'
while read -r expression; do
	printf '{"expr": "%s", "vars": {"object": {"type": "dyn", "json": %s}}}\n' \
		"$expression" "${object//$'\n'/}"
done >"$work/cases" <<'END'
has(object.spec.replicas) && object.spec.replicas <= 5
'team' in object.metadata.labels && object.metadata.labels.team == 'ml'
object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))
object.spec.containers.exists(c, has(c.resources) && has(c.resources.limits))
object.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')
quantity(object.spec.containers[1].resources.limits.memory).isGreaterThan(quantity('1Gi'))
END
echo 'one expression, CPU of an evaluation (best of 3):'
for i in 1 2 3; do
	"$ours" 100000 <"$work/cases" >"$work/ours-$i"
	"$oracle" cel-bench 20000 <"$work/cases" >"$work/go-$i"
done
python3 - "$work" <<'END'
import json
import pathlib
import sys

AIM = 1 / 3
work = pathlib.Path(sys.argv[1])
cases = [json.loads(line)["expr"]
         for line in (work / "cases").read_text().splitlines()]
best = {who: [min(times) for times in zip(*(
    map(int, (work / f"{who}-{i}").read_text().split()) for i in (1, 2, 3)))]
    for who in ("ours", "go")}
for expr, ours, go in zip(cases, best["ours"], best["go"]):
    word = "ok" if ours <= AIM * go else "MISSED"
    print(f"  {ours:6} ns, cel-go {go:6} ns  {expr[:40]}")
    print(f"  => {'ours / cel-go':46} {ours / go:6.2f} (aim <= 0.33) {word}")
END
