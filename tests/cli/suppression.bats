#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Suppressions under --policy: the same as at admission.

bats_require_minimum_version 1.5.0
load helper

# floor [LINE...]: writes the policy of admission, with these lines.
floor() {
	printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' "$@" >floor.yaml
}

# ignoring [ANNOTATION...]: writes pod a.yaml with its error ignored.
ignoring() {
	local one

	pod a.yaml
	for one in "$@"; do
		sed -i "/^  name: train/a\\    $one" a.yaml
	done
	sed -i '/^  name: train/a\  annotations:\n    gpugate.dev/ignore: priority-integer-set' a.yaml
}

reason='gpugate.dev/ignore-reason: an old cluster'

day() {
	date -u -d "$1 days" +%F
}

# refused TEXT: checks that the finding counts, and that TEXT is the reason.
refused() {
	lint --policy floor.yaml a.yaml
	is "$status" 1
	holds "$output" "error: "
	holds "$output" "[priority-integer-set]"
	holds "$output" "\`priority-integer-set\` is not suppressed: $1"
	holds "$output" "[suppression-refused]"
}

granted() {
	lint --policy floor.yaml a.yaml
	is "$status" 0
	holds_not "$output" "[suppression-refused]"
}

@test "an annotation suppresses under --policy what the policy grants" {
	ignoring "$reason"
	lint --isolated a.yaml
	is "$status" 0
	floor
	refused "the policy grants no suppressions"
	floor 'suppressions: {annotations: {rules: [shm-missing]}}'
	refused "the policy does not grant it"
	floor 'suppressions: {annotations: {rules: [priority-integer-set]}}'
	granted
	floor 'suppressions: {annotations: {rules: [all]}}' 'locked: [priority-integer-set]'
	refused "the policy locks it"
}

@test "the policy locks one check of a rule" {
	cat >a.yaml <<-EOF
		apiVersion: scheduling.volcano.sh/v1beta1
		kind: Queue
		metadata:
		  name: a
		  annotations: {gpugate.dev/ignore: volcano-rejects, gpugate.dev/ignore-reason: known}
		spec: {capability: {cpu: -1}}
	EOF
	floor 'suppressions: {annotations: {rules: [all]}}' 'locked: [volcano-rejects/hierarchy]'
	granted
	floor 'suppressions: {annotations: {rules: [all]}}' 'locked: [volcano-rejects/negative-quantity]'
	lint --policy floor.yaml a.yaml
	is "$status" 1
	holds "$output" "the policy locks it"
}

@test "a grant applies only to its namespaces" {
	ignoring "$reason"
	floor 'suppressions: {annotations: {rules: [all], namespaces: ["team-*"]}}'
	refused "the policy does not grant it in this namespace"
	sed -i 's/namespace: research/namespace: team-a/' a.yaml
	granted
	sed -i '/namespace: /d' a.yaml
	refused "the policy grants it in some namespaces only, and the object has no known namespace"
	lint --policy floor.yaml --namespace team-b a.yaml
	is "$status" 0
}

@test "a grant may require a reason and limit the days" {
	ignoring
	floor 'suppressions: {annotations: {rules: [all]}}'
	refused "the policy requires \`gpugate.dev/ignore-reason\`"
	floor 'suppressions: {annotations: {rules: [all], requireReason: false}}'
	granted
	floor 'suppressions: {annotations: {rules: [all], maxDays: 30}}'
	ignoring "$reason"
	refused "the policy requires \`gpugate.dev/ignore-until\`, at most 30 days ahead"
	ignoring "$reason" "gpugate.dev/ignore-until: \"$(day +32)\""
	refused "\`gpugate.dev/ignore-until\` is more than 30 days ahead"
	ignoring "$reason" "gpugate.dev/ignore-until: \"$(day +29)\""
	granted
}

@test "a comment suppresses only what admission does not deny" {
	pod a.yaml
	sed -i 's/priority: 5/& # gpugate: ignore[priority-integer-set] -- an old cluster/' a.yaml
	lint --isolated a.yaml
	is "$status" 0
	floor 'suppressions: {annotations: {rules: [all]}}' 'rules: {priority-integer-set: {action: deny}}'
	refused "admission denies it and does not read comments"
	floor 'rules: {priority-integer-set: {action: warn}}'
	granted
	floor 'mode: audit' 'rules: {priority-integer-set: {action: deny}}'
	granted
	floor # Admission patches a Pod, and warns about other objects.
	granted
	# Admission does not deny for an error that only the local policy makes.
	floor 'rules: {priority-integer-set: {action: warn, severity: warning}}'
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrules: {priority-integer-set: {action: deny, severity: error}}\n' >.gpugate.yaml
	granted
}

