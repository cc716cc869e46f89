# SPDX-License-Identifier: Apache-2.0
# Reports of lint: where they are written, the result if they cannot be written,
# and the wording and numbers that all or several formats share.
bats_require_minimum_version 1.5.0
load helper

@test "each format, to a file; several in one run" {
	pod a.yaml
	for format in full concise json jsonl sarif junit github gitlab rdjson \
		markdown html openreports; do
		run --separate-stderr "$GPUGATE" lint --format $format:out.$format a.yaml
		is "$status" 1
		is "$output" ""
		is "$stderr" "gpugate: wrote out.$format: 1 error, 0 warnings"
		[ -s out.$format ]
	done
	run "$GPUGATE" lint --format json:1 --format sarif:2 --format concise a.yaml
	is "$status" 1
	holds "$output" "a.yaml:7:13"
	cmp 1 out.json || true
	[ -s 1 ] && [ -s 2 ]
}

@test "formats that are unknown or collide" {
	good a.yaml
	run --separate-stderr "$GPUGATE" lint --format jsn a.yaml
	is "$status" 2
	holds "$stderr" 'did you mean `json`?'
	run --separate-stderr "$GPUGATE" lint --format nonsense a.yaml
	is "$status" 2
	holds "$stderr" openreports
	run --separate-stderr "$GPUGATE" lint --format json --format sarif a.yaml
	is "$status" 2
	run --separate-stderr "$GPUGATE" lint --format json:x --format sarif:x a.yaml
	is "$status" 2
	run --separate-stderr "$GPUGATE" lint --format json: a.yaml
	is "$status" 2
}

@test "a full disk: message, exit 2" {
	pod a.yaml
	run --separate-stderr bash -c '"$0" lint a.yaml >/dev/full' "$GPUGATE"
	is "$status" 2
	holds "$stderr" "gpugate: standard output: No space left on device"
	run --separate-stderr "$GPUGATE" lint --format json:/dev/full a.yaml
	is "$status" 2
	holds "$stderr" "gpugate: /dev/full: No space left on device"
	[ -c /dev/full ]
	run --separate-stderr bash -c '"$0" rules >/dev/full' "$GPUGATE"
	is "$status" 2
}

pods() { # NUMBER: files f1.yaml, f2.yaml, ...
	pod f1.yaml
	for i in $(seq 2 "$1"); do
		cp f1.yaml "f$i.yaml"
	done
}

@test "a full disk leaves the old report as it was" {
	pods 200
	unshare -rm true 2>/dev/null || skip "no user namespaces here"
	run --separate-stderr unshare -rm bash -c '
		mkdir m && mount -t tmpfs -o size=16k none m || exit 99
		echo old >m/report.json
		"$0" lint --format json:m/report.json --format concise .
		echo "exit $?"
		cat m/report.json
		ls -A m' "$GPUGATE"
	[ "$status" -ne 99 ] || skip "tmpfs cannot be mounted here"
	holds "$stderr" "m/report.json: No space left on device"
	holds "$output" "f1.yaml:7:13"
	is "$(echo "$output" | tail -3 | tr '\n' ' ')" "exit 2 old report.json "
}

@test "a reader that goes away: message, exit 2, no signal" {
	pods 300
	run --separate-stderr bash -c '
		set -o pipefail
		"$0" lint --show-all . | head -n 1' "$GPUGATE"
	is "$status" 2
	holds "$stderr" "gpugate: standard output: Broken pipe"
}

@test "a report file: permissions and links are kept" {
	pod a.yaml
	mkdir real
	echo old >real/r.json
	chmod 640 real/r.json
	ln -s real/r.json link.json
	run "$GPUGATE" lint --format json:link.json a.yaml
	is "$status" 1
	[ -L link.json ]
	is "$(stat -c %a real/r.json)" 640
	holds "$(cat real/r.json)" '"version":1'
	is "$(ls -A real)" r.json
}

@test "a report in a folder that does not exist; other reports are written" {
	pod a.yaml
	run --separate-stderr "$GPUGATE" lint --format json:no/such/r.json \
		--format concise a.yaml
	is "$status" 2
	holds "$stderr" "no/such/r.json: No such file or directory"
	holds "$output" "a.yaml:7:13"
}

