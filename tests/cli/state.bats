# SPDX-License-Identifier: Apache-2.0
# gpugated with a saved cluster state (--cluster FILE): changes of the file, and
# other sources of the state.
bats_require_minimum_version 1.5.0
load gpugated

unusable() { # ARGUMENTS
	refused --tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/tls.key" "$@"
}

asking_gives() {
	[ "$(ask 1)" = "$1 u-1" ]
}

# figure NAME: prints the value of the metric, without its fraction
figure() {
	get /metrics | sed -n "s/^$1 \([0-9Inf+-]*\).*/\1/p"
}

older_than() { # SECONDS
	[ "$(figure gpugate_cluster_state_age_seconds)" -ge "$1" ]
}

# state GPUS [SECONDS-AGO [VERSION]]: prints a state with a quota of GPUS GPUs, so
# that a Pod of one GPU fits or, with 0, never fits
state() {
	printf '{"apiVersion":"gpugate.dev/v1","kind":"ClusterSnapshot","version":%s,"takenAt":"%s","unreadable":[],"items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ml"}},{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"gpus","namespace":"ml"},"spec":{"hard":{"requests.nvidia.com/gpu":"%s"}}}],"usage":[]}\n' \
		"${3:-1}" "$(date -u -d "${2:-0} seconds ago" +%Y-%m-%dT%H:%M:%SZ)" "$1"
}

@test "state: a changed file takes effect, a broken one does not" {
	state 0 100 >state.json
	start --cluster state.json
	asking_gives denied
	older_than 100
	state 8 >state.json
	until_true asking_gives allowed
	state 0 50 >new.json
	mv new.json state.json
	until_true asking_gives denied
	state 8 >whole.json
	# half of a file, a file of a newer gpugate, an empty file
	head -c "$(($(wc -c <whole.json) / 2))" whole.json >state.json
	until_true logged 'state.json:[0-9]*:[0-9]*: '
	asking_gives denied
	state 8 0 2 >state.json
	until_true logged 'written by a newer gpugate'
	asking_gives denied
	: >state.json
	until_true logged 'expected a JSON object'
	asking_gives denied
	rm state.json
	until_true logged 'No such file'
	asking_gives denied
	holds "$(get /readyz)" "200 "
	# the metric shows the age of the effective state
	older_than 50
	until_true logged 'the last good one stays'
	state 8 >state.json
	until_true asking_gives allowed
}

# updated OLD NEW: prints the verdict on a Pod that requested OLD of a resource
# of a DeviceClass, and now requests NEW.
updated() {
	local pod='{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"ml"},"spec":{"containers":[{"name":"a","image":"registry.example.com/a:1","command":["torchrun","--nproc-per-node=2","t.py"],"resources":{"limits":{"example.com/fast":%s},"requests":{"example.com/fast":%s}}}]}}'
	printf '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1","operation":"UPDATE","namespace":"ml","name":"a","userInfo":{"username":"alice"},"kind":{"group":"","version":"v1","kind":"Pod"},"oldObject":'"$pod"',"object":'"$pod"'}}' \
		"$1" "$1" "$2" "$2" >request.json
	python3 "$https" post "$CERTS/ca.crt" "$port" request.json
}

@test "state: resources that a DeviceClass names are devices, also when their number grows" {
	printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' 'mode: enforce' \
		'rules: {shm-missing: {action: deny}}' >policy.yaml
	state 8 | sed 's|"items":\[|&{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"fast"},"spec":{"extendedResourceName":"example.com/fast","selectors":[{"cel":{"expression":"device.driver == '"'gpu.nvidia.com'"'"}}]}},|' >state.json
	start --cluster state.json --policy policy.yaml
	is "$(updated 2 2)" "allowed u-1"
	is "$(updated 2 4)" "denied u-1"
	is "$(updated 4 2)" "allowed u-1"
}

@test "state: two quotas with one name, an invalid quantity" {
	state 0 | sed 's/"items":\[/&{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"gpus","namespace":"ml"},"spec":{"hard":{"requests.nvidia.com\/gpu":"9"}}},/' >twice.json
	unusable --cluster twice.json
	holds "$errors" 'ResourceQuota `ml/gpus` appears twice in the file'
	state 0 >state.json
	start --cluster state.json
	asking_gives denied
	# A quota that is left out has no effect, and is reported.
	state 8x >state.json
	until_true logged '`8x` is not a quantity'
	asking_gives allowed
}

@test "state: a truncated or newer file prevents the start" {
	state 8 >whole.json
	head -c "$(($(wc -c <whole.json) - 20))" whole.json >cut.json
	unusable --cluster cut.json
	holds "$errors" 'cut.json:1:'
	state 8 0 7 >newer.json
	unusable --cluster newer.json
	holds "$errors" 'written by a newer gpugate'
	unusable --cluster none.json
	holds "$errors" 'none.json'
}

