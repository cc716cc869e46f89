#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The checks of a rule: findings name them, and RULE/CHECK selects one, turns it
# off or suppresses it. Also messages of such rules.

load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cat >job.yaml <<-'EOF'
		apiVersion: ray.io/v1
		kind: RayJob
		metadata: {name: twice, namespace: ml}
		spec:
		  ttlSecondsAfterFinished: 600
		  suspend: true
		  clusterSelector: {ray.io/cluster: shared}
	EOF
}

# Prints the reported checks, in the order of the file.
checks() {
	"$GPUGATE" lint --format json --fail-on never "$@" job.yaml |
		sed 's/"check":/\n&/g' | sed -n 's/^"check":"\([^"]*\)".*/\1/p' |
		sort | tr '\n' ' '
}

@test "each finding names its check" {
	[ "$(checks --isolated)" = "suspend suspend-selector ttl " ]
	run "$GPUGATE" lint --isolated job.yaml
	[[ $output == *"[kuberay-rejects/ttl]"* ]]
}

@test "the command line turns one check off, or selects it" {
	[ "$(checks --isolated --ignore kuberay-rejects/ttl)" = \
		"suspend suspend-selector " ]
	[ "$(checks --isolated --select kuberay-rejects/ttl)" = "ttl " ]
	[ "$(checks --isolated \
		--select kuberay-rejects/ttl,kuberay-rejects/suspend)" = \
		"suspend ttl " ]
	[ "$(checks --isolated --select kuberay-rejects)" = \
		"suspend suspend-selector ttl " ]
	run "$GPUGATE" lint --isolated --ignore kuberay-rejects/none job.yaml
	[ "$status" -eq 2 ]
	[[ $output == *"kuberay-rejects/none"* ]]
}

@test "a comment and an annotation hide one check" {
	sed -i 's/600$/600 # gpugate: ignore[kuberay-rejects\/ttl] -- known/' job.yaml
	[ "$(checks --isolated)" = "suspend suspend-selector " ]
	sed -i 's/ml}$/ml, annotations: {gpugate.dev\/ignore: kuberay-rejects\/suspend}}/' job.yaml
	[ "$(checks --isolated)" = "suspend-selector " ]
}

@test "a policy turns off only one check" {
	cat >.gpugate.yaml <<-'EOF'
		apiVersion: gpugate.dev/v1
		kind: Policy
		rules: {kuberay-rejects/ttl: off}
	EOF
	[ "$(checks)" = "suspend suspend-selector " ]
	echo '# none' >>.gpugate.yaml
	sed -i 's/ttl: off/ttl: warning/' .gpugate.yaml
	run "$GPUGATE" lint job.yaml
	[ "$status" -eq 2 ]
	[[ $output == *"a check can only be \`off\`"* ]]
}

@test "explain lists the checks" {
	run "$GPUGATE" explain kuberay-rejects
	[[ $output == *"ttl: \`ttlSecondsAfterFinished\`"* ]]
	[[ $output == *"(1.7 and later)"* ]]
}

@test "a finding whose message names field and condition has no help" {
	run "$GPUGATE" lint --isolated --select kuberay-rejects/ttl job.yaml
	[[ $output == *"KubeRay rejects the object [kuberay-rejects/ttl]"* ]]
	[[ $output != *"= help"* ]]
	run "$GPUGATE" lint --isolated --format json \
		--select kuberay-rejects/ttl job.yaml
	[[ $output == *'"help":""'* ]]
	run "$GPUGATE" explain kuberay-rejects
	[[ $output != *"Help"* ]]
}

@test "a selector that matches no pod has help" {
	cat >job.yaml <<-'EOF'
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: server, namespace: ml}
		spec:
		  selector: {matchLabels: {app: server}}
		  template:
		    metadata: {labels: {app: other}}
		    spec: {containers: [{name: a, image: "a:1"}]}
	EOF
	run "$GPUGATE" lint --isolated --select server-rejects job.yaml
	[[ $output == *"help: Copy the labels of the template."* ]]
}

@test "an invalid quantity suggests a valid one" {
	printf '%s\n' 'apiVersion: v1' 'kind: ResourceQuota' \
		'metadata: {name: q}' 'spec:' '  hard:' >quota.yaml
	for text in 8GB 1Zi '10 Gi' 512mb '4 cores' 8gi eight '""' 1.5.2GB; do
		echo "    example.com/$((++n)): $text" >>quota.yaml
	done
	run bash -c '"$0" lint --isolated --select quantity-invalid --format json \
		quota.yaml | grep -o "\"help\":\"[a-zA-Z]* [^ ,]*"' "$GPUGATE"
	is "$output" '"help":"Write `8Gi`."
"help":"Write `1Gi`."
"help":"Write `10Gi`."
"help":"Write `512Mi`."
"help":"Write `4`."
"help":"Write `8Gi`."
"help":"Write an
"help":"Write an
"help":"Write an'
}