@test "findings beyond any buffer" {
	{
		echo 'apiVersion: v1'
		echo 'kind: ConfigMap'
		echo 'metadata: {name: a}'
		echo 'data:'
		for i in $(seq 3000); do
			printf '  k%d: a\n  k%d: b\n' "$i" "$i"
		done
	} >a.yaml
	for i in $(seq 20); do
		cp a.yaml "b$i.yaml"
	done
	"$GPUGATE" lint --format concise -j 2 . >out
	is "$(wc -l <out)" 63000
}

@test "color: options, then NO_COLOR, FORCE_COLOR, CLICOLOR" {
	pod a.yaml
	esc=$(printf '\033')
	run "$GPUGATE" lint a.yaml
	holds_not "$output" "$esc"
	run "$GPUGATE" lint --color always a.yaml
	holds "$output" "$esc"
	NO_COLOR=1 run "$GPUGATE" lint --color always a.yaml
	holds "$output" "$esc"
	FORCE_COLOR=1 run "$GPUGATE" lint a.yaml
	holds "$output" "$esc"
	CLICOLOR_FORCE=1 run "$GPUGATE" lint a.yaml
	holds "$output" "$esc"
	NO_COLOR=1 FORCE_COLOR=1 run "$GPUGATE" lint a.yaml
	holds_not "$output" "$esc"
	NO_COLOR= FORCE_COLOR=1 run "$GPUGATE" lint a.yaml
	holds "$output" "$esc"
	FORCE_COLOR=1 run "$GPUGATE" lint --color never a.yaml
	holds_not "$output" "$esc"
	FORCE_COLOR=0 run "$GPUGATE" lint a.yaml
	holds_not "$output" "$esc"
	FORCE_COLOR=1 run "$GPUGATE" lint --format full:r.txt a.yaml
	holds_not "$(cat r.txt)" "$esc"
	run "$GPUGATE" lint --color often a.yaml
	is "$status" 2
}

@test "a terminal gets color unless TERM or CLICOLOR disable it" {
	command -v script >/dev/null || skip "no script(1)"
	script -qec true /dev/null >/dev/null 2>&1 || skip "no terminals here"
	pod a.yaml
	esc=$(printf '\033')
	export TERM=xterm
	run script -qec "'$GPUGATE' lint a.yaml" /dev/null
	holds "$output" "$esc"
	CLICOLOR=0 run script -qec "'$GPUGATE' lint a.yaml" /dev/null
	holds_not "$output" "$esc"
	TERM=dumb run script -qec "'$GPUGATE' lint a.yaml" /dev/null
	holds_not "$output" "$esc"
}

@test "help quotes a value as the file spells it, not as YAML reads it" {
	cat >a.yaml <<-'EOF'
		apiVersion: v1
		kind: Pod
		metadata: {name: a, labels: {version: 1.0}}
		spec:
		  containers:
		  - name: a
		    image: registry.example.com/a:1
		    args: [--flash-attn, on, --level, 010]
		    resources: {limits: {nvidia.com/gpu: 1}}
	EOF
	run "$GPUGATE" lint --isolated --select field-type-invalid a.yaml
	is "$status" 1
	holds "$output" 'Put it in quotes: `"on"`.'
	holds "$output" 'Put it in quotes: `"010"`.'
	holds "$output" 'Put it in quotes: `"1.0"`.'
}

@test "help names a label of the vendor" {
	for pair in amd.com/gpu:amd.com/gpu.product-name \
		gpu.intel.com/i915:gpu.intel.com/product \
		aws.amazon.com/neuron:node.kubernetes.io/instance-type \
		nvidia.com/gpu.shared:nvidia.com/gpu.product; do
		printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: p}' \
			'spec:' '  containers:' '  - name: c' '    image: a:1' \
			"    resources: {limits: {${pair%%:*}: 1}}" >a.yaml
		run "$GPUGATE" lint --show-all \
			--select gpu-node-selector-missing a.yaml
		holds "$output" "such as \`${pair#*:}\`"
	done
}

three_pods() { # RESOURCES [CLAIMS]: a Deployment
	cat <<-END
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: web, namespace: ml}
		spec:
		  replicas: 3
		  selector: {matchLabels: {a: b}}
		  template:
		    metadata: {labels: {a: b}}
		    spec:
		      resourceClaims: ${2-[]}
		      containers:
		      - {name: c, image: "a:1", resources: $1}
	END
}

