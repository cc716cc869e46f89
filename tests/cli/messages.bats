#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Texts that depend on more than the rule, and findings that say one thing once.

load helper

# Prints the values of this member in the findings of the file, a line each.
values() { # MEMBER FILE
	"$GPUGATE" lint --isolated --show-all --format json --fail-on never "$2" |
		sed -n 's/^{"rule"[^[]*"'"$1"'":"\([^"]*\)".*/\1/p'
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

@test "labels at the top of an object belong into metadata" {
	cat >"$BATS_TEST_TMPDIR/notebook.yaml" <<-'EOF'
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: a}
		labels: {app: a}
		spec:
		  selector: {matchLabels: {app: a}}
		  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: "a:1"}]}}
	EOF
	run values help "$BATS_TEST_TMPDIR/notebook.yaml"
	[[ $output == *'Move it to `metadata`'* ]]
}

@test "a misplaced field belongs to a field that the file contains" {
	cat >"$BATS_TEST_TMPDIR/workflow.yaml" <<-'EOF'
		apiVersion: argoproj.io/v1alpha1
		kind: Workflow
		metadata: {generateName: a-}
		spec:
		  entrypoint: a
		  templates:
		  - name: a
		    successCondition: status.succeeded > 0
		    resource: {action: create, manifest: "{}"}
	EOF
	run values help "$BATS_TEST_TMPDIR/workflow.yaml"
	[[ $output == *'Move it to `resource`'* ]]
	# Two fields may have it, and the file has neither.
	sed -i 's/resource: .*/suspend: {}/' "$BATS_TEST_TMPDIR/workflow.yaml"
	run values help "$BATS_TEST_TMPDIR/workflow.yaml"
	[[ $output == *"Move the field to where it belongs"* ]]
	[[ $output != *"Move it to"* ]]
}

@test "the help for a repeated field does not send it to the first one" {
	cat >"$BATS_TEST_TMPDIR/pod.yaml" <<-'EOF'
		apiVersion: v1
		kind: Pod
		metadata: {name: a}
		spec:
		  containers: [{name: a, image: "a:1"}]
		  spec:
		  nodeSelector: {a: b}
	EOF
	run values help "$BATS_TEST_TMPDIR/pod.yaml"
	[[ $output == *"Remove the field."* ]]
	sed -i 's/^  spec:/  spec: {hostNetwork: true}/' "$BATS_TEST_TMPDIR/pod.yaml"
	run values help "$BATS_TEST_TMPDIR/pod.yaml"
	[[ $output == *"Move the field to where it belongs"* ]]
	[[ $output != *"Move it to"* ]]
}

@test "the toleration of a chosen node pool is not removed alone" {
	cat >"$BATS_TEST_TMPDIR/pod.yaml" <<-'EOF'
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  nodeSelector: {karpenter.sh/nodepool: gpu}
		  tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
		  containers: [{name: a, image: "registry.example.com/a:1"}]
	EOF
	run values help "$BATS_TEST_TMPDIR/pod.yaml"
	[[ $output == *"Remove the toleration and the selector of GPU nodes together."* ]]
}

@test "a number of processes does not prove that they use GPUs" {
	cat >"$BATS_TEST_TMPDIR/pod.yaml" <<-'EOF'
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  containers: [{name: a, image: "registry.example.com/a:1", command: [torchrun, --nproc-per-node=4, t.py]}]
	EOF
	run values message "$BATS_TEST_TMPDIR/pod.yaml"
	[[ $output == *'if its 4 processes (`--nproc-per-node`) use a GPU each, none is requested'* ]]
	sed -i 's/torchrun, --nproc-per-node=4, t.py/vllm, serve, m, --tensor-parallel-size=4/' "$BATS_TEST_TMPDIR/pod.yaml"
	run values message "$BATS_TEST_TMPDIR/pod.yaml"
	[[ $output == *'needs 4 GPUs (`--tensor-parallel-size`)'* ]]
}

