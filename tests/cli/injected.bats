# SPDX-License-Identifier: Apache-2.0
# Values that the cluster adds to pods, as the policy declares them, are neither
# missing nor reported.

bats_require_minimum_version 1.5.0
load helper

# policy [ITEM...]: writes a policy with these items of `injected`.
policy() {
	{
		printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nextends: [all]\n'
		printf 'platform: {gpuTaints: [nvidia.com/gpu]}\n'
		printf 'rules:\n  runtimeclass-missing: {params: {class: nvidia}}\n'
		printf '  cost-labels-missing: {params: {labels: team}}\n'
		[ $# = 0 ] || printf 'injected:\n'
		[ $# = 0 ] || printf -- '- %s\n' "$@"
	} >.gpugate.yaml
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	cat >job.yaml <<-END
	apiVersion: batch/v1
	kind: Job
	metadata: {name: a, namespace: ml-a}
	spec:
	  template:
	    metadata: {labels: {a: b}}
	    spec:
	      restartPolicy: Never
	      containers:
	      - name: a
	        image: registry.example.com/a:1
	        command: [mpirun, -np, "8", -npernode, "8", --bind-to, none, ./a.out]
	        resources: {limits: {nvidia.com/gpu: 8}}
	END
}

# says RULE, silent RULE: check that the rule reports job.yaml, or does not.
says() {
	run --separate-stderr "$GPUGATE" lint --format concise job.yaml
	holds "$output" "[$1]"
}

silent() {
	run --separate-stderr "$GPUGATE" lint --format concise job.yaml
	[ "$status" -lt 2 ]
	holds_not "$output" "[$1]"
}

@test "no injected field is reported as missing" {
	policy
	for rule in gpu-toleration-missing runtimeclass-missing \
		cost-labels-missing thread-oversubscription; do
		says "$rule"
	done
	policy '{tolerations: [{key: nvidia.com/gpu, operator: Exists}]}'
	silent gpu-toleration-missing
	says runtimeclass-missing
	policy '{runtimeClassName: nvidia}'
	silent runtimeclass-missing
	policy '{labels: {team: x}}'
	silent cost-labels-missing
	policy '{env: [{name: OMP_NUM_THREADS, value: "8"}]}'
	silent thread-oversubscription
}

@test "items for several namespaces add up, those for others do not apply" {
	policy '{namespaces: ["ml-*"], runtimeClassName: nvidia}' \
		'{namespaces: [ml-a], labels: {team: x}}'
	silent runtimeclass-missing
	silent cost-labels-missing
	policy '{namespaces: [web], runtimeClassName: nvidia, labels: {team: x}}'
	says runtimeclass-missing
	says cost-labels-missing
}

@test "the author's values stay, and injected values are not reported" {
	policy '{env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]}'
	silent nvidia-visible-devices-override
	policy '{env: [{name: NVIDIA_VISIBLE_DEVICES, value: void}]}'
	sed 's/        resources:/        env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]\n&/' \
		job.yaml >own.yaml
	mv own.yaml job.yaml
	says nvidia-visible-devices-override
}

@test "a fix writes no injected value" {
	policy '{tolerations: [{key: nvidia.com/gpu, operator: Exists}], runtimeClassName: nvidia, labels: {team: x}}'
	run --separate-stderr "$GPUGATE" lint --fix --unsafe-fixes job.yaml
	[ "$status" -lt 2 ]
	holds_not "$(cat job.yaml)" "tolerations"
	holds_not "$(cat job.yaml)" "runtimeClassName"
}

@test "problems in the list have a position" {
	policy '{tolerations: {key: a}}' '{schedulerNames: a}'
	run --separate-stderr "$GPUGATE" lint job.yaml
	is "$status" 2
	holds "$stderr" ".gpugate.yaml:9:17: error: expected a list, found a map"
	holds "$stderr" 'unknown key `schedulerNames`; did you mean `schedulerName`?'
}

# mutating EXPRESSION [MATCH [RESOURCE]]: writes a MutatingAdmissionPolicy for
# pods (or RESOURCE) whose expression mentions fields.
mutating() {
	cat >map.yaml <<-END
	apiVersion: admissionregistration.k8s.io/v1
	kind: MutatingAdmissionPolicy
	metadata: {name: gpus}
	spec:
	  matchConstraints: {${2-}resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [${3-pods}]}]}
	  failurePolicy: Fail
	  reinvocationPolicy: Never
	  mutations:
	  - {patchType: JSONPatch, jsonPatch: {expression: '$1'}}
	END
}