@test "a server that exceeds its quota runs partially" {
	three_pods '{limits: {nvidia.com/gpu: 1}}' >a.yaml
	cat >>a.yaml <<-END
		---
		apiVersion: v1
		kind: ResourceQuota
		metadata: {name: few, namespace: ml}
		spec: {hard: {requests.nvidia.com/gpu: 2}}
	END
	run "$GPUGATE" lint --select quota-never-fits a.yaml
	is "$status" 1
	holds "$output" "needs 3 nvidia.com/gpu"
	holds "$output" "its pods can never all run at the same time"
	cat >b.yaml <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: p, namespace: ml}
		spec:
		  containers:
		  - {name: c, image: "a:1", resources: {limits: {nvidia.com/gpu: 4}}}
		---
		apiVersion: v1
		kind: ResourceQuota
		metadata: {name: few, namespace: ml}
		spec: {hard: {requests.nvidia.com/gpu: 2}}
	END
	run "$GPUGATE" lint --select quota-never-fits b.yaml
	holds "$output" "Pod \`p\` needs 4 nvidia.com/gpu, but quota \`few\` allows only 2: it can never run"
}

@test "a Job that fits its quota does not peak above it" {
	cat >a.yaml <<-'END'
		apiVersion: v1
		kind: ResourceQuota
		metadata: {name: q, namespace: ml}
		spec: {hard: {requests.nvidia.com/gpu: "8"}}
		---
		apiVersion: batch/v1
		kind: Job
		metadata: {name: j, namespace: ml}
		spec:
		  template:
		    spec:
		      restartPolicy: Never
		      containers:
		      - {name: c, image: "a:1", resources: {limits: {nvidia.com/gpu: 5}}}
	END
	for gpus in 5 8; do
		sed -i "s|nvidia.com/gpu: [0-9]*}|nvidia.com/gpu: $gpus}|" a.yaml
		run "$GPUGATE" lint --isolated --select quota-would-exceed a.yaml
		is "$status" 0
		holds_not "$output" 'peaks at'
	done
	sed -i 's|^kind: Job|kind: Deployment|; s|batch/v1|apps/v1|; s|restartPolicy: Never|restartPolicy: Always|' a.yaml
	run "$GPUGATE" lint --isolated --select quota-would-exceed a.yaml
	holds "$output" 'peaks at 16 nvidia.com/gpu (rollout, elastic maximum or parallel steps; else 8)'
}

@test "a set rule runs if the policy of one file enables it" {
	mkdir -p a b
	for folder in a b; do
		cat >$folder/all.yaml <<-END
			apiVersion: v1
			kind: ResourceQuota
			metadata: {name: q, namespace: ml-$folder}
			spec: {hard: {requests.nvidia.com/gpu: "1"}}
			---
			apiVersion: v1
			kind: Pod
			metadata: {name: p, namespace: ml-$folder}
			spec:
			  containers:
			  - {name: c, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}
			---
			apiVersion: v1
			kind: Pod
			metadata: {name: q, namespace: ml-$folder}
			spec:
			  containers:
			  - {name: c, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}
		END
	done
	header='apiVersion: gpugate.dev/v1\nkind: Policy\n'
	printf "${header}rules: {quota-would-exceed: off}\n" >.gpugate.yaml
	run "$GPUGATE" lint .
	holds_not "$output" '[quota-would-exceed]'
	# a policy in a folder turns the rule on there
	printf "${header}rules: {quota-would-exceed: error}\n" >b/.gpugate.yaml
	run "$GPUGATE" lint --format concise .
	is "$(grep quota-would <<<"$output" | cut -d: -f1)" b/all.yaml
	# an override turns the rule on for a namespace
	rm b/.gpugate.yaml
	printf 'overrides: [{namespaces: [ml-b], rules: {quota-would-exceed: error}}]\n' >>.gpugate.yaml
	run "$GPUGATE" lint --format concise .
	is "$(grep quota-would <<<"$output" | cut -d: -f1)" b/all.yaml
}

@test "claims in the file set the number of GPUs of its pods, in any order" {
	three_pods '{claims: [{name: devices}]}' \
		'[{name: devices, resourceClaimTemplateName: two}]' >a.yaml
	cat >>a.yaml <<-'END'
		---
		apiVersion: resource.k8s.io/v1
		kind: ResourceClaimTemplate
		metadata: {name: two, namespace: ml}
		spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}
	END
	run "$GPUGATE" lint --isolated a.yaml
	holds "$output" "; 6 GPUs requested"
	holds "$output" "priority-class-missing 1"
	sed '/^---/,$d' a.yaml >b.yaml
	run "$GPUGATE" lint --isolated b.yaml
	holds "$output" "; an unknown number of GPUs requested"
}