@test "state: after maxAge its rules are skipped, and the webhook continues" {
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\nmaxAge: 2h\n' >policy.yaml
	state 0 3600 >state.json
	start --cluster state.json --policy policy.yaml
	asking_gives denied
	state 0 7300 >state.json
	until_true asking_gives allowed
	older_than 7300
	[ "$(figure 'gpugate_rules_not_run{rule="quota-never-fits"}')" -ge 1 ]
	[ "$(figure 'gpugate_rules_not_run{rule="quota-would-exceed"}')" -ge 1 ]
	until_true logged 'rules that need it no longer run.*too old'
	is "$(figure gpugate_cluster_state_used)" 0
	is "$(figure gpugate_cluster_state_stops_total)" 1
	holds "$(get '/readyz?verbose')" "[-]cluster state: rules that need it are skipped: it is too old"
	is "$(get /readyz)" "200 ok"
	# Without such a policy, a file may have any age.
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n' >policy.yaml
	until_true asking_gives denied
	until_true logged 'rules that need it run again'
	is "$(figure gpugate_cluster_state_used)" 1
	holds "$(get '/readyz?verbose')" "[+]cluster state: rules that need it run"
}

@test "state: a time in the future makes the state unusable" {
	state 0 -86400 >state.json
	start --cluster state.json
	asking_gives allowed
	logged 'takenAt is 86[0-9]* s in the future'
	is "$(figure gpugate_cluster_state_age_seconds)" "+Inf"
	[ "$(figure 'gpugate_rules_not_run{rule="quota-never-fits"}')" -ge 1 ]
	# Clocks differ by minutes.
	state 0 -60 >state.json
	until_true asking_gives denied
	is "$(figure gpugate_cluster_state_age_seconds)" 0
}

@test "state: --live on needs an API server, --live off sends no request" {
	unset KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT
	unusable --live on
	holds "$errors" "not in a pod"
	unusable --live on --kubeconfig none
	holds "$errors" none
	unusable --live on --cluster none.json
	holds "$errors" "--cluster and --live on cannot be used together"
	start --live off --kubeconfig none
	asking_gives allowed
	is "$(figure gpugate_cluster_state_age_seconds)" ""
}

# reviewed OBJECT: prints the verdict on the creation of that object in ml
reviewed() {
	jq -c '{apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview",
		request: {uid: "u-1", operation: "CREATE", namespace: "ml",
			name: .metadata.name, userInfo: {username: "alice"},
			kind: {group: (.apiVersion | split("/")[0]),
				version: (.apiVersion | split("/")[1]),
				kind: .kind},
			object: .}}' <<<"$1" >request.json
	python3 "$https" post "$CERTS/ca.crt" "$port" request.json
}

@test "state: pods are made from a runtime of the cluster, as lint makes them" {
	local job='{"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","metadata":{"name":"tune","namespace":"ml"},"spec":{"runtimeRef":{"name":"amd"},"trainer":{"resourcesPerNode":{"limits":{"nvidia.com/gpu":2}}}}}'
	local runtime='{"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"ClusterTrainingRuntime","metadata":{"name":"amd"},"spec":{"template":{"spec":{"replicatedJobs":[{"name":"node","template":{"metadata":{"labels":{"trainer.kubeflow.org/trainjob-ancestor-step":"trainer"}},"spec":{"template":{"spec":{"nodeSelector":{"amd.com/gpu.product-name":"AMD_Instinct_MI300X"},"containers":[{"name":"node","image":"registry.example.com/a:1"}]}}}}}]}}}}'
	printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' 'mode: enforce' >policy.yaml
	state 8 >state.json
	start --cluster state.json --policy policy.yaml
	is "$(reviewed "$job")" "allowed u-1"
	echo "$job" >job.json
	run "$GPUGATE" lint --isolated --cluster state.json job.json
	is "$status" 0
	state 8 | sed "s|\"items\":\[|&$runtime,|" >new.json
	mv new.json state.json
	is_denied() { [ "$(reviewed "$job")" = "denied u-1" ]; }
	until_true is_denied
	run "$GPUGATE" lint --isolated --cluster state.json job.json
	is "$status" 1
	holds "$output" "(from ClusterTrainingRuntime \`amd\` of the cluster)"
	holds "$output" "--> job.json:1:"
}

@test "state: a Workflow has the pods of a template of the cluster" {
	local job='{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"night","namespace":"ml"},"spec":{"workflowTemplateRef":{"name":"tune"}}}'
	local template='{"apiVersion":"argoproj.io/v1alpha1","kind":"WorkflowTemplate","metadata":{"name":"tune","namespace":"ml"},"spec":{"entrypoint":"main","templates":[{"name":"main","nodeSelector":{"amd.com/gpu.product-name":"AMD_Instinct_MI300X"},"container":{"image":"registry.example.com/a:1","resources":{"limits":{"nvidia.com/gpu":2}}}}]}}'
	printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' 'mode: enforce' >policy.yaml
	state 8 | sed "s|\"items\":\[|&$template,|" >state.json
	start --cluster state.json --policy policy.yaml
	is "$(reviewed "$job")" "denied u-1"
	echo "$job" >job.json
	run "$GPUGATE" lint --isolated --cluster state.json job.json
	is "$status" 1
	holds "$output" "(from WorkflowTemplate \`tune\` of the cluster)"
}
