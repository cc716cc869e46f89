# SPDX-License-Identifier: Apache-2.0
# Custom rules in CEL: files of kind Rules, `custom:` of a policy, and `gpugate
# test`.
bats_require_minimum_version 1.5.0
load helper

# rules FILE: writes a document of kind Rules; its rules come from standard
# input.
rules() {
	mkdir -p "$(dirname "$1")"
	{
		printf 'apiVersion: gpugate.dev/v1\nkind: Rules\nrules:\n'
		cat
	} >"$1"
}

# registry: writes the rule site-registry in rules/site.yaml, and a policy with
# it.
registry() {
	rules rules/site.yaml <<-'END'
		- name: site-registry
		  severity: error
		  summary: a foreign registry
		  remedy: mirror the image
		  params: {hosts: [quay.io]}
		  each: container
		  assert: gpugate.image.host in params.hosts
		  at: container.image
		  message: "'`' + container.name + '` runs ' + container.image"
		  tests:
		  - {file: ../pod.yaml, want: [10]}
	END
	policy "custom: [rules/*.yaml]"
	pod pod.yaml
}

pytorch_job() {
	cat >"$1" <<-'END'
		apiVersion: kubeflow.org/v1
		kind: PyTorchJob
		metadata: {name: a, namespace: research}
		spec:
		  pytorchReplicaSpecs:
		    Master:
		      replicas: 1
		      restartPolicy: Never
		      template:
		        spec:
		          restartPolicy: Never
		          containers:
		          - name: pytorch
		            image: x.io/a:1
		            resources:
		              requests: {memory: 1024Mi}
		              limits: {nvidia.com/gpu: 2}
	END
}

policy() {
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\n' >.gpugate.yaml
	printf '%s\n' "$@" >>.gpugate.yaml
}

@test "the examples pass their tests" {
	run "$GPUGATE" test "$BATS_TEST_DIRNAME/../../deploy/examples/rules"
	echo "$output"
	is "$status" 0
	holds "$output" " 0 failed"
	is "$(echo "$output" | grep -c '^ok ')" 30
}

@test "a custom rule reports findings, and is explained and listed" {
	registry
	lint --select site-registry .
	is "$status" 1
	is "$output" 'pod.yaml:10:12: error: `main` runs registry.example.com/train:1 [site-registry]'
	run "$GPUGATE" lint --format json --select custom .
	holds "$output" '"category":"custom"'
	holds "$output" '"help":"mirror the image"'
	run "$GPUGATE" explain site-registry
	is "$status" 0
	holds "$output" "a foreign registry"
	run "$GPUGATE" rules
	holds "$output" "site-registry"
	run "$GPUGATE" rules --isolated
	holds_not "$output" site-registry
	run "$GPUGATE" config .
	holds "$output" "site-registry"
}

@test "rules of the policy, options and comments apply to custom rules" {
	registry
	policy 'custom: [rules/*.yaml]' 'rules: {site-registry: info}'
	lint --select site-registry .
	is "$status" 0
	holds "$output" "info:"
	policy 'rules: {custom: off}' 'custom: [rules/*.yaml]'
	lint .
	holds_not "$output" site-registry
	policy 'custom: [rules/*.yaml]' \
		'overrides: [{namespaces: [research], rules: {site-registry: off}}]'
	lint .
	holds_not "$output" site-registry
	policy 'custom: [rules/*.yaml]'
	lint --ignore site-registry .
	holds_not "$output" site-registry
	sed -i 's/image: .*/& # gpugate: ignore[site-registry] -- known/' pod.yaml
	lint --select site-registry .
	is "$output" ""
	pod pod.yaml
	"$GPUGATE" lint --select site-registry --write-baseline b.json . >/dev/null || true
	lint --select site-registry --baseline b.json .
	is "$status" 0
	is "$output" ""
	lint --select site-regstry .
	is "$status" 2
	holds "$stderr" 'did you mean `site-registry`'
}

