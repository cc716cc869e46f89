#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Texts that depend on more than the rule, and findings that say one thing once.

load helper

# Prints the values of this member in the findings of the file, a line each.
values() { # MEMBER FILE
	"$GPUGATE" lint --isolated --show-all --format json --fail-on never "$2" |
		sed -n 's/^{"rule".*"'"$1"'":"\([^"]*\)".*/\1/p'
}

@test "the help for a misplaced apiVersion does not send it to the object" {
	cat >"$BATS_TEST_TMPDIR/pool.yaml" <<-'EOF'
		apiVersion: karpenter.sh/v1
		kind: NodePool
		metadata: {name: gpu}
		spec:
		  template:
		    spec:
		      nodeClassRef:
		        group: karpenter.k8s.aws
		        apiVersion: karpenter.k8s.aws/v1
		        kind: EC2NodeClass
		        name: gpu
		      requirements: []
	EOF
	run values help "$BATS_TEST_TMPDIR/pool.yaml"
	[[ $output == *"Remove the field."* ]]
	[[ $output != *"Move it to"* ]]
}

@test "a flavor that lacks resources is reported once" {
	cat >"$BATS_TEST_TMPDIR/queue.yaml" <<-'EOF'
		apiVersion: kueue.x-k8s.io/v1beta2
		kind: ClusterQueue
		metadata: {name: a}
		spec:
		  namespaceSelector: {}
		  resourceGroups:
		  - coveredResources: [cpu, memory, nvidia.com/gpu]
		    flavors:
		    - name: default
		      resources: [{name: nvidia.com/gpu, nominalQuota: 8}]
	EOF
	run values message "$BATS_TEST_TMPDIR/queue.yaml"
	[ "$(grep -c coveredResources <<<"$output")" -eq 1 ]
	[[ $output == *"differ in the number of resources"* ]]
}

@test "numbers of GPUs that time slicing explains are reported with a condition" {
	cat >"$BATS_TEST_TMPDIR/slices.yaml" <<-'EOF'
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  containers:
		  - name: a
		    image: vllm/vllm-openai:v0.11.0
		    args: [--model, m]
		    resources: {limits: {nvidia.com/gpu: 10}}
	EOF
	run values message "$BATS_TEST_TMPDIR/slices.yaml"
	[[ $output == *"at most 8, unless they share GPUs"* ]]
	[[ $output == *"uses 1 of the 10 GPUs of container "*", unless its nodes share GPUs"* ]]
}
