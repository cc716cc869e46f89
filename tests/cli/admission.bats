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

# The lines that are neither findings nor hold TEXT.
has() {
	[[ $output == *"$1"* ]] || { echo "no \"$1\" in: $output"; return 1; }
}

lacks() {
	[[ $output != *"$1"* ]] || { echo "\"$1\" in: $output"; return 1; }
}

@test "admission: a policy without a binding is judged as bound with Deny, and that is said once" {
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

@test "admission: JSON names the policy and its binding" {
	{
		policy low 'object.spec.priority < 5'
		binding low-deny low Deny
	} >policies.yaml
	pod a.yaml
	run "$GPUGATE" lint --isolated --format json --admission-policy policies.yaml a.yaml
	has '"policy":"low","binding":"low-deny"'
}

@test "admission: no comment hides it, a baseline does" {
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

@test "admission: what depends on an unknown user is an info with if, and judged with --as" {
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

@test "admission: the set's Namespaces say what a selector selects" {
	policy low 'object.spec.priority < 5' >policies.yaml
	sed -i 's/^  matchConstraints:/&\n    namespaceSelector: {matchLabels: {tier: prod}}/' policies.yaml
	pod a.yaml
	run "$GPUGATE" lint --isolated --select admission-policy --format json \
		--admission-policy policies.yaml a.yaml
	has '"rule":"admission-policy","reason":"it is not known whether the policy matches"'
	[ "$status" -eq 0 ]
	echo '{apiVersion: v1, kind: Namespace, metadata: {name: research, labels: {tier: prod}}}' >ns.yaml
	lint -q .
	has 'refused by low'
	sed -i s/prod/dev/ ns.yaml
	lint -q a.yaml ns.yaml
	[ "$status" -eq 0 ]
}

@test "admission: a placeholder is not judged, and counted" {
	policy low "object.spec.containers.all(c, c.image.startsWith('x/'))" >policies.yaml
	pod a.yaml
	sed -i 's|image: .*|image: ${IMAGE}|' a.yaml
	run "$GPUGATE" lint --isolated --select admission-policy --format json \
		--admission-policy policies.yaml a.yaml
	[ "$status" -eq 0 ]
	has '"rule":"admission-policy","reason":"a value is not known"'
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

@test "admission: an expression that does not compile is an error with its place" {
	policy low 'object.spec.priority <' >policies.yaml
	pod a.yaml
	lint a.yaml
	[ "$status" -eq 2 ]
	has 'policies.yaml:10:17: '
	policy low 'request.nothing == 1' >policies.yaml
	lint a.yaml
	[ "$status" -eq 2 ]
	has 'nothing'
	policy low 'object.spec.priority' >policies.yaml
	lint a.yaml
	[ "$status" -eq 2 ]
	has 'must evaluate to bool'
}

@test "admission: what cannot be read is an error" {
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

@test "admission: whether an admission plugin sets a field is not known" {
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

@test "admission: a message of several lines gives way to the static one" {
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