@test "the policy overrides the parameters of a custom rule" {
	registry
	policy 'custom: [rules/*.yaml]' \
		'rules: {site-registry: {params: {hosts: [registry.example.com, x.io]}}}'
	lint --select site-registry .
	is "$output" ""
	policy 'custom: [rules/*.yaml]' \
		'overrides: [{namespaces: [research], rules: {site-registry: {params: {hosts: [y.io]}}}}]'
	sed -i 's/hosts: .quay.io./hosts: [registry.example.com], most: 2/' rules/site.yaml
	lint --select site-registry .
	holds "$output" "[site-registry]"
	run "$GPUGATE" explain site-registry
	holds "$output" "most (int, default 2)"
	policy 'custom: [rules/*.yaml]' 'rules: {site-registry: {params: {host: [a]}}}'
	lint .
	is "$status" 2
	holds "$stderr" '`site-registry` has no parameter `host`; did you mean `hosts`?'
}

@test "--require accepts a custom rule" {
	registry
	lint --select site-registry --require site-registry .
	is "$status" 1
	lint --ignore site-registry --require site-registry .
	is "$status" 2
	holds "$stderr" 'required rule `site-registry` was skipped: it is off'
	lint --require site-regitry .
	is "$status" 2
	holds "$stderr" '--require: unknown rule `site-regitry`'
}

@test "the cluster's policy is also a floor for its custom rules" {
	registry
	mkdir cluster
	mv .gpugate.yaml cluster/policy.yaml
	mv rules cluster/
	policy 'rules: {shm-missing: off}'
	lint --policy cluster/policy.yaml --select all pod.yaml
	is "$status" 1
	holds "$output" "[site-registry]"
	lint --policy cluster/policy.yaml --ignore all pod.yaml
	holds "$output" "[site-registry]"
}

@test "every problem of a rules file has a position" {
	rules rules/bad.yaml <<-'END'
		- name: shm-missing
		  severity: eror
		  summry: x
		  assert: "conatiner.x == 1"
		  each: container
		- name: two
		  summary: x
		  assert: |
		    object.x == 1 &&
		      objct.y == 2
		  at: "1 +"
		- name: two
		  summary: x
		  assert: "1 + 2"
		  match: {kinds: [job]}
		  tests: [{file: a.yaml, want: [2, 1]}]
	END
	policy 'custom: [rules/bad.yaml, nothing/*.yaml]'
	lint .
	is "$status" 2
	is "$(sed 's/;.*//; s/ (in container.*//' <<<"$stderr")" "$(cat <<-'END'
		.gpugate.yaml:3:26: error: no file matches `nothing/*.yaml`
		rules/bad.yaml:4:3: error: `summary` is missing
		rules/bad.yaml:4:9: error: `shm-missing` is the name of a built-in rule
		rules/bad.yaml:5:13: error: unknown severity `eror`
		rules/bad.yaml:6:3: error: unknown key `summry`
		rules/bad.yaml:7:12: error: undeclared reference to 'conatiner'
		rules/bad.yaml:13:7: error: undeclared reference to 'objct'
		rules/bad.yaml:14:11: error: syntax error: unexpected end, expecting an expression
		rules/bad.yaml:17:11: error: the expression gives int, expected bool
		rules/bad.yaml:18:19: error: `job` is not a kind such as `Job`, `batch/Job` or `core/Pod`
		rules/bad.yaml:19:36: error: the lines must ascend
	END
	)"
}