@test "shares of GPUs do not count as no GPUs" {
	printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ml}\nspec:\n  containers:\n  - {name: c, image: "a:1", resources: {limits: {nvidia.com/gpumem: 3000}}}\n' >a.yaml
	run "$GPUGATE" lint --isolated a.yaml
	holds "$output" "; an unknown number of GPUs requested"
	sed 's/gpumem: 3000/gpu: 2/' a.yaml >b.yaml
	run "$GPUGATE" lint --isolated b.yaml
	holds "$output" "; 2 GPUs requested"
	sed 's/nvidia.com.gpumem: 3000/google.com\/tpu: 4/' a.yaml >c.yaml
	run "$GPUGATE" lint --isolated c.yaml
	holds "$output" "; 4 accelerators requested"
}

@test "partially checked objects are reported" {
	cat >a.yaml <<-'END'
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: a, namespace: ml}
		spec:
		  template:
		    spec:
		      containers:
		      - {name: c, image: "${IMAGE}", resources: {limits: {nvidia.com/gpu: 1}}}
	END
	run "$GPUGATE" lint --isolated a.yaml
	holds "$output" "Checked in part: 1 partial object (a patch, or without selector or image), 1 placeholder"
	sed 's/^spec:/spec:\n  selector: {matchLabels: {a: b}}/; s/"${IMAGE}"/"a:1"/' a.yaml >b.yaml
	run "$GPUGATE" lint --isolated b.yaml
	[[ $output != *"Checked in part"* ]]
}

