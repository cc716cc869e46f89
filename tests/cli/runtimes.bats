# SPDX-License-Identifier: Apache-2.0
# Pods that are made from an object of another file, or of the cluster.
# tests/check/pod-fields.sh plants defects in them.
bats_require_minimum_version 1.5.0
load helper

# runtime FILE [PRODUCT]: writes a ClusterTrainingRuntime whose line 13 selects
# AMD nodes.
runtime() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<-END
		apiVersion: trainer.kubeflow.org/v1alpha1
		kind: ClusterTrainingRuntime
		metadata: {name: amd}
		spec:
		  template:
		    spec:
		      replicatedJobs:
		      - name: node
		        template:
		          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
		          spec:
		            template: {spec: {
		              nodeSelector: {amd.com/gpu.product-name: ${2:-AMD_Instinct_MI300X}},
		              containers: [{name: node, image: "a:1"}]}}
	END
}

# job FILE [REF]: writes a TrainJob whose line 5 names the runtime.
job() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<-END
		apiVersion: trainer.kubeflow.org/v1alpha1
		kind: TrainJob
		metadata: {name: tune, namespace: ml}
		spec:
		  runtimeRef: ${2:-{name: amd\}}
		  trainer:
		    resourcesPerNode: {limits: {nvidia.com/gpu: 8}}
	END
}

contradiction() {
	run "$GPUGATE" lint --isolated --select selector-resource-contradiction "$@"
}

@test "a runtime of another file: the job is shown, with the runtime's value" {
	job a/job.yaml
	runtime b/runtime.yaml
	contradiction .
	is "$status" 1
	holds "$output" "(from ClusterTrainingRuntime \`amd\`)"
	holds "$output" "--> a/job.yaml:5:22   TrainJob ml/tune"
	holds "$output" "note: b/runtime.yaml:13: the value of ClusterTrainingRuntime \`amd\`"
	# The file of the runtime may precede the file of the job.
	mv b 0
	contradiction .
	is "$status" 1
	# Without the runtime's folder, its fields are unknown.
	contradiction a
	is "$status" 0
	# A comment at the reference suppresses the finding.
	sed -i '5s/$/ # gpugate: ignore[selector-resource-contradiction] -- a test/' a/job.yaml
	contradiction .
	is "$status" 0
}

@test "a runtime of another file: standard input, and a list" {
	job job.yaml
	runtime runtime.yaml
	contradiction - runtime.yaml <job.yaml
	is "$status" 1
	holds "$output" "--> -:5:22"
	printf 'apiVersion: v1\nkind: List\nitems:\n' >list.yaml
	sed 's/^/  /; 1s/^  /- /' runtime.yaml >>list.yaml
	rm runtime.yaml
	contradiction .
	is "$status" 1
	holds "$output" "note: list.yaml:16:"
}

@test "a similar object in another file is not the runtime" {
	runtime runtime.yaml
	job job.yaml '{name: other}'
	contradiction .
	is "$status" 0
	job job.yaml '{name: amd, kind: TrainingRuntime}'
	contradiction .
	is "$status" 0
	job job.yaml
	contradiction .
	is "$status" 1
	# If two files define the runtime differently, it is unknown which one
	# is applied.
	runtime other/runtime.yaml AMD_Instinct_MI325X
	contradiction .
	is "$status" 0
	runtime other/runtime.yaml
	contradiction .
	is "$status" 1
	# A kustomization that patches the runtime makes it unknown.
	rm -r other
	printf 'resources: [runtime.yaml]\npatches: [{path: patch.yaml}]\n' >kustomization.yaml
	echo '{apiVersion: trainer.kubeflow.org/v1alpha1, kind: ClusterTrainingRuntime, metadata: {name: amd}}' >patch.yaml
	contradiction .
	is "$status" 0
}

@test "a runtime of another file: no fix replaces its values" {
	job job.yaml
	runtime runtime.yaml
	cat job.yaml runtime.yaml >before.txt
	run "$GPUGATE" lint --isolated --fix --unsafe-fixes --select shm-missing,gpu-toleration-missing job.yaml runtime.yaml
	holds "$output" '[shm-missing]'
	cat job.yaml runtime.yaml | cmp - before.txt
}

