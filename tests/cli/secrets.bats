# SPDX-License-Identifier: Apache-2.0
# The value of a secret variable occurs in no output, and its mask in every
# output of the line. Each manifest has the value in another form, also on lines
# of other findings: in an annotation, in a command, in a variable that a
# message quotes.
bats_require_minimum_version 1.5.0
load helper

# Any two adjacent letters of the value occur in no other text of these tests.
core=Zq7Xw9Jk5Vb3
token=hf_${core}${core}

# pod_with ENTRY...: writes a GPU Pod whose container has these lines in its
# env.
pod_with() {
	cat <<-END
		apiVersion: v1
		kind: Pod
		metadata:
		  name: train
		  annotations:
		    note: "run with $token"
		spec:
		  priority: 5
		  containers:
		  - name: main
		    image: registry.example.com/train:1
		    command: ["python train.py --token $token"]
		    env:
		    - {name: CUDA_VISIBLE_DEVICES, value: $token} # $token
	END
	printf '    %s\n' "$@"
	echo '    resources: {requests: {nvidia.com/gpu: 1}}'
}

# Writes every form as a file in forms/.
forms() {
	mkdir forms
	pod_with "- name: HF_TOKEN" "  value: $token" >forms/plain.yaml
	pod_with "- {name: HF_TOKEN, value: '$token'}" >forms/flow.yaml
	pod_with "- value: \"$token\"" "  name: HF_TOKEN" >forms/before.yaml
	pod_with '- name: "HF\u005fTOKEN"' \
		"  value: \"hf_${core}\\x5aq7Xw9Jk5Vb3\"" >forms/escaped.yaml
	pod_with "- name: HF_TOKEN" "  value: |" "    $token" >forms/block.yaml
	pod_with "- name: HUB_PASSWORD" "  value: |-" "    ${core}one" \
		"    two$core" "- {name: HF_TOKEN, value: $token}" \
		>forms/lines.yaml
	pod_with "- name: HUB_SECRET" "  value: >-" "    ${core}one" \
		"    two$core" "- name: NCCL_SOCKET_IFNAME" \
		"  value: \"${core}one two$core\"" \
		"- {name: HF_TOKEN, value: $token}" >forms/folded.yaml
	pod_with "- &e" "  name: HF_TOKEN" "  value: &t $token" \
		"- {name: OTHER_TOKEN, value: *t}" >forms/anchor.yaml
	# recognized only by its issuer's prefix
	pod_with "- {name: SOME_NAME, value: $token}" >forms/unnamed.yaml
	{
		pod_with "- name: HF_TOKEN" "  value: $token"
		printf 'a: [\nb: HF_TOKEN=%s]\n' "$token"
	} >forms/broken.yaml
	{
		echo "# HF_TOKEN=$token"
		pod_with "- {name: HF_TOKEN, value: $token}" |
			sed 's/$/\r/'
	} >forms/crlf.yaml
	printf '\357\273\277' | cat - forms/plain.yaml >forms/bom.yaml
	python3 - "$token" >forms/object.json <<-'END'
		import json, sys
		token = sys.argv[1]
		env = [{"name": "HF_TOKEN", "value": token},
		       {"name": "CUDA_VISIBLE_DEVICES", "value": token}]
		pod = {"apiVersion": "v1", "kind": "Pod",
		       "metadata": {"name": "a", "annotations": {"n": token}},
		       "spec": {"priority": 5, "containers": [
		           {"name": "c", "image": "a:1",
		            "command": ["run --token " + token], "env": env,
		            "resources": {"requests": {"nvidia.com/gpu": 1}}}]}}
		print(json.dumps(pod, indent=1))
	END
	tr -d '\n' <forms/object.json >forms/one-line.json
}

# Prints the formats, as the program itself lists them.
formats() {
	"$GPUGATE" lint --format nonsense 2>&1 | sed -n 's/.*; use one of: //p'
}

# keeps_quiet WHAT FILE...: checks that the files contain nothing of the value.
keeps_quiet() {
	local what=$1
	shift
	if grep -n -e "$core" -e 'x5aq7Xw' "$@"; then
		echo "shown by: $what" >&2
		return 1
	fi
}

# shown ARGUMENTS: lints into the files out and err, which must not contain the
# value.
shown() {
	"$GPUGATE" lint "$@" >out 2>err || [ $? -lt 3 ]
	keeps_quiet "lint $*" out err
}

# is_masked FORMAT: checks that the mask is in out; Markdown has its own stars.
is_masked() {
	case $1 in
	markdown) grep -qF 'hf&#95;&#42;&#42;&#42;&#42;' out ;;
	*) grep -qF 'hf_****' out ;;
	esac
}

