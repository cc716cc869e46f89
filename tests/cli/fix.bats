# SPDX-License-Identifier: Apache-2.0
# Fixes: --fix, --unsafe-fixes, --diff, the KRM function, the post-renderer.
bats_require_minimum_version 1.5.0
load helper

# quota FILE: writes a ResourceQuota with a key that limits nothing, which is an
# error with a safe fix.
quota() {
	mkdir -p "$(dirname "$1")"
	printf '%s\n' 'apiVersion: v1' 'kind: ResourceQuota' \
		'metadata: {name: q, namespace: team}  # ours' 'spec:' '  hard:' \
		'    nvidia.com/gpu: "8"   # eight' '    pods: "4"' >"$1"
}

@test "--fix changes only the bytes of the fix" {
	quota a.yaml
	lint --fix a.yaml
	is "$status" 0
	holds "$stderr" "applied fixes in 1 file"
	is "$(sed -n 6,7p a.yaml)" '    requests.nvidia.com/gpu: "8"   # eight
    pods: "4"'
	is "$(sed -n 3p a.yaml)" 'metadata: {name: q, namespace: team}  # ours'
	cp a.yaml once.yaml
	lint --fix a.yaml
	is "$status" 0
	cmp a.yaml once.yaml
}

@test "--fix reports what is left, and exits with 1 for it" {
	quota a.yaml
	printf -- '---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: r}\nspec: {hard: {gpu: x}}\n' >>a.yaml
	lint --fix a.yaml
	is "$status" 1
	holds "$output" "quantity-invalid"
}

@test "--fix keeps a file that another program is writing" {
	quota a.yaml
	cp a.yaml old.yaml
	exec 9>>a.yaml
	lint --fix a.yaml
	is "$status" 2
	holds "$stderr" "a.yaml: not fixed: another program has it open for writing"
	cmp a.yaml old.yaml
	exec 9>&-
	lint --fix a.yaml
	is "$status" 0
	is "$(echo a.yaml*)" a.yaml
}

@test "--fix keeps an edit that is made after the file was read" {
	name=$(printf '%0100d.yaml' 0)
	quota "$name"
	cp "$name" before
	for change in 'sed -i "s/eight/nine!/" *.yaml' 'echo "# mine" >>*.yaml' \
		'cp before b; mv b *.yaml' 'cp before b; rm *.yaml; mv b *.yaml' \
		'touch -d "+1 sec" *.yaml'; do
		cp before "$name"
		run python3 "$BATS_TEST_DIRNAME/paused.py" "$GPUGATE" "$name" \
			"name=$name; ${change//\*.yaml/\$name}; cp $name edited"
		is "$change: $status" "$change: 2"
		holds "$output" "gpugate: $name: not fixed: it was changed after it was read"
		cmp "$name" edited
		is "$(ls ./*.yaml* | wc -l)" 1
	done
	run python3 "$BATS_TEST_DIRNAME/paused.py" "$GPUGATE" "$name" "rm $name"
	is "$status" 2
	holds "$output" "not fixed"
	[ ! -e "$name" ]
	cp before "$name"
	run python3 "$BATS_TEST_DIRNAME/paused.py" "$GPUGATE" "$name" true
	is "$status" 0
	holds "$output" "applied fixes in 1 file"
}

@test "--exit-non-zero-on-fix" {
	quota a.yaml
	lint --fix --exit-non-zero-on-fix a.yaml
	is "$status" 1
	lint --fix --exit-non-zero-on-fix a.yaml
	is "$status" 0
}

@test "--diff prints the diff and nothing else, and changes nothing" {
	quota d/a.yaml
	cp d/a.yaml old.yaml
	run --separate-stderr "$GPUGATE" lint --diff d
	is "$status" 1
	cmp d/a.yaml old.yaml
	is "$(echo "$output" | head -2)" '--- a/d/a.yaml
+++ b/d/a.yaml'
	echo "$output" | patch -s -p1
	lint --diff d
	is "$status" 0
	is "$output" ""
}

@test "git apply accepts the output of --diff" {
	git init -q .
	quota a.yaml
	git add a.yaml
	run --separate-stderr "$GPUGATE" lint --diff a.yaml
	is "$status" 1
	echo "$output" | git apply
	lint a.yaml
	is "$status" 0
}