@test "a runtime of another file may be UTF-16" {
	job a/job.yaml
	runtime b/runtime.yaml
	python3 -c 'import sys; p = sys.argv[1]
open(p, "r+b").write(open(p).read().encode("utf-16"))' b/runtime.yaml
	contradiction .
	is "$status" 1
	holds "$output" "(from ClusterTrainingRuntime \`amd\`)"
}

# template FILE [KIND]: writes a WorkflowTemplate whose pods have 2 GPUs.
template() {
	cat >"$1" <<-END
		apiVersion: argoproj.io/v1alpha1
		kind: ${2:-WorkflowTemplate}
		metadata: {name: tune}
		spec:
		  entrypoint: main
		  templates:
		  - name: main
		    container: {image: "a:1", resources: {limits: {nvidia.com/gpu: 2}}}
	END
}

# workflow FILE [SPEC]: writes a Workflow that runs the template.
workflow() {
	cat >"$1" <<-END
		apiVersion: argoproj.io/v1alpha1
		kind: Workflow
		metadata: {name: night, namespace: ml}
		spec: {workflowTemplateRef: {name: tune}${2-}}
	END
}

@test "a Workflow has the pods of its WorkflowTemplate" {
	workflow job.yaml
	template template.yaml
	run "$GPUGATE" quota --isolated job.yaml template.yaml
	holds "$output" '2  Workflow night  job.yaml:3'
	# A template of cluster scope needs `clusterScope`, and may be in the
	# same file.
	template template.yaml ClusterWorkflowTemplate
	run "$GPUGATE" quota --isolated job.yaml template.yaml
	is "$(grep -c 'Workflow night' <<<"$output")" 0
	workflow all.yaml
	sed -i 's/{name: tune}/{name: tune, clusterScope: true}/' all.yaml
	{ echo ---; cat template.yaml; } >>all.yaml
	run "$GPUGATE" quota --isolated all.yaml
	holds "$output" '2  Workflow night  all.yaml:3'
}

@test "a schedule has the pods of its WorkflowTemplate" {
	template template.yaml
	cat >job.yaml <<-END
		apiVersion: argoproj.io/v1alpha1
		kind: CronWorkflow
		metadata: {name: night, namespace: ml}
		spec: {schedule: "0 1 * * *", concurrencyPolicy: Forbid, workflowSpec: {workflowTemplateRef: {name: tune}}}
	END
	run "$GPUGATE" quota --isolated .
	holds "$output" '2  CronWorkflow night  job.yaml:3'
}

@test "fields of a Workflow in addition to those of its WorkflowTemplate" {
	template template.yaml
	workflow job.yaml
	# The pods of the Workflow get no second finding.
	run "$GPUGATE" lint --isolated --select shm-missing .
	is "$(grep -c 'shm-missing\]' <<<"$output")" 1
	holds "$output" '--> template.yaml:8:'
	contradiction .
	is "$status" 0
	workflow job.yaml ', nodeSelector: {amd.com/gpu.product-name: AMD_Instinct_MI300X}'
	contradiction .
	is "$status" 1
	holds "$output" '--> job.yaml:4:'
	# A Workflow without the field gets the template's.
	workflow job.yaml
	echo '  nodeSelector: {amd.com/gpu.product-name: AMD_Instinct_MI300X}' >>template.yaml
	contradiction .
	is "$status" 1
	holds "$output" '--> template.yaml:9:'
	contradiction job.yaml
	is "$status" 0
}

# gpu_runtime FILE [FIELD]: writes a runtime whose pods have an image at line 14
# and no priority class.
gpu_runtime() {
	cat >"$1" <<-END
		apiVersion: trainer.kubeflow.org/v1alpha1
		kind: ClusterTrainingRuntime
		metadata: {name: torch}
		spec:
		  template:
		    spec:
		      replicatedJobs:
		      - name: node
		        template:
		          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
		          spec:
		            template: {spec: {${2-}
		              containers: [{name: node,
		                image: "pytorch/pytorch:latest",
		                resources: {limits: {nvidia.com/gpu: ${GPUS-4}}}}]}}
	END
}

# places RULE FILE...: prints where the rule reports.
places() {
	"$GPUGATE" lint --isolated --show-all --fail-on never --select "$1" "${@:2}" |
		sed -n 's/^ *--> \([^ ]*\).*/\1/p'
}

