# SPDX-License-Identifier: Apache-2.0
# gpugate lint --admission-policy: the cluster's own policies on files.
load helper

# policy NAME EXPRESSION [LINES OF SPEC]
policy() {
	cat <<-END
		---
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingAdmissionPolicy
		metadata: {name: $1}
		spec:
		  matchConstraints:
		    resourceRules:
		    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
		  validations:
		  - expression: "$2"
		    message: refused by $1
	END
	[ $# -lt 3 ] || printf '%s\n' "$3" | sed 's/^/  /'
}

# binding NAME POLICY ACTION [LINES OF SPEC]
binding() {
	cat <<-END
		---
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingAdmissionPolicyBinding
		metadata: {name: $1}
		spec:
		  policyName: $2
		  validationActions: [$3]
	END
	[ $# -lt 4 ] || printf '%s\n' "$4" | sed 's/^/  /'
}

lint() {
	run "$GPUGATE" lint --isolated --select admission-policy --format concise \
		--admission-policy policies.yaml "$@"
}

# has TEXT, lacks TEXT: fail, with the output, unless it contains TEXT, or if it
# does.
has() {
	[[ $output == *"$1"* ]] || { echo "no \"$1\" in: $output"; return 1; }
}

lacks() {
	[[ $output != *"$1"* ]] || { echo "\"$1\" in: $output"; return 1; }
}

@test "admission: a policy without a binding is checked as if bound with Deny, with one note" {
	policy low 'object.spec.priority < 5' >policies.yaml
	pod a.yaml
	pod b.yaml other
	lint .
	[ "$status" -eq 1 ]
	has 'a.yaml:7:13: error: policy `low`: refused by low [admission-policy]'
	[ "$(grep -c 'has no binding' <<<"$output")" -eq 1 ]
	lint -q .
	[ "$status" -eq 1 ]
	lacks 'has no binding'
}

@test "admission: Warn is a warning and Audit an info, and --fail-on decides" {
	{
		policy low 'object.spec.priority < 5'
		binding b low Warn
	} >policies.yaml
	pod a.yaml
	lint a.yaml
	[ "$status" -eq 0 ]
	has 'a.yaml:7:13: warning: '
	lint --fail-on warning a.yaml
	[ "$status" -eq 1 ]
	{
		policy low 'object.spec.priority < 5'
		binding b low Audit
	} >policies.yaml
	lint a.yaml
	has ': info: '
}

@test "admission: the most severe of two bindings decides" {
	{
		policy low 'object.spec.priority < 5'
		binding a low Audit
		binding b low Deny
		binding c low Warn
	} >policies.yaml
	pod a.yaml
	lint a.yaml
	[ "$status" -eq 1 ]
	has ': error: policy `low`: refused by low'
	[ "$(grep -c 'refused by low' <<<"$output")" -eq 1 ]
}

@test "admission: JSON names the policy and its binding" {
	{
		policy low 'object.spec.priority < 5'
		binding low-deny low Deny
	} >policies.yaml
	pod a.yaml
	run "$GPUGATE" lint --isolated --format json --admission-policy policies.yaml a.yaml
	has '"policy":"low","binding":"low-deny"'
}

@test "admission: a baseline hides a finding, a comment does not" {
	policy low 'object.spec.priority < 5' >policies.yaml
	pod a.yaml
	sed -i 's/priority: 5/priority: 5 # gpugate: ignore[admission-policy] -- no/' a.yaml
	lint -q a.yaml
	[ "$status" -eq 1 ]
	lint -q --write-baseline known.json a.yaml
	lint -q --baseline known.json a.yaml
	[ "$status" -eq 0 ]
}

@test "admission: parameters by name, by selector, and not found" {
	limits() {
		printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: research, labels: {of: low}}, data: {most: "%s"}}\n' "$1" "$2"
	}
	params=$'paramKind: {apiVersion: v1, kind: ConfigMap}'
	{
		policy low 'object.spec.priority < int(params.data.most)' "$params"
		binding b low Deny 'paramRef: {name: small, parameterNotFoundAction: Deny}'
		limits small 3
		limits large 9
	} >policies.yaml
	pod a.yaml
	lint -q a.yaml
	has 'refused by low'
	sed -i 's/name: small, par/name: large, par/' policies.yaml
	lint -q a.yaml
	[ "$status" -eq 0 ]
	sed -i 's/name: large, par/name: none, par/' policies.yaml
	lint -q a.yaml
	has 'no params found'
	sed -i 's/NotFoundAction: Deny/NotFoundAction: Allow/' policies.yaml
	lint -q a.yaml
	[ "$status" -eq 0 ]
	sed -i 's/paramRef: {name: none/paramRef: {selector: {matchLabels: {of: low}}/' policies.yaml
	lint -q a.yaml
	[ "$(grep -c 'refused by low' <<<"$output")" -eq 1 ]
}