# found RULE, clear RULE: check, with that policy, that the rule reports
# job.yaml, or does not.
found() {
	run --separate-stderr "$GPUGATE" lint --format concise \
		--admission-policy map.yaml job.yaml
	holds "$output" "[$1]"
}

clear() {
	run --separate-stderr "$GPUGATE" lint --format concise \
		--admission-policy map.yaml job.yaml
	[ "$status" -lt 2 ]
	holds_not "$output" "[$1]"
}

@test "fields that a MutatingAdmissionPolicy names are not missing" {
	policy
	mutating '[JSONPatch{op: "add", path: "/spec/tolerations/-", value: {"key": "nvidia.com/gpu"}}]'
	clear gpu-toleration-missing
	for rule in runtimeclass-missing cost-labels-missing \
		thread-oversubscription; do
		found "$rule"
	done
	mutating '[JSONPatch{op: "add", path: "/spec/runtimeClassName", value: "nvidia"}]'
	clear runtimeclass-missing
	found cost-labels-missing
	mutating '[JSONPatch{op: "add", path: "/metadata/labels/team", value: "a"}]'
	clear cost-labels-missing
	mutating 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "a", env: []}]}}'
	clear thread-oversubscription
	mutating '[JSONPatch{op: "add", path: "/spec/environment", value: "my_tolerations"}]'
	found thread-oversubscription
	found gpu-toleration-missing
}

@test "a MutatingAdmissionPolicy applies where it is bound and matches" {
	policy
	toleration='[JSONPatch{op: "add", path: "/spec/tolerations/-", value: {"key": "nvidia.com/gpu"}}]'
	mutating "$toleration" '' services
	found gpu-toleration-missing
	mutating "$toleration" 'objectSelector: {matchLabels: {a: c}}, '
	found gpu-toleration-missing
	mutating "$toleration" 'objectSelector: {matchLabels: {a: b}}, '
	clear gpu-toleration-missing
	mutating "$toleration" 'namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ml-b}}, '
	found gpu-toleration-missing
	mutating "$toleration"
	bind='{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: b}, spec: {policyName: gpus, matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}}}}'
	# shellcheck disable=SC2059
	printf -- "---\n$bind\n" ml-b >>map.yaml
	found gpu-toleration-missing
	sed -i 's/ml-b/ml-a/' map.yaml
	clear gpu-toleration-missing
}

@test "a MutatingAdmissionPolicy in the input files also applies" {
	policy
	mutating '[JSONPatch{op: "add", path: "/spec/tolerations/-", value: {"key": "nvidia.com/gpu"}}]'
	mkdir cluster
	mv map.yaml cluster
	input() { # FILE...
		run --separate-stderr "$GPUGATE" lint --format concise "$@"
		[ "$status" -lt 2 ]
	}
	input job.yaml
	holds "$output" "[gpu-toleration-missing]"
	input job.yaml cluster
	holds_not "$output" "[gpu-toleration-missing]"
	holds "$output" "[runtimeclass-missing]"
	# a binding in another file, for another namespace
	cat >cluster/bind.yaml <<-END
		apiVersion: admissionregistration.k8s.io/v1
		kind: MutatingAdmissionPolicyBinding
		metadata: {name: b}
		spec: {policyName: gpus, matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ml-b}}}}
	END
	input job.yaml cluster
	holds "$output" "[gpu-toleration-missing]"
	sed -i 's/ml-b/ml-a/' cluster/bind.yaml
	input job.yaml cluster
	holds_not "$output" "[gpu-toleration-missing]"
	# in the same file, from standard input
	printf -- '---\n' >>cluster/map.yaml
	printf -- '---\n' >>job.yaml
	cat job.yaml cluster/map.yaml cluster/bind.yaml | {
		run --separate-stderr "$GPUGATE" lint --format concise -
		[ "$status" -lt 2 ]
		holds_not "$output" "[gpu-toleration-missing]"
		holds "$output" "[runtimeclass-missing]"
	}
}