@test "a job does not repeat findings on its runtime" {
	gpu_runtime runtime.yaml
	job job.yaml '{name: torch}'
	sed -i '/trainer:/,$d' job.yaml
	is "$(places gpu-image-unpinned .)" runtime.yaml:14:24
	is "$(places gpu-image-unpinned job.yaml)" ""
	is "$(places shm-missing .)" runtime.yaml:13:35
	is "$(places priority-class-missing .)" runtime.yaml:12:24
	{ cat runtime.yaml; echo ---; cat job.yaml; } >all.yaml
	is "$(places shm-missing all.yaml)" all.yaml:13:35
	is "$(places gpu-image-unpinned all.yaml)" all.yaml:14:24
	# If only the job gives the pods their GPUs, findings are at the job.
	GPUS=0 gpu_runtime runtime.yaml
	printf '  trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}\n' >>job.yaml
	is "$(places shm-missing job.yaml runtime.yaml)" job.yaml:4:1
	is "$(places priority-class-missing job.yaml runtime.yaml)" job.yaml:4:1
	# A runtime with GPUs that the job does not use has its own findings.
	gpu_runtime other.yaml
	sed -i 's/name: torch/name: other/' other.yaml
	is "$(places priority-class-missing job.yaml runtime.yaml other.yaml)" \
		$'job.yaml:4:1\nother.yaml:12:24'
}

@test "a Workflow does not repeat findings of set rules on its template" {
	workflow job.yaml
	template template.yaml
	is "$(places priority-class-missing .)" template.yaml:7:11
	# Two objects that name different unknown classes have a finding each.
	echo '  podPriorityClassName: huge' >>template.yaml
	printf '%s\n' 'apiVersion: scheduling.k8s.io/v1' 'kind: PriorityClass' \
		'metadata: {name: large}' 'value: 5' >class.yaml
	is "$(places priority-class-unknown .)" template.yaml:9:25
	workflow job.yaml ', podPriorityClassName: small'
	is "$(places priority-class-unknown .)" $'job.yaml:4:65\ntemplate.yaml:9:25'
}

# cache FILE [SOURCE]: writes a NIMCache with a profile of 4 GPUs.
cache() {
	cat >"$1" <<-END
		apiVersion: apps.nvidia.com/v1alpha1
		kind: NIMCache
		metadata: {name: llama, namespace: ml}
		spec: {source: ${2:-{ngc: {authSecret: ngc\}\}}}
		status: {profiles: [{name: large, config: {tp: "4"}}]}
	END
}

# nim FILE CACHE [FIELDS]: writes a NIMService of 2 replicas that uses the
# cache.
nim() {
	cat >"$1" <<-END
		apiVersion: apps.nvidia.com/v1alpha1
		kind: NIMService
		metadata: {name: llama, namespace: ml}
		spec: {replicas: 2, storage: {nimCache: $2}${3-}}
	END
}

gpus() {
	"$GPUGATE" quota --isolated . | awk '/NIMService/ {print $1 ($NF == "unknown" ? "+" : "")}'
}

@test "a NIMService gets the GPUs of its profile of its NIMCache" {
	cache cache.yaml
	nim nim.yaml '{name: llama, profile: large}'
	is "$(gpus)" 8
	# The GPUs of the service, even 0, override the profile.
	nim nim.yaml '{name: llama, profile: large}' ', resources: {limits: {nvidia.com/gpu: 1}}'
	is "$(gpus)" 2
	nim nim.yaml '{name: llama, profile: large}' ', resources: {limits: {nvidia.com/gpu: 0}}'
	is "$(gpus)" ""
	# Without a profile, or with one that the cache lacks, the pods have no
	# GPUs.
	nim nim.yaml '{name: llama}'
	is "$(gpus)" ""
	nim nim.yaml '{name: llama, profile: small}'
	is "$(gpus)" ""
	# Universal NIMs have no profiles.
	nim nim.yaml '{name: llama, profile: large}'
	cache cache.yaml '{ngc: {authSecret: ngc, modelEndpoint: "https://x"}}'
	is "$(gpus)" ""
	cache cache.yaml '{hf: {authSecret: hf}}'
	is "$(gpus)" ""
	# A number that the operator rejects is unknown.
	cache cache.yaml
	sed -i 's/tp: "4"/tp: "4x"/' cache.yaml
	is "$(gpus)" 2+
	# The number is also unknown if the NIMCache has no status, or no file
	# has the NIMCache.
	cache cache.yaml
	sed -i /status:/d cache.yaml
	is "$(gpus)" 2+
	nim nim.yaml '{name: other, profile: large}'
	is "$(gpus)" 2+
}