@test "--unsafe-fixes needs --fix or --diff" {
	quota a.yaml
	lint --unsafe-fixes a.yaml
	is "$status" 2
}

@test "unsafe fixes are applied only on request" {
	cat >a.yaml <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: p}
	spec:
	  hostIPC: true
	  containers:
	  - {name: c, image: x:1, resources: {limits: {nvidia.com/gpu: 1}}}
	END
	lint --fix --fail-on warning --select hostipc-instead-of-shm a.yaml
	is "$status" 1
	grep -q hostIPC a.yaml
	lint --fix --unsafe-fixes --fail-on warning --select hostipc-instead-of-shm a.yaml
	is "$status" 0
	run ! grep -q hostIPC a.yaml
}

@test "mode and link are kept; a suppressed finding is not fixed" {
	quota real.yaml
	chmod 640 real.yaml
	ln -s real.yaml link.yaml
	lint --fix link.yaml
	[ -L link.yaml ]
	is "$(stat -c %a real.yaml)" 640
	run ! grep -q '^    nvidia' real.yaml
	quota b.yaml
	sed -i 's/# eight/# gpugate: ignore[quota-gpu-key-ineffective] -- mine/' b.yaml
	cp b.yaml old.yaml
	lint --fix b.yaml
	cmp b.yaml old.yaml
}

@test "a file that is not writable stays unchanged" {
	quota a.yaml
	cp a.yaml old.yaml
	give_away a.yaml 400
	lint_unprivileged --fix a.yaml
	is "$status" 2
	holds "$stderr" "a.yaml: not fixed: Permission denied"
	cmp a.yaml old.yaml
}

@test "CRLF, a byte order mark and no final newline are kept" {
	printf '\xef\xbb\xbfapiVersion: v1\r\nkind: ResourceQuota\r\nmetadata: {name: q}\r\nspec:\r\n  hard:\r\n    nvidia.com/gpu: 8' >a.yaml
	lint --fix a.yaml
	is "$status" 0
	printf '\xef\xbb\xbfapiVersion: v1\r\nkind: ResourceQuota\r\nmetadata: {name: q}\r\nspec:\r\n  hard:\r\n    requests.nvidia.com/gpu: 8' >want.yaml
	cmp a.yaml want.yaml
}

@test "commented-out entries stay in their block" {
	printf '%s\n' 'apiVersion: v1' 'kind: Pod' \
		'metadata: {name: a, namespace: ml}' 'spec:' \
		'  restartPolicy: Never' '  containers:' '  - name: c' \
		'    image: x/y:1' '    resources:' '      limits:' \
		'        nvidia.com/gpu: 1' '        # cpu: 32' '    # env: []' \
		'  # - name: sidecar' '  #   image: x/z:1' '  # more is below' \
		>a.yaml
	cp a.yaml want.yaml
	sed -i '15a\  tolerations:\n  - key: nvidia.com/gpu\n    operator: Exists\n    effect: NoSchedule' want.yaml
	lint --select gpu-toleration-missing --fix a.yaml
	cmp a.yaml want.yaml
}

@test "JSON is fixed in its own style" {
	printf '{\n    "apiVersion": "v1",\n    "kind": "ResourceQuota",\n    "metadata": {"name": "q"},\n    "spec": {\n        "hard": {\n            "nvidia.com/gpu": "8"\n        }\n    }\n}\n' >a.json
	lint --fix a.json
	is "$status" 0
	is "$(sed -n 7p a.json)" '            "requests.nvidia.com/gpu": "8"'
	python3 -m json.tool a.json >/dev/null
}

@test "standard input is not written" {
	quota a.yaml
	lint --fix - <a.yaml
	is "$status" 2
	holds "$stderr" "standard input"
}

@test "json contains the fix of each finding" {
	quota a.yaml
	run --separate-stderr "$GPUGATE" lint --format json a.yaml
	holds "$output" '"fix":{"safe":true,"title":"rename the key to `requests.nvidia.com/gpu`"'
	holds "$output" '"fixable":1'
}

