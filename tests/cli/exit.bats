# SPDX-License-Identifier: Apache-2.0
# Exit status and messages about wrong usage.
bats_require_minimum_version 1.5.0
load helper

@test "0: nothing found" {
	good a.yaml
	lint a.yaml
	is "$status" 0
	is "$output" ""
	is "$stderr" ""
}

@test "1: a finding at --fail-on" {
	pod a.yaml
	lint a.yaml
	is "$status" 1
	holds "$output" "a.yaml:7:13: error: "
	holds "$output" "[priority-integer-set]"
}

@test "0: findings below --fail-on" {
	pod a.yaml
	lint --fail-on never a.yaml
	is "$status" 0
	holds "$output" "[priority-integer-set]"
}

@test "--fail-on warning and info also count higher severities" {
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nkind: ConfigMap\n' >a.yaml
	lint a.yaml
	is "$status" 0
	holds "$output" "[duplicate-key]"
	lint --fail-on warning a.yaml
	is "$status" 1
	lint --fail-on info a.yaml
	is "$status" 1
}

@test "2: a path that does not exist; the others are linted" {
	pod a.yaml
	lint a.yaml nothing.yaml
	is "$status" 2
	holds "$output" "[priority-integer-set]"
	is "$stderr" "gpugate: nothing.yaml: No such file or directory"
}

@test "2 beats 0: a missing path alone" {
	lint nothing
	is "$status" 2
	is "$output" ""
}

@test "2: unknown options, with the nearest name" {
	lint --formt=json
	is "$status" 2
	holds "$stderr" 'unknown option `--formt`; did you mean `--format`?'
	lint -z
	is "$status" 2
	holds "$stderr" 'unknown option `-z`'
}

@test "an exemption of one check leaves the others of its rule" {
	printf 'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a, namespace: ml}\nspec: {minAvailable: 1, maxUnavailable: 1, selector: {matchLabels: {app: a}}}\n' >a.yaml
	for row in "server-rejects/pdb-both 0" "server-rejects/hpa-replicas 1" "server-rejects 0"; do
		printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nexempt:\n- {names: [a], rules: [%s], reason: known}\n' \
			"${row% *}" >policy.yaml
		lint --config policy.yaml --select server-rejects a.yaml
		is "$status" "${row##* }"
		run "$GPUGATE" config --config policy.yaml a.yaml
		holds "$output" "-> ${row% *}: known"
	done
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nexempt:\n- {names: [a], rules: [server-rejects/none], reason: known}\n' >policy.yaml
	lint --config policy.yaml a.yaml
	is "$status" 2
	holds "$stderr" 'unknown rule `server-rejects/none`'
}

@test "an exemption that expired some days ago leaves warnings" {
	printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ml}\nspec:\n  containers:\n  - {name: c, image: "x:1", resources: {requests: {nvidia.com/gpu: 1}}}\n' >a.yaml
	policy() { # UNTIL
		printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nexempt:\n- {names: [a], rules: [gpu-request-without-limit], reason: old, until: %s}\n' \
			"$(date -u -d "$1" +%F)" >policy.yaml
	}
	for row in "today 0" "-3 days 0" "-8 days 1"; do
		policy "${row% *}"
		lint --config policy.yaml --select gpu-request-without-limit a.yaml
		is "$status" "${row##* }"
	done
	policy "-3 days"
	lint --config policy.yaml --select gpu-request-without-limit a.yaml
	holds "$output" "a.yaml:6:68: warning: "
	lint --config policy.yaml --select gpu-request-without-limit --fail-on warning a.yaml
	is "$status" 1
}

@test "a misspelled scheduler is a guess: a warning" {
	cat >pod.yaml <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: a, namespace: ml}
	spec:
	  schedulerName: volcano2
	  containers:
	  - name: a
	    image: registry.example.com/a:1
	    resources: {limits: {nvidia.com/gpu: 1}}
	END
	lint --preset strict pod.yaml
	holds "$output" "warning: if the cluster runs no scheduler \`volcano2\`"
}

@test "how long loading takes is a guess: a warning" {
	for delay in 30 400; do
		cat >a.yaml <<-END
			apiVersion: apps/v1
			kind: Deployment
			metadata: {name: a, namespace: ml}
			spec:
			  selector: {matchLabels: {a: b}}
			  template:
			    metadata: {labels: {a: b}}
			    spec:
			      containers:
			      - name: vllm
			        image: vllm/vllm-openai:v0.6.3
			        args: [--model, meta-llama/Llama-3.1-70B-Instruct]
			        livenessProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: $delay}
			        resources: {limits: {nvidia.com/gpu: 4}}
		END
		lint --select liveness-kills-model-load a.yaml
		holds "$output" "loading a model takes up to 600 s"
		holds "$output" "warning: "
		is "$status" 0
	done
}

@test "2: options that do not exist have no effect" {
	pod a.yaml
	for option in --clusters=x --fixes; do
		lint "$option" a.yaml
		is "$status" 2
		holds "$stderr" "unknown option"
		is "$output" ""
	done
	for format in pdf policyreport; do
		run --separate-stderr "$GPUGATE" lint --format $format a.yaml
		is "$status" 2
		is "$output" ""
	done
}

@test "2: commands that do not exist" {
	for command in daemon nonsense; do
		run --separate-stderr "$GPUGATE" "$command"
		is "$status" 2
		holds "$stderr" "unknown command \`$command\`"
	done
	run --separate-stderr "$GPUGATE" lin
	holds "$stderr" 'did you mean `lint`?'
	run --separate-stderr "$GPUGATE"
	is "$status" 2
}

@test "2: values that are missing or wrong" {
	lint --config
	is "$status" 2
	holds "$stderr" 'option `--config` needs a value: FILE'
	lint --fail-on often
	is "$status" 2
	holds "$stderr" "error warning info never"
	lint -j 0
	is "$status" 2
	lint -j many
	is "$status" 2
	lint -j 65
	is "$status" 2
	lint --isolated=1
	is "$status" 2
	holds "$stderr" "takes no value"
	lint --config a --isolated
	is "$status" 2
	lint --prune-baseline
	is "$status" 2
}

@test "2: unknown rules in --select, --ignore, --require" {
	good a.yaml
	lint --select nonsense a.yaml
	is "$status" 2
	holds "$stderr" nonsense
	lint --ignore priority-integer-sets a.yaml
	is "$status" 2
	holds "$stderr" "priority-integer-set"
	lint --require nonsense a.yaml
	is "$status" 2
	holds "$stderr" 'unknown rule `nonsense`'
}

@test "2: --require of a skipped rule; findings are printed" {
	pod a.yaml
	lint --require cluster a.yaml
	is "$status" 2
	holds "$stderr" "cluster snapshot"
	holds "$output" "[priority-integer-set]"
	lint --require priority-integer-set --ignore priority-integer-set a.yaml
	is "$status" 2
	holds "$stderr" "is off"
	lint --require priority-integer-set a.yaml
	is "$status" 1
}

@test "-- ends the options" {
	pod ./-a.yaml
	lint -- -a.yaml
	is "$status" 1
	is "$(paths)" "-a.yaml"
}

@test "kubectl-gpugate is the same program" {
	ln -s "$GPUGATE" kubectl-gpugate
	pod a.yaml
	run ./kubectl-gpugate lint --format concise a.yaml
	is "$status" 1
	holds "$output" "a.yaml:7:13"
}
