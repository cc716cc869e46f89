# SPDX-License-Identifier: Apache-2.0
# Tests the policies and options of gpugate krm and gpugate post-render.
bats_require_minimum_version 1.5.0
load helper

# list CONFIG: writes a ResourceList with one error, and a functionConfig.
list() {
	cat <<-EOF
	apiVersion: config.kubernetes.io/v1
	kind: ResourceList
	functionConfig: {apiVersion: gpugate.dev/v1, kind: Policy, $1}
	items:
	- apiVersion: v1
	  kind: Pod
	  metadata: {name: train}
	  spec: {priority: 5, containers: [{name: main, image: "x:1"}]}
	EOF
}

@test "krm: options override a functionConfig, which cannot loosen the floor" {
	list 'rules: {priority-integer-set: off}' >off.yaml
	run --separate-stderr "$GPUGATE" krm <off.yaml
	is "$status" 0
	holds "$output" "results: []"
	holds "$output" "priority: 5"
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\n' >floor.yaml
	run --separate-stderr "$GPUGATE" krm --policy floor.yaml <off.yaml
	is "$status" 0
	holds_not "$output" "priority: 5"
	list 'mode: audit' >on.yaml
	run --separate-stderr "$GPUGATE" krm --ignore priority-integer-set \
		<on.yaml
	holds "$output" "priority: 5"
	run --separate-stderr "$GPUGATE" krm --ignore nonsense <on.yaml
	is "$status" 2
	is "$output" ""
	holds "$stderr" "unknown rule \`nonsense\`"
}

@test "post-render: the namespace of a path, and of the options" {
	pod a.yaml
	sed -i '/namespace:/d; s/priority: 5/priorityClassName: none/' a.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\npaths: [{glob: "**", namespace: team-x}]\n' \
		>.gpugate.yaml
	printf '\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {restartPolicy: Nevr, containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 0.5}}}]}\n' >>a.yaml
	run --separate-stderr "$GPUGATE" post-render <a.yaml
	is "$status" 1
	is "$output" ""
	holds "$stderr" "Pod team-x/p"
	run --separate-stderr "$GPUGATE" post-render --namespace other <a.yaml
	holds "$stderr" "Pod other/p"
}

@test "findings that need a manual fix are not counted as fixable" {
	printf 'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: a}\nspec: {hard: {nvidia.com/gpu: "8"}}\n' >a.yaml
	iconv -t utf-16 a.yaml >b.yaml
	run "$GPUGATE" lint a.yaml b.yaml
	holds "$output" "not automatic: the file is not UTF-8"
	holds "$output" "2 errors"
	holds "$output" "1 fixable with --fix."
	run "$GPUGATE" lint --format json b.yaml
	holds "$output" '"fixable":0'
	run "$GPUGATE" lint b.yaml
	holds_not "$output" "fixable"
}

@test "a worker with the template of its master has the same findings" {
	template='{spec: {containers: [{name: pytorch, image: "i:1", command: [sleep, inf],
	  resources: {limits: {nvidia.com/gpu: 1}}}]}}'
	cat >a.yaml <<-END
	apiVersion: kubeflow.org/v1
	kind: PyTorchJob
	metadata: {name: a}
	spec:
	  pytorchReplicaSpecs:
	    Master: {replicas: 1, template: $template}
	    Worker: {replicas: 2, template: $template}
	END
	run "$GPUGATE" lint --isolated --select gpu-idle-command --format concise a.yaml
	is "$(grep -c gpu-idle-command <<<"$output")" 2
	sed -i '0,/sleep, inf/s//python, a.py/' a.yaml
	run "$GPUGATE" lint --isolated --select gpu-idle-command --format concise a.yaml
	is "$(grep -c gpu-idle-command <<<"$output")" 1
	sed -i 's/sleep, inf/python, a.py/' a.yaml
	run "$GPUGATE" lint --isolated --select gpu-idle-command --format concise a.yaml
	is "$(grep -c gpu-idle-command <<<"$output")" 0
}