# exempting [TERM]: writes a local policy that exempts every object from every
# rule, with an additional TERM such as an end.
exempting() {
	printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' 'exempt:' \
		"- {names: [\"*\"], rules: [all], reason: lab$1}" >.gpugate.yaml
}

@test "a local exemption suppresses only what admission does not deny" {
	local why="\`priority-integer-set\` is not suppressed: .gpugate.yaml:4 exempts it, but admission denies it."

	pod a.yaml
	exempting
	lint a.yaml
	is "$status" 0
	floor 'rules: {priority-integer-set: {action: deny}}'
	lint --policy floor.yaml a.yaml
	is "$status" 1
	holds "$output" "error: "
	run "$GPUGATE" lint --policy floor.yaml --format json a.yaml
	holds "$output" "$why"
	# The reason is the whole help if the rule has none.
	printf '%s\n' 'apiVersion: ray.io/v1' 'kind: RayJob' \
		'metadata: {name: a, namespace: b}' \
		'spec: {ttlSecondsAfterFinished: 600}' >ray.yaml
	floor 'rules: {kuberay-rejects: {action: deny}}'
	run "$GPUGATE" lint --policy floor.yaml --select kuberay-rejects/ttl \
		--format json ray.yaml
	holds "$output" '"help":"`kuberay-rejects` is not suppressed: .gpugate.yaml:4 exempts it, but admission denies it"'
	floor 'rules: {priority-integer-set: {action: deny}}'
	# An exemption that ended some days ago does not turn an error that
	# admission denies into a warning.
	exempting ", until: $(day -3)"
	lint --policy floor.yaml a.yaml
	is "$status" 1
	exempting
	floor 'rules: {priority-integer-set: {action: warn}}'
	granted
	floor 'mode: audit' 'rules: {priority-integer-set: {action: deny}}'
	granted
	# Exemptions of the policy of admission also apply to lint.
	floor 'rules: {priority-integer-set: {action: deny}}' \
		'exempt: [{namespaces: [research], rules: [all], reason: lab}]'
	granted
	# Admission does not deny for an error that only the local policy makes.
	floor 'rules: {priority-integer-set: {action: warn, severity: warning}}'
	echo 'rules: {priority-integer-set: {action: deny, severity: error}}' >>.gpugate.yaml
	granted
}

@test "set rules also reject suppressions" {
	cat >a.yaml <<-END
		apiVersion: v1
		kind: ResourceQuota
		metadata: {name: gpus, namespace: research}
		spec: {hard: {requests.nvidia.com/gpu: 1}}
		---
		apiVersion: batch/v1
		kind: Job
		metadata:
		  name: train
		  namespace: research
		  annotations:
		    gpugate.dev/ignore: quota
		    gpugate.dev/ignore-reason: the quota grows on Monday
		spec:
		  template:
		    spec:
		      restartPolicy: Never
		      containers:
		      - name: main
		        image: registry.example.com/train:1
		        resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 4}}
	END
	lint --isolated a.yaml
	is "$status" 0
	floor
	lint --policy floor.yaml a.yaml
	is "$status" 1
	holds "$output" "[quota-never-fits]"
	holds "$output" "\`quota-never-fits\` is not suppressed: the policy grants no suppressions"
	exempting
	lint a.yaml
	is "$status" 0
	lint --policy floor.yaml a.yaml
	is "$status" 1
	holds "$output" "[quota-never-fits]"
}

@test "a rejected suppression names the contact who can grant it" {
	ignoring "$reason"
	floor
	run "$GPUGATE" lint --policy floor.yaml --format json a.yaml
	holds "$output" "Ask the owners of the policy"
	floor 'contact: "#gpu-platform"'
	run "$GPUGATE" lint --policy floor.yaml --format json a.yaml
	holds "$output" "Ask #gpu-platform to grant it."
}
