#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Repositories of GitOps teams: correct manifests have no errors.
bats_require_minimum_version 1.5.0
load helper

# deployment NAME: writes a complete Deployment without any warning in a default
# run.
deployment() {
	cat <<-END
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: $1, namespace: ml}
		spec:
		  selector: {matchLabels: {app: $1}}
		  template:
		    metadata: {labels: {app: $1}}
		    spec:
		      containers:
		      - name: serve
		        image: vllm/vllm-openai:v0.6.3
		        args: [--tensor-parallel-size=2]
		        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 2}}
	END
}

kustomization() {
	mkdir -p "$1"
	printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n%s\n' \
		"$2" >"$1/kustomization.yaml"
}

# Lints the folder, with the report for terminals.
full() {
	run --separate-stderr "$GPUGATE" lint --isolated --no-ignore-vcs .
}

# figure NAME: prints a number of the summary in the JSON report
figure() {
	"$GPUGATE" lint --isolated --no-ignore-vcs --format json . | python3 -c '
import json, sys
print(json.load(sys.stdin)["summary"][sys.argv[1]])' "$1"
}

@test "settings and data files next to manifests are counted, not checked" {
	mkdir .vscode data
	printf '{ // a comment\n "editor.kindness": true, }\n' >.vscode/settings.json
	printf '{\n  // rules\n  "extends": "x",\n}\n' >.eslintrc.json
	printf 'a: [1,\n' >data/rows.yaml
	printf '\377\376a\0:\0 \0[\0' >data/wide.yaml
	deployment d >d.yaml
	lint .
	is "$status" 0
	holds_not "$output" invalid-syntax
	full
	holds "$output" "in 1 file (4 more without Kubernetes objects)"
}

@test "a manifest that cannot be read is an error, whatever its case" {
	printf 'kind: Pod\napiVersion: [\n' >a.yaml
	printf '{"\\u006bind": "Pod", ]' >b.json
	printf '\377\376k\0i\0n\0d\0:\0 \0[\0' >c.yaml
	lint .
	is "$status" 1
	is "$(printf '%s\n' "$output" | grep -c invalid-syntax)" 3
}

@test "named files and standard input count as manifests" {
	printf 'a: [1,\n' >rows.yaml
	lint rows.yaml
	is "$status" 1
	holds "$output" invalid-syntax
	run bash -c '"$0" lint --isolated --format concise - <rows.yaml' "$GPUGATE"
	is "$status" 1
}

@test "a base that an overlay patches is a partial object" {
	kustomization base 'resources: [d.yaml]'
	deployment d >base/d.yaml
	lint --select readiness-missing-gpu-serving .
	holds "$output" base/d.yaml
	kustomization overlays/prod 'resources: [../../base]
patches: [{path: ready.yaml}]'
	printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n' \
		>overlays/prod/ready.yaml
	lint .
	is "$status" 0
	is "$output" ""
	full
	holds "$output" "1 object of a base that a kustomization patches"
	# Problems in it are still reported.
	sed -i 's/nvidia.com.gpu: 2/nvidia.com\/gpu: 1.5/' base/d.yaml
	lint .
	is "$status" 1
	holds "$output" gpu-fractional-quantity
}

@test "an overlay that only lists its base changes nothing" {
	kustomization base 'resources: [d.yaml]'
	deployment d >base/d.yaml
	kustomization overlays/prod 'resources: [../../base]'
	lint --select readiness-missing-gpu-serving .
	holds "$output" base/d.yaml
}

@test "a component may patch objects next to it" {
	kustomization base 'resources: [d.yaml]'
	deployment d >base/d.yaml
	kustomization overlays/prod 'resources: [../../base]
components: [../../components/gpu]'
	lint .
	is "$output" ""
}