@test "krm: fixes the items and adds results" {
	{
		printf 'apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n'
		quota q.yaml
		sed '1s/^/- /; 2,$s/^/  /' q.yaml
	} >list.yaml
	run --separate-stderr "$GPUGATE" krm <list.yaml
	is "$status" 0
	holds "$output" 'requests.nvidia.com/gpu: "8"'
	holds "$output" '# ours'
	printf 'functionConfig: {apiVersion: v1, kind: ConfigMap, data: {fix: none}}\n' >>list.yaml
	run --separate-stderr "$GPUGATE" krm <list.yaml
	is "$status" 1
	holds "$output" "results:"
	holds "$output" "rule: quota-gpu-key-ineffective"
	run --separate-stderr "$GPUGATE" krm <q.yaml
	is "$status" 2
	is "$output" ""
}

@test "--fix of a file whose name has the maximum length" {
	name=$(printf '%0250d.yaml' 0)
	quota "$name"
	lint --fix "$name"
	is "$status" 0
	holds "$stderr" "applied fixes in 1 file"
	is "$(ls -A | grep -c 00000)" 1
}

@test "post-render reports that the current folder is gone" {
	quota a.yaml
	mkdir gone
	run --separate-stderr bash -c \
		'exec <a.yaml; cd gone && rmdir ../gone && "$0" post-render' "$GPUGATE"
	is "$status" 2
	holds "$stderr" "gpugate: current folder: No such file or directory"
}

@test "a full disk is reported for a diff and for rendered manifests" {
	quota a.yaml
	printf 'apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n' >list
	for words in 'lint --diff a.yaml' krm post-render; do
		run --separate-stderr bash -c \
			'"$0" $1 <list >/dev/full' "$GPUGATE" "$words"
		is "$words: $status" "$words: 2"
		holds "$stderr" "gpugate: standard output: No space left"
	done
}

@test "post-render: fixed manifests, or only a report" {
	quota a.yaml
	run --separate-stderr "$GPUGATE" post-render <a.yaml
	is "$status" 0
	holds "$output" 'requests.nvidia.com/gpu: "8"'
	pod b.yaml
	sed -i 's/priority: 5/restartPolicy: Maybe/' b.yaml
	run --separate-stderr "$GPUGATE" post-render --report-file r.txt <b.yaml
	is "$status" 1
	is "$output" ""
	grep -q restart-policy-invalid r.txt
	GPUGATE_REPORT=s.txt run --separate-stderr "$GPUGATE" post-render <b.yaml
	grep -q restart-policy-invalid s.txt
}

@test "a priority class: the default of the input files, or a fix from the policy" {
	printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: p}' \
		'spec:' '  containers:' \
		'  - {name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}' \
		>a.yaml
	lint --select priority-class-missing --fail-on info a.yaml
	is "$status" 1
	lint --select priority-class-missing --fail-on warning a.yaml
	is "$status" 0
	printf '%s\n' 'apiVersion: scheduling.k8s.io/v1' 'kind: PriorityClass' \
		'metadata: {name: normal}' 'value: 100' 'globalDefault: true' >c.yaml
	lint --select priority-class-missing --fail-on info a.yaml c.yaml
	is "$status" 0
	printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' 'rules:' \
		'  priority-class-missing: {params: {class: gpu-batch}}' >policy
	lint --config policy --select priority-class-missing --fix \
		--unsafe-fixes --fail-on warning a.yaml
	is "$status" 0
	grep -q '^  priorityClassName: gpu-batch$' a.yaml
}

@test "a list of tolerations that a serving runtime may have is not replaced" {
	cat >a.yaml <<-END
	apiVersion: serving.kserve.io/v1beta1
	kind: InferenceService
	metadata: {name: any-runtime, namespace: ml}
	spec:
	  predictor:
	    model:
	      modelFormat: {name: onnx}
	      storageUri: pvc://models/llama
	      resources: {limits: {nvidia.com/gpu: 1}}
	END
	cp a.yaml before.yaml
	run "$GPUGATE" lint --isolated --select gpu-toleration-missing --fix a.yaml
	cmp a.yaml before.yaml
	run "$GPUGATE" lint --isolated --select gpu-toleration-missing --fix --unsafe-fixes a.yaml
	holds "$(cat a.yaml)" "key: nvidia.com/gpu"
}

# idle FILE: writes a pod without GPUs that tolerates their taint, for which the
# fix is unsafe.
idle() {
	printf '%s\n' 'apiVersion: v1' 'kind: Pod' \
		'metadata: {name: p, namespace: team}' 'spec:' \
		'  tolerations:' '  # every taint of GPUs' \
		'  - {key: nvidia.com/gpu, operator: Exists}' '  containers:' \
		'  - {name: c, image: x/y:1}' >"$1"
}