@test "every format, in every form of the value" {
	forms
	[ "$(formats | wc -w)" -ge 11 ]
	for form in forms/*; do
		for format in $(formats); do
			shown --format "$format" "$form"
			[ -s out ]
			# A text that cannot be read is only shown in an
			# excerpt.
			[ "$form" != forms/broken.yaml ] || continue
			is_masked "$format" || { echo "$format $form"; false; }
			shown --format "$format:report" "$form"
			keeps_quiet "report $format of $form" report
		done
	done
}

@test "--diff, --fix and their reports" {
	forms
	for form in forms/*; do
		shown --diff --unsafe-fixes "$form"
		for format in $(formats); do
			shown --diff --unsafe-fixes --format "$format" "$form"
			cp "$form" fixed.${form##*.}
			shown --fix --unsafe-fixes --format "$format" \
				fixed.${form##*.}
		done
	done
	shown --diff --unsafe-fixes forms/plain.yaml
	grep -qF -- "-    command: [\"python train.py --token hf_****\"]" out
	grep -qF -- "+    - python train.py --token hf_****" out
}

@test "a fix writes the real value, and is omitted from formats that programs apply" {
	forms
	cp forms/plain.yaml fixed.yaml
	shown --fix --unsafe-fixes fixed.yaml
	grep -qF -- "- python train.py --token $token" fixed.yaml
	grep -qF "value: $token" fixed.yaml
	! grep -qF '****' fixed.yaml
	"$GPUGATE" lint --format json forms/plain.yaml >out || true
	python3 - <<-'END'
		import json
		found = {f["rule"]: f.get("fix") for f in json.load(open("out"))["findings"]}
		fix = found["command-single-string"]
		assert fix["edits"] == [] and fix["patch"] == [], fix
		assert fix["refused"] == "its text holds a secret value", fix
		# text without a secret is still there
		fix = found["gpu-request-without-limit"]
		assert fix["edits"] and fix["patch"], fix
	END
	for format in sarif rdjson; do
		"$GPUGATE" lint --format $format forms/plain.yaml >out || true
		! grep -F '"text":"/bin/sh' out
		! grep -E '"(text|insertedContent)":[^,]*\*\*\*\*' out |
			grep -vF '"message"'
	done
}

@test "suppressed, in a baseline, and with the rule off" {
	forms
	for format in $(formats); do
		shown --format "$format" --ignore secret-in-gpu-env forms/*
		shown --format "$format" --select command-single-string forms/*
	done
	for form in forms/*; do
		rm -f base.json
		shown --write-baseline base.json "$form" || true
		[ ! -e base.json ] || keeps_quiet "a baseline of $form" base.json
	done
	sed 's/^\( *\)- name: HF_TOKEN/&/; s/value: hf_.*/& # gpugate: ignore[secret-in-gpu-env] -- known/' \
		forms/plain.yaml >ignored.yaml
	for format in $(formats); do
		shown --format "$format" ignored.yaml
	done
	for form in forms/*.yaml; do
		cp "$form" mine.yaml
		shown --add-ignore later mine.yaml
	done
}

@test "masked text keeps its line and its columns" {
	forms
	"$GPUGATE" lint --select command-single-string forms/plain.yaml >out || true
	holds "$(cat out)" '    command: ["python train.py --token hf_****"]
   |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^'
	"$GPUGATE" lint --select secret-in-gpu-env forms/flow.yaml >out || true
	holds "$(cat out)" "- {name: HF_TOKEN, value: 'hf_****'}"
	# The place is in the file.
	"$GPUGATE" lint --select secret-in-gpu-env --format concise \
		forms/flow.yaml >out || true
	holds "$(cat out)" flow.yaml:15:31
}

@test "a token without a known prefix is masked completely" {
	pod_with "- {name: TRACKER_API_KEY, value: $core}" >a.yaml
	shown --select secret-in-gpu-env a.yaml
	holds "$(cat out)" 'value: ****}'
}

@test "placeholders, names and empty words are shown" {
	pod_with '- {name: HF_TOKEN, value: "${HF_TOKEN}"}' \
		'- {name: OPENAI_API_KEY, value: EMPTY}' \
		'- {name: EOS_TOKEN, value: "<|endoftext|>"}' \
		'- {name: A, value: sk-learn-image-classifier-2}' |
		sed "s/$token/none/g" >a.yaml
	"$GPUGATE" lint --diff a.yaml >out 2>&1 || true
	"$GPUGATE" lint --no-ignore a.yaml >>out 2>&1 || true
	holds_not "$(cat out)" '****'
}

@test "krm, post-render, quota and config" {
	forms
	{
		printf 'apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n'
		sed 's/^/  /; 1s/^  /- /' forms/plain.yaml
	} >list.yaml
	"$GPUGATE" krm --unsafe-fixes <list.yaml >out 2>err || true
	keeps_quiet "messages of krm" err
	# the items are the author's, the results gpugate's
	grep -qF "value: $token" out
	sed -n '/^results:/,$p' out >results
	[ -s results ]
	keeps_quiet "results of krm" results
	for form in forms/*; do
		"$GPUGATE" post-render --report-file report <"$form" >out 2>err ||
			true
		keeps_quiet "post-render of $form" err report
		grep -qF 'hf_****' report || [ "$form" = forms/broken.yaml ]
		for command in quota config; do
			"$GPUGATE" $command "$form" >out 2>err || true
			keeps_quiet "$command of $form" out err
		done
	done
	printf '%s' "$(cat forms/plain.yaml)" |
		"$GPUGATE" post-render --fail-on never >out 2>err || true
	[ ! -s out ] || grep -qF "value: $token" out
}

@test "passwords of one-letter options, and keys of web hooks, are masked" {
	pod_with '- {name: SLACK_WEBHOOK, value: T01/B01/q83vEjRWx9q83vEjRWx9}' |
		sed "s/$token/none/g" >a.yaml
	cat >>a.yaml <<-END
		    command: [sh, -c, "mysql -phunter2 x; docker login -p hunter2; redis-cli -a hunter2; mkdir -p /cache4"]
	END
	"$GPUGATE" lint --isolated --preset all --diff a.yaml >out 2>&1 || true
	"$GPUGATE" lint --isolated --preset all --format full a.yaml >>out 2>&1 || true
	[ -s out ]
	holds_not "$(cat out)" hunter2
	holds_not "$(cat out)" q83v
	holds "$(cat out)" "mkdir -p /cache4"
}