# unknown KIND: writes an object of this kind, with a pod.
unknown() {
	cat <<-END
		---
		apiVersion: example.com/v1
		kind: $1
		metadata: {name: a, namespace: ml}
		spec: {template: {spec: {containers: [{name: c, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}}
	END
}

@test "unknown kinds are named, equally for any number of threads" {
	unknown Solver >a.yaml
	unknown Solver >>a.yaml
	run "$GPUGATE" lint --isolated a.yaml
	holds "$output" "Checked in part: 2 objects of unknown kinds (Solver)"
	unknown Zebra >b.yaml
	unknown Mixer >c.yaml
	for jobs in 1 4; do
		run "$GPUGATE" lint --isolated -j $jobs .
		holds "$output" "4 objects of unknown kinds (Mixer, Solver, Zebra)"
	done
	unknown Ant >d.yaml
	unknown hf_abcdefghijklmnopqrstuvwxyzABCDEFGH >e.yaml
	run "$GPUGATE" lint --isolated .
	holds "$output" "6 objects of unknown kinds (Ant, Mixer, Solver, ...)"
	holds_not "$output" "hf_abc"
}

@test "an unknown kind with devices outside of any pod is counted" {
	cat >a.yaml <<-END
		apiVersion: example.com/v1
		kind: FineTune
		metadata: {name: a, namespace: ml}
		spec: {compute: {limits: {nvidia.com/gpu: 8}}}
		---
		apiVersion: example.com/v1
		kind: Zero
		metadata: {name: a, namespace: ml}
		spec: {compute: {limits: {nvidia.com/gpu: 0}}}
		---
		apiVersion: karpenter.sh/v1
		kind: NodePool
		metadata: {name: a}
		spec: {limits: {nvidia.com/gpu: 100}}
	END
	run "$GPUGATE" lint --isolated a.yaml
	holds "$output" "Checked in part: 1 object of an unknown kind (FineTune)"
}

@test "SARIF lists suppressed findings, but not for GitHub, which would show them" {
	pod a.yaml
	pod b.yaml other
	lint --add-ignore known a.yaml
	for on_github in '' false true; do
		GITHUB_ACTIONS=$on_github run "$GPUGATE" lint --isolated --format sarif .
		echo "$output" >report.json
		is "$(grep -o '"justification":"known"' report.json | wc -l) $(grep -o '"ruleId":"priority-integer-set"' report.json | wc -l)" \
			"$([ "$on_github" = true ] && echo 0 1 || echo 1 2)"
	done
}

@test "a container whose name is filled in later is named by its placeholder" {
	printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: p}' 'spec:' \
		'  initContainers:' \
		'  - {name: "${NAME}", image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}' \
		'  containers:' '  - {name: main, image: "a:1"}' >p.yaml
	run "$GPUGATE" lint --select gpu-in-init-container p.yaml
	holds "$output" 'init container `${NAME}` requests 1'
	holds "$output" 'If a main container uses the GPU, request it there'
}

@test "a value of three dots is filled in later" {
	printf '%s\n' 'apiVersion: apps/v1' 'kind: Deployment' \
		'metadata: {name: d}' 'spec:' '  replicas: ...' \
		'  template:' '    spec:' '      containers:' \
		'      - {name: c, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}' >d.yaml
	run "$GPUGATE" lint --select field-type-invalid d.yaml
	[ "$status" -eq 0 ]
	holds_not "$output" field-type-invalid
}

@test "a container without a name is reported as unnamed" {
	printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - image: "x:1"\n    resources: {requests: {nvidia.com/gpu: 2}}\n' >a.yaml
	lint --select gpu-request-without-limit a.yaml
	holds "$output" 'container `(without a name)` requests 2'
}

@test "a container that its operator creates has the operator's name" {
	cat >a.yaml <<-'END'
		apiVersion: nvidia.com/v1alpha1
		kind: DynamoGraphDeployment
		metadata: {name: a, namespace: ml}
		spec: {services: {Worker: {extraPodSpec: {mainContainer: {resources: {requests: {nvidia.com/gpu: 4}}}}}}}
	END
	run "$GPUGATE" lint --isolated --format concise a.yaml
	holds "$output" 'container `main` requests 4 `nvidia.com/gpu` without a limit'
}

@test "no number is printed for accelerators that are not counted" {
	asking_pod '"${N}"' >a.yaml
	run "$GPUGATE" lint --isolated --show-all a.yaml
	holds "$output" '`cpu: 8` and `memory: 32Gi` for each accelerator'
	sed 's/"${N}"/2/' a.yaml >b.yaml
	run "$GPUGATE" lint --isolated --show-all b.yaml
	holds "$output" '`cpu: 16` and `memory: 64Gi` for its 2 accelerators'
}

@test "the files may lack priority classes: only a snapshot makes an error" {
	cat >a.yaml <<-'END'
		apiVersion: scheduling.k8s.io/v1
		kind: PriorityClass
		metadata: {name: research-low}
		value: 10
		---
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  priorityClassName: train
		  containers:
		  - {name: c, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}
	END
	run "$GPUGATE" lint --isolated --format concise --select priority-class-unknown a.yaml
	[ "$status" -eq 0 ]
	holds "$output" "info: no file defines the PriorityClass \`train\`: unless the cluster has it, Pod \`a\` will be forbidden"
	sed 's/: train/: reserch-low/' a.yaml >b.yaml
	run "$GPUGATE" lint --isolated --select priority-class-unknown --show-all b.yaml
	[ "$status" -eq 0 ]
	holds "$output" "did you mean \`research-low\`?"
}

@test "findings about suppressions name their object" {
	cat >a.yaml <<-'END'
		# gpugate: ignore[shm-missing] -- of nothing
		apiVersion: v1
		kind: Pod
		metadata: {name: a, annotations: {gpugate.dev/ignore: shm-missing, gpugate.dev/ignore-reason: r}}
		spec: {containers: [{name: m, image: "a:1"}]}
		---
		# gpugate: ignore[gpu-limit-zero] -- of nothing
		apiVersion: v1
		kind: Pod
		metadata: {name: b, annotations: {gpugate.dev/ignore: shm-missing, gpugate.dev/ignore-reason: r}}
		spec: {containers: [{name: m, image: "a:1"}]}
	END
	run "$GPUGATE" lint --isolated --format jsonl a.yaml
	is "$(grep -c '"rule":"suppression-unused"' <<<"$output")" 4
	is "$(grep -o '"fingerprint":"[^"]*"' <<<"$output" | sort -u | wc -l)" 4
	holds "$output" '"object":{"apiVersion":"v1","kind":"Pod","name":"b"}'
	# The baseline identifies a finding about a comment by file and message,
	# so only the finding about the annotation of the renamed Pod is new.
	run "$GPUGATE" lint --isolated --format concise --write-baseline base.json a.yaml
	sed -i 's/name: b,/name: c,/' a.yaml
	run "$GPUGATE" lint --isolated --format concise --baseline base.json a.yaml
	is "$(grep -c 'suppression-unused' <<<"$output")" 1
}

@test "format full shows three findings of a rule, the others show all" {
	for i in 1 2 3 4 5; do
		pod "f$i.yaml"
	done
	asking_pod 2 >gpu.yaml
	run --separate-stderr "$GPUGATE" lint .
	is "$status" 1
	is "$(echo "$output" | grep -c 'explain priority-integer-set')" 3
	holds "$output" "priority-integer-set: 2 more (--show-all)"
	holds "$output" "Infos, shown with --show-all: bare-gpu-pod 1, gpu-node-selector-missing 1,"
	holds_not "$output" "info:"
	for all in --show-all "--fail-on info"; do
		run --separate-stderr "$GPUGATE" lint $all .
		holds "$output" "info: "
		holds_not "$output" "Infos"
	done
	run --separate-stderr "$GPUGATE" lint --show-all .
	is "$(echo "$output" | grep -c 'explain priority-integer-set')" 5
	holds_not "$output" "(--show-all)"
	run --separate-stderr "$GPUGATE" lint -q .
	holds "$output" "priority-integer-set: 2 more (--show-all)"
	lint .
	is "$(echo "$output" | grep -c 'priority-integer-set')" 5
	holds "$output" " info: "
	run --separate-stderr "$GPUGATE" post-render <gpu.yaml
	holds_not "$stderr" "info: "
	run --separate-stderr "$GPUGATE" post-render --show-all <gpu.yaml
	holds "$stderr" "info: "
}

@test "a fix that needs a value from the policy names it" {
	asking_pod 2 >a.yaml
	line='= fix: not automatic until the policy sets a value: `rules: {gpu-pod-besteffort: {params: {cpu: ..., memory: ...}}}`'
	run "$GPUGATE" lint --isolated --show-all a.yaml
	holds "$output" "$line"
	holds "$output" "{priority-class-missing: {params: {class: ...}}}"
	holds "$output" "{gpu-node-selector-missing: {params: {selector: ...}}}"
	holds_not "$output" "{gpu-toleration-missing"
	cat >.gpugate.yaml <<-'END'
		apiVersion: gpugate.dev/v1
		kind: Policy
		rules:
		  gpu-pod-besteffort: {params: {cpu: 4}}
		  priority-class-missing: {params: {class: batch}}
		  gpu-node-selector-missing: {params: {selector: {gpu: big}}}
	END
	run "$GPUGATE" lint --show-all a.yaml
	holds "$output" "fix (unsafe): set the request \`cpu: 4\` per accelerator"
	holds_not "$output" "= fix: not automatic"
	# The pod in a manifest string cannot be fixed, so no value is
	# suggested.
	rm .gpugate.yaml
	{
		printf 'apiVersion: argoproj.io/v1alpha1\nkind: Workflow\n'
		printf 'metadata: {name: w, namespace: ml}\n'
		printf 'spec: {entrypoint: m, templates: [{name: m, resource: '
		printf '{action: create, manifest: "%s"}}]}\n' \
			'{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: a, resources: {limits: {nvidia.com/gpu: 1}}}]}}'
	} >b.yaml
	run "$GPUGATE" lint --show-all b.yaml
	holds "$output" "[gpu-pod-besteffort]"
	holds_not "$output" "= fix: not automatic"
}

@test "if all reports go to files, one line names them and counts the findings" {
	pod a.yaml
	run --separate-stderr "$GPUGATE" lint --format json:r.json --format junit:r.xml a.yaml
	is "$status" 1
	is "$output" ""
	is "$stderr" "gpugate: wrote r.json, r.xml: 1 error, 0 warnings"
	run --separate-stderr "$GPUGATE" lint --format json:no/r.json --format junit:r.xml a.yaml
	is "$status" 2
	holds "$stderr" "gpugate: wrote r.xml: 1 error, 0 warnings"
	run --separate-stderr "$GPUGATE" lint --format json:r.json --format concise a.yaml
	is "$stderr" ""
	run --separate-stderr "$GPUGATE" lint -q --format json:r.json a.yaml
	is "$output$stderr" ""
	run --separate-stderr "$GPUGATE" lint --diff --format json:r.json a.yaml
	is "$stderr" ""
}

@test "junit: a finding below --fail-on passes" {
	asking_pod 2 >a.yaml
	run "$GPUGATE" lint --format junit a.yaml
	is "$status" 0
	holds_not "$output" "<failure"
	holds "$output" "<system-out>a.yaml:"
	run "$GPUGATE" lint --format junit --fail-on info a.yaml
	is "$status" 1
	holds "$output" "<failure"
	holds_not "$output" "<system-out"
}

@test "a finding at an anchor is shown once for all aliases" {
	cat >a.yaml <<-'Y'
		apiVersion: kubeflow.org/v1
		kind: PyTorchJob
		metadata: {name: a, namespace: x}
		spec:
		  pytorchReplicaSpecs:
		    Master:
		      replicas: 1
		      template: &t
		        spec:
		          containers:
		          - name: pytorch
		            image: nvcr.io/nvidia/pytorch:24.07-py3
		            resources: {limits: {nvidia.com/gpu: 8}}
		    Worker:
		      replicas: 3
		      template: *t
	Y
	for format in concise github gitlab rdjson; do
		run "$GPUGATE" lint --isolated --format $format --select shm-missing a.yaml
		is "$(grep -c 'MiB of /dev/shm' <<<"$output")" 1
	done
	for format in jsonl markdown junit; do
		run "$GPUGATE" lint --isolated --format $format --select shm-missing a.yaml
		is "$(grep -c '^[^a].*MiB of /dev/shm' <<<"$output")" 2
	done
}

@test "reports for a pull request list skipped rules" {
	asking_pod 2 >a.yaml
	for format in github markdown; do
		run "$GPUGATE" lint --isolated --format $format a.yaml
		holds "$output" "Skipped (needs "
	done
	run "$GPUGATE" lint --isolated --quiet --format github a.yaml
	holds_not "$output" "Not run"
}

@test "a message writes a count with its noun: 1 GPU, 2 GPUs, 3 processes" {
	launch() {
		cat <<-END
			apiVersion: v1
			kind: Pod
			metadata: {name: train, namespace: ml}
			spec:
			  containers:
			  - name: c
			    image: registry.example.com/train:1
			    command: [torchrun, --nproc_per_node=$1, train.py]
			    resources: {limits: {nvidia.com/gpu: $2}}
		END
	}
	launch 1 2 >one.yaml
	launch 3 1 >three.yaml
	run "$GPUGATE" lint --isolated --preset all --select nproc-mismatch \
		--format concise .
	holds "$output" 'torchrun starts 1 process for the 2 GPUs of'
	holds "$output" 'torchrun starts 3 processes for the 1 GPU of'
	run "$GPUGATE" lint --isolated --preset all --select efa-count-mismatch \
		--format concise "$BATS_TEST_DIRNAME/../rules/efa-count-mismatch/bad.yaml"
	holds "$output" 'requests 1 EFA interface, but role'
}

@test "an invalid entry of a device list hides only the devices after it" {
	local value
	for value in 0,foo ' all' 0-3; do
		printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: "i:1", env: [{name: CUDA_VISIBLE_DEVICES, value: "%s"}], resources: {limits: {nvidia.com/gpu: 2}}}]}\n' \
			"$value" >"list$value.yaml"
	done
	run "$GPUGATE" lint --isolated --select cuda-visible-devices-invalid .
	is "$status" 1
	holds "$output" "\`CUDA_VISIBLE_DEVICES: 0,foo\` is not a list of device numbers, so only the devices before the invalid entry are visible"
	holds "$output" "\`CUDA_VISIBLE_DEVICES:  all\` is not a list of device numbers, so no GPU is visible"
	holds "$output" "\`CUDA_VISIBLE_DEVICES: 0-3\` is not a list of device numbers: its entry \`0-3\` names at most device 0"
}

@test "help and fix of a liveness probe name the same startup time" {
	printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "vllm/vllm-openai:v0.9.1", args: [--model, Qwen/Qwen2-1.5B], livenessProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: 1}, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n' \
		>d.yaml
	run "$GPUGATE" lint --isolated --select liveness-kills-model-load .
	is "$status" 0
	holds "$output" "takes up to 120 s"
	holds "$output" "failureThreshold: 60"
	holds "$output" "add a startupProbe (10 min)"
}