@test "--fix lists the rules that it fixed by file, and the rest with reasons" {
	quota d/a.yaml
	quota d/b.yaml
	printf -- '---\n' >>d/b.yaml
	cat d/a.yaml >>d/b.yaml
	sed -i '0,/name: q/s//name: r/' d/b.yaml
	idle d/c.yaml
	printf '%s\n' '{{- if .Values.x }}' 'kind: Pod' '{{- end }}' >d/t.yaml
	lint --isolated --fix d
	is "$(echo "$stderr" | sort)" 'gpugate: applied fixes in 2 files
gpugate: d/a.yaml: fixed quota-gpu-key-ineffective
gpugate: d/b.yaml: fixed quota-gpu-key-ineffective 2'
	run "$GPUGATE" lint --isolated --fix d
	holds "$output" "1 fixable with --unsafe-fixes."
	holds "$output" "1 skipped: template"
	run --separate-stderr "$GPUGATE" lint --isolated -q --fix d
	is "$stderr" ""
}

@test "--fix reports fixes that the text does not allow" {
	quota a.yaml
	sed -i 's/^  hard:/  hard: \&h/; $aother: *h' a.yaml
	cp a.yaml old.yaml
	lint --isolated --fix a.yaml
	cmp a.yaml old.yaml
	holds "$stderr" "gpugate: a.yaml: not fixed: quota-gpu-key-ineffective: the value"
}

@test "--fix reports that UTF-16 is not written, with exit status 2" {
	quota a.yaml
	{ printf '\xff\xfe'; iconv -f UTF-8 -t UTF-16LE a.yaml; } >b.yaml
	cp b.yaml old.yaml
	for option in --fix --diff; do
		lint --isolated $option b.yaml
		is "$option: $status" "$option: 2"
		holds "$stderr" "b.yaml: not fixed: quota-gpu-key-ineffective: the file is not UTF-8"
		cmp b.yaml old.yaml
	done
	{ printf '\xff\xfe'; printf 'kind: Namespace\napiVersion: v1\nmetadata: {name: x}\n' | iconv -f UTF-8 -t UTF-16LE; } >b.yaml
	lint --isolated --fix b.yaml
	is "$status" 0
}

@test "--fix skips infos that the report only counts" {
	cat >a.yaml <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: init}
	spec:
	  initContainers:
	  - name: convert
	    image: nvcr.io/nvidia/pytorch:24.10-py3
	    command: [python, convert.py]
	  containers:
	  - {name: a, image: "x:1", resources: {limits: {nvidia.com/gpu: 1}}}
	END
	cp a.yaml old.yaml
	run "$GPUGATE" lint --isolated --fix a.yaml
	cmp a.yaml old.yaml
	holds "$output" "(infos) with --fix --show-all."
	lint --isolated --format json --fix a.yaml
	cmp a.yaml old.yaml
	for option in --show-all --fail-on=info \
		--extend-select=gpu-image-without-gpu-visible; do
		cp old.yaml a.yaml
		run "$GPUGATE" lint --isolated "$option" --fix a.yaml
		holds "$output" "gpu-image-without-gpu-visible"
		grep -q void a.yaml
	done
	for setting in warning '{action: patch}'; do
		cp old.yaml a.yaml
		printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrules: {gpu-image-without-gpu-visible: %s}\n' \
			"$setting" >p.yaml
		lint --config p.yaml --fix a.yaml
		grep -q void a.yaml
	done
}

@test "--fix leaves no empty list behind" {
	idle a.yaml
	lint --isolated --fix --unsafe-fixes a.yaml
	is "$(tail -n +4 a.yaml)" 'spec:
  containers:
  - {name: c, image: x/y:1}'
	echo '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "t"}, "spec": {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}], "containers": [{"name": "c", "image": "x/y:1"}]}}' >a.json
	lint --isolated --fix --unsafe-fixes a.json
	is "$(cat a.json)" '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "t"}, "spec": {"containers": [{"name": "c", "image": "x/y:1"}]}}'
}

@test "fix: the title says that a new /dev/shm hides the volume's files" {
	run "$GPUGATE" lint --isolated --select shm-not-memory-backed "$BATS_TEST_DIRNAME/../rules/shm-not-memory-backed/bad-files.yaml"
	[[ "$output" == *"no longer sees the volume's files there"* ]]
}