@test "values of a chart are not checked, and do not count as no GPUs" {
	cat >release.yaml <<-END
		apiVersion: helm.toolkit.fluxcd.io/v2
		kind: HelmRelease
		metadata: {name: r, namespace: ml}
		spec: {values: {resources: {limits: {nvidia.com/gpu: 8}}}}
		---
		apiVersion: argoproj.io/v1alpha1
		kind: Application
		metadata: {name: a, namespace: argocd}
		spec: {source: {helm: {values: "resources: {limits: {amd.com/gpu: 1}}"}}}
		---
		apiVersion: helm.toolkit.fluxcd.io/v2
		kind: HelmRelease
		metadata: {name: cpu, namespace: ml}
		spec: {values: {replicas: 2}}
	END
	full
	is "$status" 0
	holds "$output" "2 objects whose chart values name accelerators"
	holds_not "$output" "no GPUs requested"
	is "$(figure chartValues)" 2
}

@test "variables that a build fills in are not errors" {
	deployment d | sed -e 's|nvidia.com.gpu: 2|nvidia.com/gpu: "${GPUS}"|' \
		-e 's|namespace: ml|namespace: "${NAMESPACE}"|' >d.yaml
	lint .
	is "$status" 0
}

# cluster FOLDER GPUS: writes a quota ml/q of 8 GPUs, and a job that requests
# GPUS.
cluster() {
	mkdir -p "$1"
	cat >"$1/quota.yaml" <<-END
		apiVersion: v1
		kind: ResourceQuota
		metadata: {name: q, namespace: ml}
		spec: {hard: {requests.nvidia.com/gpu: "8", limits.memory: 1Ti}}
		---
		apiVersion: scheduling.k8s.io/v1
		kind: PriorityClass
		metadata: {name: normal-${1##*/}}
		value: 10
		globalDefault: true
	END
	cat >"$1/job.yaml" <<-END
		apiVersion: batch/v1
		kind: Job
		metadata: {name: train, namespace: ml}
		spec:
		  backoffLimit: 1
		  podReplacementPolicy: Failed
		  activeDeadlineSeconds: 3600
		  template:
		    spec:
		      restartPolicy: Never
		      containers:
		      - name: c
		        image: registry.example.com/train:1
		        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: $2}}
	END
}

# device_class FILE NAME: writes a class for `nvidia.com/gpu`, and a Pod that
# requests one.
device_class() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<-END
		apiVersion: resource.k8s.io/v1
		kind: DeviceClass
		metadata: {name: $2}
		spec:
		  extendedResourceName: nvidia.com/gpu
		  selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com'"}}]
		---
		apiVersion: v1
		kind: Pod
		metadata: {name: train, namespace: ml}
		spec:
		  containers:
		  - name: train
		    image: registry.example.com/train:1
		    resources: {limits: {nvidia.com/gpu: 1}}
	END
}

@test "device classes of another cluster define no resource here" {
	device_class clusters/a/gpu.yaml gpu
	device_class clusters/b/gpu.yaml whole
	device_class clusters/c/gpu.yaml gpu
	lint --select dra-resource-ambiguous .
	is "$(paths)" ""
	# The second class of one cluster is reported there.
	sed 's/name: gpu}/name: second}/; /^---/,$d' clusters/c/gpu.yaml >clusters/c/second.yaml
	lint --select dra-resource-ambiguous .
	is "$(paths)" "clusters/c/gpu.yaml"
}

@test "a kustomization that is not built may replace references by vars" {
	mkdir -p base
	sed 's/--tensor-parallel-size=2/--model=$(MODEL_NAME)/' <(deployment one) >base/one.yaml
	lint --render=never --select variable-undefined .
	is "$(paths)" "base/one.yaml"
	kustomization base 'resources: [one.yaml]
vars: [{name: MODEL_NAME, objref: {apiVersion: v1, kind: ConfigMap, name: model}, fieldref: {fieldpath: data.name}}]'
	lint --render=never --select variable-undefined .
	is "$(paths)" ""
}