@test "admission: a finding that depends on an unknown user is an info with 'if'; --as decides it" {
	policy low 'object.spec.priority < 5' "matchConditions:
- {name: no-bot, expression: \"!request.userInfo.username.startsWith('bot')\"}" \
		>policies.yaml
	pod a.yaml
	lint -q a.yaml
	has ': info: policy `low`: if its condition `no-bot` holds: refused by low'
	lint -q --as bot-1 a.yaml
	[ "$status" -eq 0 ]
	lacks 'refused'
	lint -q --as ann a.yaml
	[ "$status" -eq 1 ]
	policy low "'dev' in request.userInfo.groups" >policies.yaml
	lint -q --as ann --as-group dev a.yaml
	[ "$status" -eq 0 ]
	lint -q --as ann --as-group ops a.yaml
	[ "$status" -eq 1 ]
	lint --as-group ops a.yaml
	[ "$status" -eq 2 ]
}

@test "admission: a selector uses the labels of Namespaces in the input files" {
	policy low 'object.spec.priority < 5' >policies.yaml
	sed -i 's/^  matchConstraints:/&\n    namespaceSelector: {matchLabels: {tier: prod}}/' policies.yaml
	pod a.yaml
	run "$GPUGATE" lint --isolated --select admission-policy --format json \
		--admission-policy policies.yaml a.yaml
	has '"rule":"admission-policy","reason":"it is unknown whether the policy matches"'
	[ "$status" -eq 0 ]
	echo '{apiVersion: v1, kind: Namespace, metadata: {name: research, labels: {tier: prod}}}' >ns.yaml
	lint -q .
	has 'refused by low'
	sed -i s/prod/dev/ ns.yaml
	lint -q a.yaml ns.yaml
	[ "$status" -eq 0 ]
}

@test "admission: an object with a placeholder is skipped and counted" {
	policy low "object.spec.containers.all(c, c.image.startsWith('x/'))" >policies.yaml
	pod a.yaml
	sed -i 's|image: .*|image: ${IMAGE}|' a.yaml
	run "$GPUGATE" lint --isolated --select admission-policy --format json \
		--admission-policy policies.yaml a.yaml
	[ "$status" -eq 0 ]
	has '"rule":"admission-policy","reason":"a value is unknown"'
}

@test "admission: a named time zone is unknown, an offset is known" {
	policy low "timestamp('2026-01-01T00:00:00Z').getHours('Asia/Tokyo') == 1" >policies.yaml
	pod a.yaml
	run "$GPUGATE" lint --isolated --select admission-policy --format json \
		--admission-policy policies.yaml a.yaml
	[ "$status" -eq 0 ]
	has '"rule":"admission-policy","reason":"a value is unknown"'
	policy low "timestamp('2026-01-01T00:00:00Z').getHours('+09:00') == 1" >policies.yaml
	lint -q a.yaml
	[ "$status" -eq 1 ]
}

@test "admission: an error of evaluation follows the failure policy" {
	policy low "object.metadata.labels['x'] == 'y'" 'failurePolicy: Fail' >policies.yaml
	pod a.yaml
	lint -q a.yaml
	has 'resulted in error: no such key: labels'
	policy low "object.metadata.labels['x'] == 'y'" 'failurePolicy: Ignore' >policies.yaml
	lint -q a.yaml
	[ "$status" -eq 0 ]
}

@test "admission: an expression that does not compile is an error with a position" {
	policy low 'object.spec.priority <' >policies.yaml
	pod a.yaml
	lint a.yaml
	[ "$status" -eq 2 ]
	has 'policies.yaml:10:40: '
	policy low 'object.spec.priority < 5 && object.spec.containers.siz() > 0' |
		sed 's/ "\(object.*\) .. \(.*\)"/ >-\n      \1 \&\&\n      \2/' >policies.yaml
	lint a.yaml
	[ "$status" -eq 2 ]
	has 'policies.yaml:12:30: '
	has 'did you mean `size`?'
	policy low 'request.nothing == 1' >policies.yaml
	lint a.yaml
	[ "$status" -eq 2 ]
	has 'nothing'
	policy low 'object.spec.priority' >policies.yaml
	lint a.yaml
	[ "$status" -eq 2 ]
	has 'must evaluate to bool'
}

@test "admission: files that cannot be read are errors" {
	pod a.yaml
	run "$GPUGATE" lint --isolated --admission-policy none.yaml a.yaml
	[ "$status" -eq 2 ]
	has 'none.yaml: '
	mkdir empty
	run "$GPUGATE" lint --isolated --admission-policy empty a.yaml
	[ "$status" -eq 2 ]
}

@test "admission: policies themselves are exempt" {
	policy none 'false' >policies.yaml
	sed -i 's/apiGroups: \[""\], apiVersions: \[v1\]/apiGroups: ["*"], apiVersions: ["*"]/; s/\[pods\]/["*"]/' policies.yaml
	lint -q policies.yaml
	[ "$status" -eq 0 ]
	echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}' >cm.yaml
	lint -q cm.yaml
	[ "$status" -eq 1 ]
}