@test "a position inside an expression, in any YAML style" {
	rules r.yaml <<-'END'
		- name: r1
		  summary: s
		  assert: >-
		    1 == 1 &&
		    true &&
		      foo
		- name: r2
		  summary: s
		  assert: |
		    1 == 1 &&
		      (true && foo)
		- name: r3
		  summary: s
		  assert: "'a\tb\u00e9' == \"x\" && foo"
		- name: r4
		  summary: s
		  assert: '''a'' == ''b'' && foo'
		- name: r5
		  summary: s
		  assert: 1 == 1 &&
		    foo
		- name: r6
		  summary: s
		  assert: "1 == 1 &&
		    true && \
		    foo"
		- {name: r7, summary: s, assert: "'é' == 'é' && foo"}
	END
	policy "custom: [r.yaml]"
	lint .
	is "$status" 2
	is "$(sed -n 's/^r.yaml:\([0-9:]*\): error: undeclared .*/\1/p' <<<"$stderr" | tr '\n' ' ')" \
		"9:7 14:16 17:37 20:30 24:5 29:5 30:49 "
}

@test "a discovered policy reads rules of its own repository only" {
	mkdir -p out in
	git init -q in
	cd in
	policy 'custom: [../out/*.yaml]'
	lint .
	is "$status" 2
	holds "$stderr" "a path out of the repository"
}

@test "findings point at the value that decides" {
	rules r.yaml <<-'END'
		- name: no-such-thing
		  summary: s
		  assert: "!has(object.spec.priority) || object.spec.priority < 5"
		- name: label-missing
		  summary: t
		  assert: "'team' in object.metadata.labels"
		  failurePolicy: Ignore
		- name: label-wanted
		  summary: u
		  assert: object.metadata.?labels.hasValue()
	END
	policy 'custom: [r.yaml]'
	pod pod.yaml
	lint --select custom pod.yaml
	is "$(sort <<<"$output")" "$(sort <<-'END'
		pod.yaml:7:13: warning: s [no-such-thing]
		pod.yaml:3:1: warning: u [label-wanted]
	END
	)"
}

@test "an error is a finding, an unknown value is counted" {
	rules r.yaml <<-'END'
		- name: label-value
		  summary: s
		  assert: object.metadata.labels.team == 'a'
		- name: costly
		  summary: s
		  assert: "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(a, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(b, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(c, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(d, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(e, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(f, a + b + c + d + e + f > 0))))))"
		- name: who
		  summary: s
		  assert: request.userInfo.username == 'me'
		- name: cluster-class
		  summary: s
		  assert: "'a' in gpugate.cluster.priorityClasses"
	END
	policy 'custom: [r.yaml]'
	pod pod.yaml
	lint --select custom pod.yaml
	is "$(cut -d: -f5- <<<"$output" | sort)" "$(sort <<-'END'
		 `assert` of rule `costly` fails: it exceeds the cost limit of an expression [costly]
		 `assert` of rule `label-value` fails: no such key: labels [label-value]
	END
	)"
	run "$GPUGATE" lint --select custom --format json pod.yaml
	holds "$output" '{"rule":"who","reason":"depends on an unknown value",'
	holds "$output" '{"rule":"cluster-class","reason":"depends on an unknown value",'
}

@test "the expressions of an object share one cost budget" {
	rules r.yaml <<-'END'
		- name: slow
		  summary: s
		  each: container
		  assert: container.command.all(c, !c.matches('^(([a-z])+.)+[A-Z]([a-z])+$'))
		- name: parts
		  summary: s
		  assert: size(object.metadata.?name.orValue('').split('')) >= 0
	END
	policy 'custom: [r.yaml]'
	{
		printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n'
		printf 'spec:\n  containers:\n'
		for ((i = 0; i < 300; i++)); do
			printf '  - {name: c%d, image: i:1, command: [%0800d]}\n' \
				"$i" 0 | tr 0 a
		done
	} >many.yaml
	head -n 6 many.yaml >few.yaml
	run "$GPUGATE" lint --select custom --format concise many.yaml few.yaml
	is "$status" 1
	holds "$output" "many.yaml:1:1: error: the objects, documents, scripts and selectors inside this object are too"
	holds "$output" 'few.yaml:6:'
	[[ $output != *few.yaml:1:1:* ]]
}

@test "a rule reads a file as the API server sends the object" {
	rules r.yaml <<-'END'
		- name: gpus-as-text
		  summary: s
		  each: container
		  assert: container.resources.limits['nvidia.com/gpu'] != '2'
		- name: memory-as-text
		  summary: s
		  each: container
		  assert: container.resources.requests.memory != '1Gi'
		- name: policy-said
		  summary: s
		  each: pod
		  assert: pod.spec.restartPolicy != 'Always'
		- name: image-pulled
		  summary: s
		  each: container
		  when: has(container.imagePullPolicy)
		  assert: container.imagePullPolicy == 'Always'
	END
	policy 'custom: [r.yaml]'
	pod pod.yaml
	cat >>pod.yaml <<-'END'
		    resources:
		      limits: {nvidia.com/gpu: 2, memory: 1024Mi}
	END
	lint --select custom pod.yaml
	is "$(sort <<<"$output")" "$(sort <<-'END'
		pod.yaml:12:32: warning: s [gpus-as-text]
		pod.yaml:12:43: warning: s [memory-as-text]
		pod.yaml:6:1: warning: s [policy-said]
		pod.yaml:9:11: warning: s [image-pulled]
	END
	)"
	# A patch is checked with its own values, and without defaults.
	printf 'kind: Kustomization\npatches: [{path: pod.yaml}]\n' >kustomization.yaml
	sed -i '/image:/d' pod.yaml
	lint --select custom pod.yaml
	is "$output" 'pod.yaml:11:32: warning: s [gpus-as-text]'
	# A custom resource is checked as its author wrote it.
	rm kustomization.yaml
	pytorch_job job.yaml
	lint --select custom job.yaml
	is "$output" ""
}

@test "fields that only an admission plugin sets are read from the file" {
	rules r.yaml <<-'END'
		- name: class-said
		  summary: s
		  each: pod
		  assert: has(pod.spec.priorityClassName)
		- name: selector-said
		  summary: s
		  each: pod
		  assert: pod.spec.?nodeSelector.hasValue()
		- name: tolerated
		  summary: s
		  each: pod
		  assert: "!has(pod.spec.tolerations) || size(pod.spec.tolerations) > 9"
	END
	policy 'custom: [r.yaml]'
	pod pod.yaml
	lint --select custom pod.yaml
	is "$output" "$(printf '%s\n' 'pod.yaml:6:1: warning: s [class-said]' \
		'pod.yaml:6:1: warning: s [selector-said]')"
}

@test "placeholders and unset namespaces are unknown" {
	rules r.yaml <<-'END'
		- name: image-host
		  summary: s
		  each: container
		  assert: gpugate.image.host == 'x.io'
		- name: in-ml
		  summary: s
		  match: {namespaces: ["ml-*"]}
		  assert: "false"
	END
	policy 'custom: [r.yaml]'
	pod pod.yaml
	sed -i 's/image: .*/image: ${IMAGE}/; /namespace/d' pod.yaml
	lint --select custom pod.yaml
	is "$output" ""
	lint --select custom --namespace ml-a pod.yaml
	holds "$output" "[in-ml]"
}

@test "fixes of custom rules" {
	rules r.yaml <<-'END'
		- name: priority-set
		  summary: s
		  each: pod
		  assert: "!has(pod.spec.priority) || pod.spec.priority == 0"
		  fix:
		  - {set: pod.spec.priority, value: "1 - 1", safe: true}
		  - {set: "object.metadata.labels['a/b']", value: "'x'", safe: true}
	END
	policy 'custom: [r.yaml]'
	pod pod.yaml
	lint --select custom --fix pod.yaml
	is "$status" 0
	holds "$(cat pod.yaml)" "priority: 0"
	holds "$(cat pod.yaml)" "a/b: x"
}

@test "test: lines, exit status, JUnit" {
	registry
	run "$GPUGATE" test rules
	is "$status" 0
	is "$output" "$(printf 'ok   rules/site.yaml:14: site-registry: ../pod.yaml\n1 tests, 0 failed')"
	sed -i 's/want: .*/want: [9]}/' rules/site.yaml
	run "$GPUGATE" test rules/site.yaml
	is "$status" 1
	holds "$output" "lines wanted: 9; found: 10"
	run "$GPUGATE" test --format junit rules
	is "$status" 1
	holds "$output" '<failure message="lines wanted: 9; found: 10"/>'
	# a test that cannot be evaluated does not pass
	sed -i 's/want: .*/want: []}/' rules/site.yaml
	printf 'a: [\n' >pod.yaml
	run "$GPUGATE" test rules
	is "$status" 1
	holds "$output" "FAIL rules/site.yaml:14: site-registry: ../pod.yaml: line 2: expected a value"
	echo 'a: 1' >pod.yaml
	run "$GPUGATE" test rules
	is "$status" 1
	holds "$output" "the file contains no Kubernetes object"
	sed -i 's/pod.yaml/none.yaml/' rules/site.yaml
	run "$GPUGATE" test rules
	is "$status" 2
	run "$GPUGATE" test
	is "$status" 2
	run "$GPUGATE" test pod.yaml
	is "$status" 2
}

@test "messages hide secret values" {
	rules r.yaml <<-'END'
		- name: env-shown
		  summary: s
		  each: container
		  assert: "!has(container.env)"
		  message: "'token ' + container.env[0].value"
	END
	policy 'custom: [r.yaml]'
	pod pod.yaml
	cat >>pod.yaml <<-'END'
		    env: [{name: HF_TOKEN, value: hf_abcdefghijklmnopqrstuvwxyzabcdefgh}]
	END
	lint --select custom pod.yaml
	is "$output" 'pod.yaml:11:5: warning: token hf_**** [env-shown]'
}