@test "clusters in sibling folders are checked separately" {
	cluster clusters/a 6
	cluster clusters/b 6
	lint .
	is "$status" 0
	holds_not "$output" quota
	holds_not "$output" priorityclass-multiple-default
	holds_not "$output" object-duplicate
	full
	holds "$output" "Checked separately, because they contain the same objects: clusters/a, clusters/b"
	# A request that exceeds the quota of one cluster is reported there.
	cluster clusters/b 9
	lint --select quota .
	is "$status" 1
	is "$(paths)" "clusters/b/job.yaml"
	holds "$output" quota-never-fits
}

@test "a default class of one cluster does not apply to another" {
	cluster clusters/a 1
	cluster clusters/b 1
	sed -i '/^---/,$d' clusters/b/quota.yaml
	lint --select priority-class-missing --fail-on info .
	is "$(paths)" "clusters/b/job.yaml"
}

@test "one folder is one set, including its subfolders" {
	cluster prod 6
	cp prod/job.yaml prod/again.yaml
	mkdir prod/more
	sed 's/name: train/name: other/' prod/job.yaml >prod/more/job.yaml
	lint --fail-on info .
	holds "$output" object-duplicate
	holds "$output" quota-would-exceed
}

@test "paths: separates sets by name" {
	cluster a 6
	cluster b 6
	sed -i 's/name: q,/name: q2,/; s/normal-b/normal-a/' b/quota.yaml
	sed -i 's/name: train/name: other/' b/job.yaml
	sed -i '/^---/,$d' a/quota.yaml
	lint --select quota .
	holds "$output" quota-would-exceed
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\npaths:\n- {glob: "a/**", set: a}\n- {glob: "b/**", set: b}\n' \
		>.gpugate.yaml
	lint --select quota .
	is "$status" 0
	holds_not "$output" quota-would-exceed
	run "$GPUGATE" quota --format json .
	is "$(printf '%s' "$output" | python3 -c '
import json, sys
print([r["adds"] for r in json.load(sys.stdin)["rows"]])')" "['6', '6']"
}

@test "a class next to the cluster folders applies to each cluster" {
	cluster clusters/a 1
	cluster clusters/b 1
	mkdir common
	sed '1,/^---/d; s/normal-a/gpu-batch/; /globalDefault/d' \
		clusters/a/quota.yaml >common/class.yaml
	for c in a b; do
		sed -i 's/^      restartPolicy: Never/&\n      priorityClassName: gpu-batch/' \
			clusters/$c/job.yaml
	done
	lint --select priority-class-unknown .
	is "$output" ""
	sed -i 's/gpu-batch/gpu-bach/' clusters/b/job.yaml
	lint --select priority-class-unknown .
	is "$(paths)" clusters/b/job.yaml
}

@test "a comment with three dots stands for omitted text" {
	deployment d >whole.yaml
	sed 's/^\( *\)- name: /\1# ... other containers\n&/' whole.yaml >part.yaml
	grep -q '# \.\.\. other' part.yaml
	lint --select readiness-missing-gpu-serving whole.yaml
	holds "$output" whole.yaml
	lint --select readiness-missing-gpu-serving part.yaml
	is "$output" ""
	# A script's own comment is not one of the manifest.
	sed 's/^metadata: .*/metadata:\n  name: d\n  annotations:\n    script: |\n      # ... and so on/' \
		whole.yaml >script.yaml
	grep -q '# \.\.\. and' script.yaml
	lint --select readiness-missing-gpu-serving script.yaml
	holds "$output" script.yaml
}

@test "a patch alone requests nothing; a patched workload requests at least this" {
	mkdir patch
	printf '%s\n' 'apiVersion: apps/v1' 'kind: Deployment' \
		'metadata: {name: d, namespace: ml}' 'spec:' '  template:' \
		'    spec:' '      containers:' '      - name: serve' \
		'        resources: {limits: {nvidia.com/gpu: 8}}' >patch/p.yaml
	cd patch
	is "$(figure gpus)" 0
	is "$(figure gpusUnknown)" True
	cd ..
	deployment d >d.yaml
	is "$(figure gpus)" 2
	full
	holds "$output" "at least 2 GPUs"
}
