#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures the time of a decision for different sizes of the cluster state. The
# same PyTorchJob is checked with 10, 1,000 and 100,000 namespaces that have a
# quota each. Prints the best times of several rounds and their ratios. Then
# measures the cost of loading and keeping a state.
# usage: state.sh BUILD
set -eu
build=$1
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 - "$work" "$here/../webhook" <<'E2'
import json
import sys

work = sys.argv[1]
sys.path.insert(0, sys.argv[2])
sys.dont_write_bytecode = True
from review import dump, review  # noqa: E402

for n in (10, 1000, 100000):
    items = []
    for i in range(n):
        hard = {"requests.nvidia.com/gpu": "64"}
        items.append({"apiVersion": "v1", "kind": "ResourceQuota",
                      "metadata": {"name": "gpus", "namespace": f"team-{i}"},
                      "spec": {"hard": hard}, "status": {
                          "hard": hard,
                          "used": {"requests.nvidia.com/gpu": "8"}}})
    with open(f"{work}/state-{n}.json", "w", encoding="utf-8") as out:
        json.dump({"apiVersion": "gpugate.dev/v1", "kind": "ClusterSnapshot",
                   "version": 1, "takenAt": "2026-01-31T08:00:00Z",
                   "items": items}, out)
container = {"name": "pytorch", "image": "example.com/train:1.2",
             "resources": {"limits": {"nvidia.com/gpu": 4, "memory": "64Gi",
                                      "cpu": 16}}}
dump(review({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
             "metadata": {"name": "llm", "namespace": "team-7"},
             "spec": {"pytorchReplicaSpecs": {"Worker": {
                 "replicas": 4, "template": {"spec": {
                     "containers": [container]}}}}}}), work + "/review.json")
E2

# time_of N: prints CPU nanoseconds of a decision with the state of N namespaces
time_of() {
	"$build/tests/tools/admission" --cluster "$work/state-$1.json" \
		--repeat 20000 validate "$work/review.json" 2>&1 >/dev/null |
		sed -n 's/.*, \([0-9]*\) ns$/\1/p'
}

for round in 1 2 3 4 5 6 7; do
	for n in 10 1000 100000; do
		echo "$n $(time_of $n)"
	done
done | awk '!($1 in best) || $2 < best[$1] { best[$1] = $2 }
	END {
		for (n = 10; n <= 100000; n *= 100)
			if (n in best)
				printf "decision with %6d quotas: %6d ns  %.3f\n",
					n, best[n], best[n] / best[10]
	}'
"$build/tests/unit/test_cluster_size" 2>/dev/null | grep -v '^\[' || :