# gate_definition: writes the definition of a kind whose schema is standard
# input.
gate_definition() {
	cat <<-'END'
		apiVersion: apiextensions.k8s.io/v1
		kind: CustomResourceDefinition
		metadata: {name: gates.example.com}
		spec:
		  group: example.com
		  names: {kind: Gate, plural: gates}
		  scope: Namespaced
		  versions:
		  - name: v1
		    served: true
		    schema:
		      openAPIV3Schema:
	END
	sed 's/^/        /'
}

# custom [ACTION]: writes a policy, its binding and its parameter below own/,
# and a .gpugate.yaml whose `custom:` reads them.
custom() {
	mkdir -p own
	{
		policy low 'object.spec.priority < int(params.data.most)' \
			'paramKind: {apiVersion: v1, kind: ConfigMap}'
		binding b low "${1:-Deny}" 'paramRef: {name: small, namespace: x, parameterNotFoundAction: Deny}'
		echo '---'
		echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: small, namespace: x}, data: {most: "3"}}'
	} >own/policies.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\ncustom: [own/*.yaml]\n' >.gpugate.yaml
	pod a.yaml
}

own() {
	run "$GPUGATE" lint --select "${SELECT:-admission-policy}" --format concise "$@"
}

@test "admission: policies among the files of custom:" {
	custom
	own a.yaml
	[ "$status" -eq 1 ]
	[ "$output" = 'a.yaml:7:13: error: policy `low`: refused by low [admission-policy]' ]
	custom Warn
	own a.yaml
	[ "$status" -eq 0 ]
	has ': warning: '
	mv .gpugate.yaml own/floor.yaml
	sed -i 's|own/|pol*|' own/floor.yaml
	own --isolated --policy own/floor.yaml a.yaml
	has ': warning: '
	own --isolated --ignore admission-policy --policy own/floor.yaml a.yaml
	has ': warning: '
}

@test "admission: policies of custom: with rules, a definition and Namespaces of the input files" {
	custom
	cat >own/rules.yaml <<-'END'
		apiVersion: gpugate.dev/v1
		kind: Rules
		rules:
		- {name: site-rule, summary: refused here, assert: "false"}
		---
	END
	gate_definition >>own/rules.yaml <<-'END'
		type: object
		properties:
		  spec:
		    type: object
		    properties: {gpus: {type: integer}}
		    x-kubernetes-validations:
		    - {rule: self.gpus < 8, message: too many}
	END
	printf 'apiVersion: example.com/v1\nkind: Gate\nmetadata: {name: g}\nspec:\n  gpus: 9\n' >g.yaml
	SELECT=custom,admission-policy,crd-validation own a.yaml g.yaml
	[ "$status" -eq 1 ]
	has 'a.yaml:7:13: error: policy `low`'
	has '[site-rule]'
	has 'g.yaml:5:9: error: the definition `gates.example.com`: too many [crd-validation]'
	sed -i 's/^  matchConstraints:/&\n    namespaceSelector: {matchLabels: {tier: prod}}/' own/policies.yaml
	own a.yaml
	lacks 'refused by low'
	echo '{apiVersion: v1, kind: Namespace, metadata: {name: research, labels: {tier: prod}}}' >ns.yaml
	own a.yaml ns.yaml
	has 'refused by low'
}

@test "admission: other objects in the files of custom: are errors with a position" {
	custom
	printf -- '---\napiVersion: v1\nkind: Service\nmetadata: {name: x}\n' >>own/policies.yaml
	own a.yaml
	[ "$status" -eq 2 ]
	has 'own/policies.yaml:25:7: error: no policy of these files takes parameters of kind `Service`'
	custom
	sed -i 's/PolicyBinding/PolicyBindnig/' own/policies.yaml
	own a.yaml
	[ "$status" -eq 2 ]
	has 'did you mean `ValidatingAdmissionPolicyBinding`?'
	custom
	sed -i 's/admissionregistration/admissionregistraton/' own/policies.yaml
	own a.yaml
	[ "$status" -eq 2 ]
	has 'expected apiVersion `admissionregistration.k8s.io/v1`'
	custom
	sed -i 's/params.data/parms.data/' own/policies.yaml
	own a.yaml
	[ "$status" -eq 2 ]
	has 'own/policies.yaml:10:45: error: undeclared reference'
	has 'did you mean `params`?'
	policy low 'object.spec.priority < 5' >own/policies.yaml
	own a.yaml
	[ "$status" -eq 1 ]
	has 'own/policies.yaml:2:1: warning: policy `low` has no binding'
}

# definition RULE [FIELDS]: writes a definition with this rule, at `spec`.
definition() {
	gate_definition >policies.yaml <<-END
		type: object
		x-kubernetes-validations:
		- rule: self.kind == 'Gate' && self.metadata.name != 'no'
		properties:
		  metadata: {type: object}
		  spec:
		    type: object
		    x-kubernetes-validations:
		    - {rule: "$1"${2:+, $2}}
		    properties:
		      replicas: {type: integer}
		      port: {x-kubernetes-int-or-string: true}
		      at: {type: string, format: date-time}
		      for: {type: string, format: duration, nullable: true}
		      part-of: {type: string}
		      labels: {type: object, additionalProperties: {type: string}}
		      hosts: {type: array, items: {type: string}}
		      open: {type: object, x-kubernetes-preserve-unknown-fields: true}
		      any: {x-kubernetes-preserve-unknown-fields: true}
		      template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
		      workers:
		        type: array
		        x-kubernetes-list-type: map
		        x-kubernetes-list-map-keys: [name]
		        items: {type: object, properties: {name: {type: string}}}
	END
	printf 'apiVersion: example.com/v1\nkind: Gate\nmetadata: {name: gate}\nspec: {replicas: 1, port: x, template: {kind: A, metadata: {name: t, labels: {a: b}}}}\n' >gate.yaml
	run "$GPUGATE" lint --isolated --select crd-validation --format concise \
		--admission-policy policies.yaml gate.yaml
}

@test "admission: the schema of a definition types its rules" {
	definition 'self.replica < 3'
	[ "$status" -eq 2 ]
	has "policies.yaml:21:28: undefined field 'replica'; did you mean \`replicas\`?"
	for wrong in "self.replicas == 'a'" "self.workers.all(w, w.nam != '')" \
		"self.hosts.all(h, h > 3)" "self.labels['a'] == 1" "self.open.x == 1" \
		"has(self.any)" "self.at == 'x'" "self['replicas'] == 1" "self.replicas" \
		"self.port" "self.metadata.name == 'x'" \
		"self.template.metadata.labels.a == 'b'" "self.workers == self.hosts"; do
		definition "$wrong"
		[ "$status" -eq 2 ] || { echo "$wrong: $output"; return 1; }
		has 'policies.yaml:21:'
	done
	for right in "self.replicas < 3" "self.port == 3 || self.port == 'x'" \
		"!has(self.at) || self.at < timestamp('2026-01-01T00:00:00Z')" \
		"!has(self.for) || self.for == null || self.__for__ > duration('1s')" \
		"!has(self.part__dash__of) || self.part__dash__of == ''" \
		"!has(self.labels) || self.labels.all(k, self.labels[k] != '')" \
		"self.template.kind == 'A' && self.template.metadata.name == 't'" \
		"!has(self.workers) || self.workers.exists(w, w.name == 'a')"; do
		definition "$right"
		[ "$status" -eq 0 ] || { echo "$right: $output"; return 1; }
	done
	definition 'self.replicas > 3' "messageExpression: self.replicas"
	[ "$status" -eq 2 ]
	has 'must evaluate to string but got int'
	definition 'self.replicas >= oldSelf.replicas'
	[ "$status" -eq 0 ]
	definition 'self.replicas >= oldSelf.orValue(self).replicas' 'optionalOldSelf: true'
	[ "$status" -eq 0 ]
	definition 'self.replicas >= oldSelf.replicas' 'optionalOldSelf: true'
	[ "$status" -eq 2 ]
	definition 'self.replicas > 0' 'optionalOldSelf: true'
	[ "$status" -eq 2 ]
	has 'the rule does not use `oldSelf`'
	definition 'self.replicas > 0'
	sed -i 's/items: {type: string}/items: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}/' policies.yaml
	run "$GPUGATE" lint --isolated --admission-policy policies.yaml gate.yaml
	[ "$status" -eq 2 ]
	has '`oldSelf` is not available here'
}

@test "admission: a field that an admission plugin may set is unknown" {
	local expression
	pod a.yaml
	for expression in '!has(object.spec.priorityClassName)' \
		'has(object.spec.priorityClassName)' \
		"!('priorityClassName' in object.spec)" \
		'!object.?spec.?priorityClassName.hasValue()' \
		'object.spec.size() == 3' \
		"object.spec.all(k, k != 'nodeSelector')" \
		"object.spec.map(k, k).size() == 3" \
		"object.spec.filter(k, k.startsWith('node')).size() == 0" \
		"!object.spec.exists(k, k == 'nodeSelector')"; do
		policy plugin "$expression" >policies.yaml
		lint a.yaml
		[ "$status" -eq 0 ] || { echo "$expression: $output"; return 1; }
	done
	policy known "!object.spec.exists(k, k == 'containers')" >policies.yaml
	lint a.yaml
	[ "$status" -eq 1 ]
	policy known '!has(object.metadata.uid)' >policies.yaml
	lint a.yaml
	[ "$status" -eq 1 ]
}

@test "admission: the static message replaces a message with several lines" {
	pod a.yaml
	policy lines "object.kind == ''" >policies.yaml
	echo "    messageExpression: \"'a' + '\\\\n' + 'b'\"" >>policies.yaml
	lint a.yaml
	has 'refused by lines'
	sed -i "s/ + 'b'//" policies.yaml
	lint a.yaml
	has '`: a ['
}

@test "admission: a created custom resource has no status; an error names its rule" {
	cat >policies.yaml <<-END
	apiVersion: apiextensions.k8s.io/v1
	kind: CustomResourceDefinition
	metadata: {name: runs.example.com}
	spec:
	  group: example.com
	  names: {kind: Run, plural: runs}
	  scope: Namespaced
	  versions:
	  - name: v1
	    served: true
	    subresources: {status: {}}
	    schema:
	      openAPIV3Schema:
	        type: object
	        x-kubernetes-validations:
	        - {rule: '!has(self.status)', message: it has a status}
	        - {rule: self.spec.a == 1, message: a is one}
	        properties:
	          status: {type: object}
	          spec:
	            type: object
	            properties: {a: {type: integer}, b: {type: integer}}
	END
	cat >a.yaml <<-END
	apiVersion: example.com/v1
	kind: Run
	metadata: {name: a}
	spec: {b: 1, a: null}
	status: {}
	END
	run "$GPUGATE" lint --isolated --select crd-validation --format concise \
		--admission-policy policies.yaml a.yaml
	[ "$status" -eq 1 ]
	lacks 'it has a status'
	has 'no such key: a evaluating rule: a is one'
	sed -i '/subresources/d' policies.yaml
	run "$GPUGATE" lint --isolated --select crd-validation --format concise \
		--admission-policy policies.yaml a.yaml
	has 'it has a status'
}

@test "admission: equal objects are checked once; different ones with one name are an error" {
	{ policy low 'object.spec.priority < 5'; binding all low Deny; } >policies.yaml
	cp policies.yaml again.yaml
	pod a.yaml
	lint --admission-policy again.yaml a.yaml
	[ "$status" -eq 1 ]
	[ "$(grep -c 'refused by low' <<<"$output")" -eq 1 ]
	{ policy low 'object.spec.priority < 9'; binding all low Warn; } >again.yaml
	lint --admission-policy again.yaml a.yaml
	[ "$status" -eq 2 ]
	has 'ValidatingAdmissionPolicy `low` differs from the one at policies.yaml:2; a cluster can have only one with this name'
	has 'ValidatingAdmissionPolicyBinding `all` differs from the one at policies.yaml:13; a cluster can have only one with this name'
}

@test "admission: selectors see labels that the API server sets" {
	{
		policy named false "$(cat <<-END
			matchConditions: [{name: is-namespace, expression: "object.kind == 'Namespace'"}]
		END
		)"
		policy run false
	} >policies.yaml
	sed -i '0,/apiGroups: \[""\], apiVersions: \[v1\], operations: \[CREATE\], resources: \[pods\]/s//apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [namespaces]/' policies.yaml
	sed -i '0,/    resourceRules:/s//    namespaceSelector: {matchExpressions: [{key: kubernetes.io\/metadata.name, operator: NotIn, values: [ml]}]}\n    resourceRules:/' policies.yaml
	sed -i 's/apiGroups: \[""\], apiVersions: \[v1\], operations: \[CREATE\], resources: \[pods\]}/apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}\n    objectSelector: {matchLabels: {team: a}}/' policies.yaml
	echo '{apiVersion: v1, kind: Namespace, metadata: {name: ml}}' >a.yaml
	lint a.yaml
	[ "$status" -eq 0 ]
	sed -i s/ml/web/ a.yaml
	lint a.yaml
	has 'a.yaml:1:52: error: policy `named`: refused by named [admission-policy]'
	cat >job.yaml <<-END
	apiVersion: batch/v1
	kind: Job
	metadata: {name: a, namespace: ml}
	spec:
	  template:
	    metadata: {labels: {team: a}}
	    spec: {restartPolicy: Never, containers: [{name: a, image: a:1}]}
	END
	lint job.yaml
	has 'policy `run`: refused by run [admission-policy]'
	sed -i 's/namespace: ml/&, labels: {team: b}/' job.yaml
	lint job.yaml
	[ "$status" -eq 0 ]
}

@test "admission: a finding that a MutatingAdmissionPolicy may prevent is an info with 'if'" {
	{ policy low 'object.spec.priority < 5'; binding all low Deny; } >policies.yaml
	cat >mutating.yaml <<-END
	apiVersion: admissionregistration.k8s.io/v1
	kind: MutatingAdmissionPolicy
	metadata: {name: lower}
	spec:
	  matchConstraints:
	    resourceRules:
	    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
	  reinvocationPolicy: Never
	  mutations:
	  - patchType: ApplyConfiguration
	    applyConfiguration: {expression: 'Object{spec: Object.spec{priority: 1}}'}
	END
	pod a.yaml
	lint --show-all --admission-policy mutating.yaml a.yaml
	[ "$status" -eq 0 ]
	has 'a.yaml:7:13: info: policy `low`: unless the MutatingAdmissionPolicy `lower` changes it: refused by low [admission-policy]'
	cat >>mutating.yaml <<-END
	---
	apiVersion: admissionregistration.k8s.io/v1
	kind: MutatingAdmissionPolicyBinding
	metadata: {name: lower}
	spec:
	  policyName: lower
	  matchResources:
	    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: elsewhere}}
	END
	lint --admission-policy mutating.yaml a.yaml
	[ "$status" -eq 1 ]
	has 'error: policy `low`: refused by low'
	sed -i 's/\[pods\]/[jobs]/; s/elsewhere/ml/' mutating.yaml
	lint --admission-policy mutating.yaml a.yaml
	has 'error: policy `low`: refused by low'
}

@test "admission: a policy or a binding that the API server rejects has no effect" {
	{ policy low false; binding all low Deny; } >ok.yaml
	pod a.yaml
	sed 's/matchConstraints:/matchConstraint:/' ok.yaml >policies.yaml
	lint a.yaml
	[ "$status" -eq 2 ]
	has 'policies.yaml:5:1: `matchConstraints` is missing: the API server rejects the ValidatingAdmissionPolicy'
	lacks 'refused by'
	# Changes of the policy or the binding, and the expected messages.
	while read -r change; read -r what; do
		sed "$change" ok.yaml >policies.yaml
		lint a.yaml
		has "$what"
	done <<-'END'
		s/resourceRules:/resourceRule:/
		policies.yaml:6:3: `resourceRules` is missing
		s/, operations: \[CREATE\]//
		`operations` is missing
		s/\[CREATE\]/[Create]/
		the API server accepts only CREATE, UPDATE, DELETE, CONNECT or * here
		s/^  validations/  failurePolicy: ignore\n&/
		the API server accepts only Fail or Ignore here
		s/validations:/validation:/
		`validations` is missing
		s/\[Deny\]/[Deny, Warn]/
		the API server rejects Deny together with Warn
		s/\[Deny\]/[deny]/
		policies.yaml:18:23: the API server accepts only Deny, Warn or Audit here
		/validationActions/d
		`validationActions` is missing: the API server rejects the ValidatingAdmissionPolicyBinding
	END
	{ policy low false; binding all low Deny 'paramRef: {parameterNotFoundAction: Deny}'; } >policies.yaml
	lint a.yaml
	has 'a paramRef needs a `name` or a `selector`'
	{ policy low false; binding all low Deny 'paramRef: {name: a}'; } >policies.yaml
	lint a.yaml
	has '`parameterNotFoundAction` is missing'
}

@test "admission: rules of a definition share a budget" {
	gate_definition >policies.yaml <<-'END'
		type: object
		properties:
		  spec:
		    type: object
		    properties:
		      rows:
		        type: array
		        items:
		          type: object
		          x-kubernetes-validations:
		          - {rule: 'self.l.all(a, self.l.all(b, a + b < 5000))', message: sum}
		          properties: {l: {type: array, items: {type: integer}}}
	END
	# rows ROWS COLUMNS
	rows() {
		awk -v r="$1" -v c="$2" 'BEGIN {
			print "apiVersion: example.com/v1\nkind: Gate\nmetadata: {name: a, namespace: ml}\nspec:\n  rows:"
			for (; r--;) {
				printf "  - l: [0"
				for (i = 1; i < c; i++) printf ", " i
				print "]"
			}
		}' >gate.yaml
	}
	judge() {
		run "$GPUGATE" lint --isolated --select crd-validation \
			--format concise --admission-policy policies.yaml gate.yaml
	}
	rows 30 100
	judge
	[ "$status" -eq 0 ]
	rows 300 200
	judge
	[ "$status" -eq 1 ]
	has 'running out of cost budget, no further validation rules will be run'
	[ "$(grep -c crd-validation <<<"$output")" -eq 1 ]
	rows 2 1000
	judge
	has "cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: sum"
	[ "$(grep -c crd-validation <<<"$output")" -eq 1 ]
}

@test "admission: namespaced parameters for objects without a namespace" {
	{
		policy low false 'paramKind: {apiVersion: v1, kind: ConfigMap}'
		binding b low Deny 'paramRef: {name: small, parameterNotFoundAction: Allow}'
		echo '---'
		echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: small, namespace: ml}}'
	} | sed 's/\[pods\]/[namespaces, nodes]/' >policies.yaml
	echo '{apiVersion: v1, kind: Node, metadata: {name: n1}}' >a.yaml
	lint a.yaml
	has 'policy `low`: failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources'
	echo '{apiVersion: v1, kind: Namespace, metadata: {name: ml}}' >a.yaml
	lint a.yaml
	has 'policy `low`: refused by low'
	sed -i s/ml/web/ a.yaml
	lint a.yaml
	[ "$status" -eq 0 ]
}

@test "admission: a definition replaces the table of the kind's fields" {
	cat >set.yaml <<-'EOF'
	apiVersion: leaderworkerset.x-k8s.io/v1
	kind: LeaderWorkerSet
	metadata: {name: own, namespace: ml}
	spec: {startupPolicy: 1, leaderWorkerTemplate: {sizes: 4, workerTemplate: {spec: {containers: [{name: w, image: "t:1"}]}}}}
	EOF
	cat >crd.yaml <<-'EOF'
	apiVersion: apiextensions.k8s.io/v1
	kind: CustomResourceDefinition
	metadata: {name: leaderworkersets.leaderworkerset.x-k8s.io}
	spec:
	  group: leaderworkerset.x-k8s.io
	  scope: Namespaced
	  names: {kind: LeaderWorkerSet, plural: leaderworkersets}
	  versions:
	  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
	EOF
	run "$GPUGATE" lint --isolated --format concise --select field-unknown,field-type-invalid set.yaml
	has '[field-unknown]'
	has '[field-type-invalid]'
	run "$GPUGATE" lint --isolated --format concise --select field-unknown,field-type-invalid --admission-policy crd.yaml set.yaml
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}