# pipeline FILE: writes a Task with 2 GPUs, and a Pipeline of two such tasks.
pipeline() {
	cat >"$1" <<-END
		apiVersion: tekton.dev/v1
		kind: Task
		metadata: {name: train}
		spec:
		  steps: [{name: train, image: "a:1", computeResources: {limits: {nvidia.com/gpu: 2}}}]
		---
		apiVersion: tekton.dev/v1
		kind: Pipeline
		metadata: {name: all}
		spec:
		  tasks:
		  - {name: a, taskRef: {name: train}}
		  finally:
		  - {name: b, taskRef: {name: ${2:-train}}}
	END
}

# run_of FILE REF: writes a PipelineRun for AMD nodes.
run_of() {
	cat >"$1" <<-END
		apiVersion: tekton.dev/v1
		kind: PipelineRun
		metadata: {name: night, namespace: ml}
		spec: {pipelineRef: $2, taskRunTemplate: {podTemplate: {
		  nodeSelector: {amd.com/gpu.product-name: AMD_Instinct_MI300X}}}}
	END
}

@test "a PipelineRun has the pods of its Pipeline's Tasks" {
	pipeline tasks.yaml
	run_of run.yaml '{name: all}'
	is "$(places selector-resource-contradiction .)" run.yaml:5:44
	is "$(places selector-resource-contradiction run.yaml)" ""
	# A value of the Task is shown at the reference of the run.
	is "$(places gpu-memory-limit-missing .)" run.yaml:4:28
	{ cat run.yaml; echo ---; cat tasks.yaml; } >all.yaml
	is "$(places selector-resource-contradiction all.yaml)" all.yaml:5:44
	# A resolver fetches another Pipeline.
	run_of run.yaml '{name: all, resolver: git}'
	is "$(places selector-resource-contradiction run.yaml tasks.yaml)" ""
	# No file has the Pipeline.
	run_of run.yaml '{name: other}'
	is "$(places selector-resource-contradiction run.yaml tasks.yaml)" ""
}

# serving FILE [RESOURCES]: writes a ServingRuntime with 2 GPUs.
serving() {
	cat >"$1" <<-END
		apiVersion: serving.kserve.io/v1alpha1
		kind: ServingRuntime
		metadata: {name: vllm, namespace: ml}
		spec:
		  supportedModelFormats: [{name: huggingface, autoSelect: true}]
		  containers:
		  - name: kserve-container
		    image: vllm/vllm-openai:v0.9.1
		    resources: ${2:-{limits: {nvidia.com/gpu: 2\}\}}
	END
}

# service FILE [FIELD]: writes an InferenceService of this runtime.
service() {
	cat >"$1" <<-END
		apiVersion: serving.kserve.io/v1beta1
		kind: InferenceService
		metadata: {name: llama, namespace: ml}
		spec:
		  predictor:
		    model:
		      runtime: vllm
		      modelFormat: {name: huggingface}
		      ${2-}
	END
}

# mend FILE..: fixes missing shared memory
mend() {
	run "$GPUGATE" lint --isolated --fix --unsafe-fixes --select shm-missing "$@"
}

@test "a fix of a runtime's pods is made in the runtime alone" {
	service a.yaml
	serving b.yaml
	cp a.yaml before.txt
	run "$GPUGATE" lint --isolated --diff --unsafe-fixes --select shm-missing a.yaml b.yaml
	holds "$output" '+++ b/b.yaml'
	is "$(grep -c a/a.yaml <<<"$output")" 0
	mend a.yaml b.yaml
	is "$status" 0
	holds "$(cat b.yaml)" '/dev/shm'
	cmp a.yaml before.txt
	# The order of the files does not matter.
	serving 0.yaml
	mend 0.yaml a.yaml
	is "$status" 0
	holds "$(cat 0.yaml)" '/dev/shm'
	cmp a.yaml before.txt
	# Both may be in one file, in any order.
	serving b.yaml
	{ cat a.yaml; echo ---; cat b.yaml; } >all.yaml
	mend all.yaml
	is "$status" 0
	is "$(grep -c /dev/shm all.yaml)" 1
	{ cat b.yaml; echo ---; cat a.yaml; } >all.yaml
	mend all.yaml
	is "$(grep -c /dev/shm all.yaml)" 1
}