@test "messages name the value, and what is rejected" {
	cat >job.yaml <<-'EOF'
		apiVersion: batch/v1
		kind: Job
		metadata:
		  name: a
		  labels: {kueue.x-k8s.io/queue-name: main}
		  annotations: {kueue.x-k8s.io/job-min-parallelism: 50%}
		spec:
		  parallelism: 4
		  template:
		    metadata:
		      annotations: {kueue.x-k8s.io/podset-slice-size: "2"}
		    spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
		---
		apiVersion: batch.volcano.sh/v1alpha1
		kind: Job
		metadata: {name: b}
		spec:
		  policies:
		  - {event: PodFailed, action: RestartJob}
		  - {events: [PodFailed, PodEvicted], action: AbortJob}
		  tasks:
		  - {name: v, dependsOn: {name: [w]}, template: {spec: {containers: [{name: a, image: "a:1"}]}}}
		  - {name: w, dependsOn: {name: [v]}, template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}}
		---
		apiVersion: kueue.x-k8s.io/v1beta2
		kind: ClusterQueue
		metadata: {name: c}
		spec:
		  namespaceSelector: {}
		  resourceGroups:
		  - coveredResources: [cpu]
		    flavors: [{name: d, resources: [{name: cpu, nominalQuota: 1, lendingLimit: 2}]}]
	EOF
	run "$GPUGATE" lint --isolated --format concise --fail-on never job.yaml
	[[ $output == *'`job-min-parallelism` is `50%`, not a positive integer: Kueue rejects the object'* ]]
	[[ $output == *'without `podset-slice-required-topology`: Kueue rejects the object'* ]]
	[[ $output == *'two policies are for the event `PodFailed`'* ]]
	[[ $output == *'a cycle of `dependsOn` has the tasks `v`, `w`'* ]]
	[[ $output == *'`lendingLimit` of `cpu` in flavor `d` is above its `nominalQuota`'* ]]
}

@test "only a number above the devices is called a device" {
	for value in 2 "0 1" 1x; do
		cat <<-EOF
			---
			apiVersion: v1
			kind: Pod
			metadata: {name: p$((++n)), namespace: ml}
			spec:
			  containers:
			  - name: a
			    image: a:1
			    env: [{name: CUDA_VISIBLE_DEVICES, value: "$value"}]
			    resources: {limits: {nvidia.com/gpu: 2}}
		EOF
	done >pods.yaml
	run "$GPUGATE" lint --isolated --select cuda-visible-devices-invalid \
		--format concise --fail-on never pods.yaml
	[[ $output == *'names device 2, but container `a` has only 2 devices'* ]]
	[[ $output == *'`CUDA_VISIBLE_DEVICES: 0 1` is not a list'* ]]
	[[ $output == *'`CUDA_VISIBLE_DEVICES: 1x` is not a list'* ]]
	[[ $output != *'names device 0'* && $output != *'names device 1'* ]]
}

# Prints the severities of the finding if the policy gives this version of KServe.
with_kserve() {
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\noperators: {kserve: "%s"}\n' \
		"$1" >policy.yaml
	"$GPUGATE" lint --config policy.yaml --select kserve-rejects \
		--format concise service.yaml | grep -o 'error\|warning'
}

@test "a version of the operator that was not read makes a rejection a warning" {
	cat >service.yaml <<-'EOF'
		apiVersion: serving.kserve.io/v1beta1
		kind: InferenceService
		metadata: {name: bounds, namespace: ml}
		spec:
		  predictor:
		    minReplicas: 4
		    maxReplicas: 2
		    model: {modelFormat: {name: huggingface}, storageUri: "pvc://a"}
	EOF
	[ "$(with_kserve 0.12)" = warning ]
	[ "$(with_kserve 0.13)" = error ]
	[ "$(with_kserve v0.20.9)" = error ]
	[ "$(with_kserve 0.21)" = warning ]
	[ "$(with_kserve 1.15)" = warning ]
	run "$GPUGATE" lint --config policy.yaml --format concise service.yaml
	holds "$output" 'KServe rejects the object in the versions 0.13 to 0.20'
	run "$GPUGATE" lint --isolated --format concise service.yaml
	holds "$output" 'error: `minReplicas` is above'
	sed -i 's/maxReplicas: 2/maxReplicas: 4\n    logger: {mode: all}\n    storageUris: [{uri: ""}]/' service.yaml
	[ "$(with_kserve 0.15)" = "" ]
	[ "$(with_kserve 0.20 | sort -u)" = error ]
	[ "$(with_kserve 0.21 | sort -u)" = warning ]
}

# Prints the help about a missing limit for a pod that tolerates a taint.
help_for_taint() {
	sed "s|KEY|$1|" >pod.yaml <<-'EOF'
		apiVersion: v1
		kind: Pod
		metadata: {name: train, namespace: ml}
		spec:
		  restartPolicy: Never
		  tolerations: [{key: KEY, operator: Exists}]
		  containers:
		  - {name: train, image: "team/train:1", command: [python, train.py]}
	EOF
	"$GPUGATE" lint --isolated --select gpu-limit-missing --format full \
		pod.yaml | grep -o 'help: .*'
}

@test "the help about a missing limit names the resource of the vendor" {
	[[ $(help_for_taint nvidia.com/gpu) == *'`nvidia.com/gpu: 1`'* ]]
	[[ $(help_for_taint google.com/tpu) == *'`google.com/tpu`'* ]]
	[[ $(help_for_taint amd.com/gpu) == *'`amd.com/gpu`'* ]]
	run help_for_taint habana.ai/gaudi
	[ "$output" = 'help: Request the devices in `resources.limits`.' ]
}
