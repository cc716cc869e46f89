# SPDX-License-Identifier: Apache-2.0
# `gpugate rules --format vap`: custom rules as policies of the cluster.
bats_require_minimum_version 1.5.0
load helper

rules() {
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\ncustom: [rules.yaml]\n' \
		>.gpugate.yaml
	{
		printf 'apiVersion: gpugate.dev/v1\nkind: Rules\nrules:\n'
		cat
	} >rules.yaml
}

vap() {
	run --separate-stderr "$GPUGATE" rules --format vap "$@"
}

@test "the rule and its policy find the same, in every pod of 15 kinds" {
	cp "$BATS_TEST_DIRNAME/../check/export-rules.yaml" rules.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\ncustom: [rules.yaml]\n' \
		>.gpugate.yaml
	run python3 "$BATS_TEST_DIRNAME/../check/export.py" "$GPUGATE"
	echo "$output"
	is "$status" 0
	is "$output" "7 rules, 15 kinds, 156 findings"
}

# On the rules' own test files, the exported policies report the same lines as
# the rules.
@test "the examples that can be exported find the same as policies" {
	examples=$BATS_TEST_DIRNAME/../../deploy/examples/rules
	cp -r "$examples" .
	mv rules/tests objects
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\ncustom: [rules/*.yaml]\n' \
		>.gpugate.yaml
	vap
	is "$status" 0
	echo "$output" >vap.yaml
	is "$(grep -A2 '^kind: ValidatingAdmissionPolicy$' vap.yaml |
		sed -n 's/^  name: //p' | xargs)" \
		"team-of-namespace tenant-host-network topology-key-unknown"
	holds "$stderr" 'rule `site-registry` is not exported: `gpugate` is no'
	holds "$stderr" 'rule `image-digest-missing` is not exported: `match.gpus`'
	for rule in team-of-namespace tenant-host-network topology-key-unknown; do
		lint --fail-on never --select "$rule" objects
		own=$(sed "s/^\([^:]*:[0-9]*\):.*/\1/" <<<"$output")
		holds "$own" .yaml:
		"$GPUGATE" rules --format vap "$rule" >vap.yaml
		lint --fail-on never --isolated --admission-policy vap.yaml \
			--select admission-policy objects
		is "$(sed "s/^\([^:]*:[0-9]*\):.*/\1/" <<<"$output")" "$own"
	done
}

@test "rules that the API server cannot express are rejected by name" {
	rules <<-'END'
		- {name: a, summary: s, assert: gpugate.gpus > 1}
		- {name: b, summary: s, match: {gpus: true}, assert: "true"}
		- {name: c, summary: s, each: pod, assert: has(pod.spec)}
		- {name: d, summary: s, each: pod, match: {kinds: [RoleBasedGroup]}, assert: has(pod.spec)}
		- {name: e, summary: s, each: pod, match: {kinds: [Unheard]}, assert: has(pod.spec)}
		- {name: f, summary: s, each: container, match: {kinds: [serving.kserve.io/InferenceService]}, assert: has(container.image)}
		- {name: g, summary: s, each: pod, match: {kinds: [x.io/Unheard]}, assert: has(pod.spec)}
		- {name: h, summary: s, assert: "has(object.a)\r || true"}
		- {name: i, summary: s, each: pod, match: {kinds: [Workflow]}, assert: has(pod.spec)}
	END
	vap
	is "$status" 2
	is "$output" ""
	is "$(sed 's/^gpugate: //' <<<"$stderr")" "$(cat <<-'END'
		rule `a` is not exported: `gpugate` is not a variable of the API server
		rule `b` is not exported: `match.gpus` needs facts that only gpugate knows
		rule `c` is not exported: `match.kinds` does not say which kinds hold the pods
		rule `d` is not exported: RoleBasedGroup: some of its templates create no pods
		rule `e` is not exported: gpugate does not know the kind Unheard
		rule `f` is not exported: InferenceService: its operator names containers in fields of its own
		rule `g` is not exported: Unheard: no table says where its pods are
		rule `h` is not exported: one of its texts contains a control character
		rule `i` is not exported: Workflow: its pods are in objects that it embeds
		no rule of the policy can be exported
		END
	)"
}

@test "rules are exported by name, with the settings of the policy" {
	rules <<-'END'
		- name: gpus
		  summary: counts
		  assert: gpugate.gpus > 1
		- name: most
		  severity: error
		  summary: too many replicas
		  params: {most: 2, names: [a], name: x, spare: false}
		  match: {kinds: [apps/Deployment, Service, apps/Deployment]}
		  assert: >-
		    object.spec.?replicas.orValue(1) <= params.most || params.spare ||
		    params.name in params.names
		- name: plain
		  severity: info
		  summary: plain
		  failurePolicy: Ignore
		  assert: has(object.spec)
	END
	vap most
	is "$status" 0
	is "$stderr" ""
	holds "$output" "dyn({'most': dyn(2), 'names': dyn(['a']), 'name': dyn('x'), 'spare': dyn(false)})"
	holds "$output" "validationActions: [Deny]"
	holds "$output" "failurePolicy: Fail"
	holds "$output" 'apiGroups: ["*"]'
	holds "$output" "resources: [deployments]"
	holds "$output" "resources: [services]"
	holds "$output" "!has(oldObject.metadata.deletionTimestamp)"
	cat >>.gpugate.yaml <<-'END'
		rules:
		  most: {severity: warning, params: {most: 3, names: [b, c], name: "it's", spare: true}}
	END
	vap most plain
	is "$status" 0
	holds "$output" "dyn({'most': dyn(3), 'names': dyn(['b', 'c']), 'name': dyn('it\\'s'), 'spare': dyn(true)})"
	holds "$output" "validationActions: [Warn]"
	holds "$output" "validationActions: [Audit]"
	holds "$output" "failurePolicy: Ignore"
	vap plain gpus
	is "$status" 2
	holds "$output" "name: plain"
	holds "$stderr" 'rule `gpus` is not exported'
	vap
	is "$status" 0
	holds "$stderr" 'rule `gpus` is not exported'
	is "$(grep -c '^---$' <<<"$output")" 4
	vap shm-missing
	is "$status" 2
	holds "$stderr" "only custom rules are exported"
	vap nonsense
	is "$status" 2
	holds "$stderr" 'unknown rule `nonsense`'
	sed -i 's/  most: .*/  most: off\n  plain: off/' .gpugate.yaml
	vap
	is "$status" 2
	is "$output" ""
}