@test "a fix for the pods of a runtime that has no finding" {
	service a.yaml 'resources: {limits: {nvidia.com/gpu: 2}}'
	serving b.yaml '{}'
	cp b.yaml before.txt
	mend a.yaml b.yaml
	is "$status" 0
	holds "$(cat a.yaml)" '/dev/shm'
	cmp b.yaml before.txt
	# Both may be in one file.
	service a.yaml 'resources: {limits: {nvidia.com/gpu: 2}}'
	{ cat a.yaml; echo ---; cat b.yaml; } >all.yaml
	mend all.yaml
	is "$status" 0
	holds "$(sed '/^---/,$d' all.yaml)" '/dev/shm'
}

@test "a job repeats nothing that was fixed in its runtime" {
	gpu_runtime runtime.yaml
	job job.yaml '{name: torch}'
	sed -i '/trainer:/,$d' job.yaml
	mend job.yaml runtime.yaml
	is "$(grep -c '\[shm-missing\]' <<<"$output")" 0
	holds "$(cat runtime.yaml)" '/dev/shm'
}

@test "engine runtimes of roles that share a template" {
	cat >group.yaml <<-END
		apiVersion: workloads.x-k8s.io/v1alpha2
		kind: RoleBasedGroup
		metadata: {name: llama, namespace: ml}
		spec:
		  roleTemplates:
		  - name: base
		    template: {spec: {containers: [{name: main, image: "a:1"}]}}
		  roles:
		  - {name: a, replicas: 2, engineRuntimes: [{profileName: side}], standalonePattern: {templateRef: {name: base}}}
		  - {name: b, replicas: 3, standalonePattern: {templateRef: {name: base}}}
	END
	cat >side.yaml <<-END
		apiVersion: workloads.x-k8s.io/v1alpha2
		kind: ClusterEngineRuntimeProfile
		metadata: {name: side}
		spec: {containers: [{name: side, image: "a:1", resources: {limits: {nvidia.com/gpu: 2}}}]}
	END
	run "$GPUGATE" quota --isolated .
	holds "$output" '4  RoleBasedGroup llama'
}

@test "a patch of a file with a runtime and many workloads" {
	{
		cat <<-'EOF'
			apiVersion: serving.kserve.io/v1alpha1
			kind: ServingRuntime
			metadata: {name: rt, namespace: ml}
			spec:
			  supportedModelFormats: [{name: pytorch}]
			  containers:
			  - name: kserve-container
			    image: vllm/vllm-openai:v0.11.0
			    args: [--model, m]
			    resources: {limits: {nvidia.com/gpu: 1.5}}
		EOF
		for i in $(seq 40); do
			cat <<-EOF
				---
				apiVersion: apps/v1
				kind: Deployment
				metadata: {name: d$i, namespace: ml}
				spec:
				  selector: {matchLabels: {app: d}}
				  template:
				    metadata: {labels: {app: d}}
				    spec:
				      containers:
				      - name: a
				        image: vllm/vllm-openai:v0.11.0
				        args: [--model, m, "$(printf '%02000d' "$i")"]
				        resources: {limits: {nvidia.com/gpu: 1}}
			EOF
		done
	} >runtime.yaml
	cat >service.yaml <<-'EOF'
		apiVersion: serving.kserve.io/v1beta1
		kind: InferenceService
		metadata: {name: s, namespace: ml}
		spec:
		  predictor: {model: {modelFormat: {name: pytorch}, runtime: rt}}
	EOF
	run --separate-stderr "$GPUGATE" lint --isolated --diff .
	is "$(grep -c '^+++ ' <<<"$output")" 1
	run "$GPUGATE" lint --isolated --format concise --fail-on never .
	is "$(grep -c gpu-fractional-quantity <<<"$output")" 1
}