@test "KServe's annotations belong into the metadata of the object" {
	cat >"$BATS_TEST_TMPDIR/service.yaml" <<-'EOF'
		apiVersion: serving.kserve.io/v1beta1
		kind: InferenceService
		metadata: {name: a}
		spec:
		  predictor:
		    model:
		      modelFormat: {name: vLLM}
		      annotations: {serving.kserve.io/deploymentMode: RawDeployment}
	EOF
	run values help "$BATS_TEST_TMPDIR/service.yaml"
	[[ $output == *'Move it to `metadata`'* ]]
	sed -i 's/{serving.*/{prometheus.io\/port: "80"}/' "$BATS_TEST_TMPDIR/service.yaml"
	run values help "$BATS_TEST_TMPDIR/service.yaml"
	[[ $output == *'Move it to `predictor`'* ]]
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

@test "rejections name the plugin and the rule that are not valid" {
	cat >"$BATS_TEST_TMPDIR/names.yaml" <<-'EOF'
		apiVersion: batch.volcano.sh/v1alpha1
		kind: Job
		metadata: {name: a, namespace: ml}
		spec:
		  plugins: {svc: [], torch: []}
		---
		apiVersion: jobset.x-k8s.io/v1alpha2
		kind: JobSet
		metadata: {name: a, namespace: ml}
		spec:
		  failurePolicy: {rules: [{name: host-maintenance, action: FailJobSet}]}
	EOF
	run values message "$BATS_TEST_TMPDIR/names.yaml"
	[[ $output == *'`plugins` has `torch`'* ]]
	[[ $output == *'the rule name `host-maintenance`'* ]]
}

@test "a negative grace period counts as one second" {
	cat >"$BATS_TEST_TMPDIR/grace.yaml" <<-'EOF'
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: a, namespace: ml}
		spec:
		  selector: {matchLabels: {a: b}}
		  template:
		    metadata: {labels: {a: b}}
		    spec:
		      terminationGracePeriodSeconds: -5
		      containers:
		      - name: a
		        image: vllm/vllm-openai:v0.11.0
		        args: [--model, m]
		        resources: {limits: {nvidia.com/gpu: 1}}
	EOF
	run "$GPUGATE" lint --isolated --show-all --format concise "$BATS_TEST_TMPDIR/grace.yaml"
	[[ $output == *"only 1 s to finish requests"* ]]
}

@test "a GPU under the name that a large site uses is a requested one" {
	cat >"$BATS_TEST_TMPDIR/site.yaml" <<-'EOF'
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  containers:
		  - name: a
		    image: registry.example.com/a:1
		    securityContext: {privileged: true}
		    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
		    resources: {limits: {nvidia.com/rtxa6000: 1}}
	EOF
	run values message "$BATS_TEST_TMPDIR/site.yaml"
	[[ $output == *"overrides the allocation of container"* ]]
	[[ $output != *"unrequested"* && $output != *"requests none"* ]]
}

# Writes a Pod that mounts a folder of device nodes.
mount_devices() { # SECURITY_CONTEXT
	cat >"$BATS_TEST_TMPDIR/dri.yaml" <<-EOF
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  containers:
		  - name: a
		    image: registry.example.com/a:1
		    securityContext: $1
		    volumeMounts: [{name: dri, mountPath: /dev/dri}]
		  volumes: [{name: dri, hostPath: {path: /dev/dri}}]
	EOF
}

@test "a container without privileges cannot open mounted devices" {
	mount_devices '{}'
	run values help "$BATS_TEST_TMPDIR/dri.yaml"
	[[ $output == *"A container that is not privileged cannot open mounted devices."* ]]
	mount_devices '{privileged: true}'
	run values help "$BATS_TEST_TMPDIR/dri.yaml"
	[[ $output == *"Request the devices in"* && $output != *"not privileged"* ]]
}
