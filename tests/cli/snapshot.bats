# SPDX-License-Identifier: Apache-2.0
# gpugate snapshot with a kubectl that prints $FAKE/PATH.json, or fails with the
# message in PATH.error or default.error. Any other path does not exist.

bats_require_minimum_version 1.5.0
load helper

fake() {
	FAKE=$BATS_TEST_TMPDIR/fake
	export FAKE
	mkdir -p "$FAKE"
	cat >"$FAKE/kubectl" <<'END'
#!/bin/sh
echo "$*" >>"$FAKE/log"
case $* in
*'config view'*) printf 'https://10.0.0.1:6443'; exit 0 ;;
esac
for last; do :; done
case $last in
*[?]*continue=*) page=+${last##*continue=} ;;
*) page= ;;
esac
last=${last%%[?]*}
set -f
IFS=/
set -- ${last#/}
IFS=_
file=$FAKE/$*$page
[ ! -f "$file.json" ] || exec cat "$file.json"
if [ -f "$file.error" ]; then
	cat "$file.error" >&2
	exit 1
fi
[ ! -f "$FAKE/default.error" ] || { cat "$FAKE/default.error" >&2; exit 1; }
echo 'Error from server (NotFound): the server could not find the requested resource' >&2
exit 1
END
	chmod +x "$FAKE/kubectl"
}

# list PATH KIND ITEM...: writes the response to a list.
list() {
	path=$FAKE/$1.json
	api=$2 kind=$3
	shift 3
	items=
	for item; do
		items="$items${items:+,}$item"
	done
	printf '{"kind":"%sList","apiVersion":"%s","metadata":{"resourceVersion":"7"},"items":[%s]}' \
		"$kind" "$api" "$items" >"$path"
}

quota() {
	printf '{"metadata":{"name":"%s","namespace":"ml"},"spec":{"hard":{"requests.nvidia.com/gpu":"%s"}},"status":{"used":{"requests.nvidia.com/gpu":"%s"}}}' "$1" "$2" "$3"
}

# gpu_pod NAME GPUS OWNER-API OWNER-KIND OWNER
gpu_pod() {
	printf '{"metadata":{"name":"%s","namespace":"ml","annotations":{"token":"s3cret"},"ownerReferences":[{"apiVersion":"%s","kind":"%s","name":"%s","controller":true}]},"spec":{"containers":[{"name":"c","env":[{"name":"K","value":"s3cret"}],"resources":{"limits":{"nvidia.com/gpu":"%s"}}}]},"status":{"phase":"Running"}}' \
		"$1" "$3" "$4" "$5" "$2"
}

# Writes the fake kubectl's responses for kinds that every cluster serves.
cluster() {
	fake
	list api_v1_namespaces v1 Namespace \
		'{"metadata":{"name":"ml","labels":{"env":"prod"}}}'
	list api_v1_resourcequotas v1 ResourceQuota "$(quota gpu 16 12)"
	list api_v1_limitranges v1 LimitRange
	list api_v1_persistentvolumeclaims v1 PersistentVolumeClaim \
		'{"metadata":{"name":"data","namespace":"ml"},"spec":{"accessModes":["ReadWriteOncePod"],"volumeName":"v-1"}}'
	list apis_policy_v1_poddisruptionbudgets policy/v1 PodDisruptionBudget
	list apis_networking.k8s.io_v1_networkpolicies networking.k8s.io/v1 \
		NetworkPolicy
	list apis_scheduling.k8s.io_v1_priorityclasses scheduling.k8s.io/v1 \
		PriorityClass '{"metadata":{"name":"gpu-batch"},"value":5}'
	list apis_node.k8s.io_v1_runtimeclasses node.k8s.io/v1 RuntimeClass
	list api_v1_nodes v1 Node \
		'{"metadata":{"name":"a","labels":{"kubernetes.io/hostname":"a"}},"status":{"allocatable":{"nvidia.com/gpu":"8"}}}' \
		'{"metadata":{"name":"b","labels":{"kubernetes.io/hostname":"b"}},"status":{"allocatable":{"nvidia.com/gpu":"8"}}}'
	list api_v1_pods v1 Pod "$(gpu_pod n-1-x 2 batch/v1 Job n-1)" \
		"$(gpu_pod run-0 8 kubeflow.org/v1 PyTorchJob run)"
	echo '{"kind":"APIResourceList","resources":[{"name":"jobs/status","kind":"Job"},{"name":"jobs","kind":"Job"}]}' \
		>"$FAKE/apis_batch_v1.json"
	list apis_batch_v1_jobs batch/v1 Job \
		'{"metadata":{"name":"n-1","namespace":"ml","ownerReferences":[{"apiVersion":"batch/v1","kind":"CronJob","name":"n","controller":true}]}}'
}

snapshot() {
	run --separate-stderr "$GPUGATE" snapshot --kubectl "$FAKE/kubectl" "$@"
}

@test "lint can use the snapshot" {
	cluster
	snapshot -o cluster.json
	is "$status" 0
	holds "$stderr" "1 namespaces, 1 quotas, 2 nodes (1 kinds), 2 GPU pods"
	cat >job.yaml <<-END
		apiVersion: kubeflow.org/v1
		kind: PyTorchJob
		metadata: {name: llm, namespace: ml}
		spec:
		  pytorchReplicaSpecs:
		    Worker:
		      replicas: 2
		      template:
		        spec:
		          containers:
		          - {name: pytorch, image: "t:1", resources: {limits: {nvidia.com/gpu: 4}}}
	END
	sed 's/llm/run/' job.yaml >run.yaml
	lint --isolated --select quota --cluster cluster.json job.yaml run.yaml
	is "$status" 1
	is "$output" 'job.yaml:3:18: error: PyTorchJob `llm` needs 8 nvidia.com/gpu, but quota `gpu` has 4 left for it: 12 of 16 are used [quota-would-exceed]'
}

@test "root owners, equal nodes once, no secrets" {
	cluster
	snapshot -q
	is "$status" 0
	is "$stderr" ""
	echo "$output" | python3 -c 'import json, sys
c = json.load(sys.stdin)
assert c["server"] == "https://10.0.0.1:6443" and c["version"] == 1
use = {u["owner"]["kind"]: u["resources"] for u in c["usage"]}
assert use == {"CronJob": {"nvidia.com/gpu": "2"}, "PyTorchJob": {"nvidia.com/gpu": "8"}}, use
nodes = [i for i in c["items"] if i["kind"] == "Node"]
assert len(nodes) == 1 and nodes[0]["count"] == 2, nodes
names = [i for i in c["items"] if i["kind"] == "Namespace"]
assert names[0]["metadata"]["labels"] == {"env": "prod"}, names'
	holds_not "$output" s3cret
	holds_not "$(cat "$FAKE/log")" secrets
}

@test "claims, budgets and network policies: only the fields that rules read" {
	cluster
	list apis_policy_v1_poddisruptionbudgets policy/v1 PodDisruptionBudget \
		'{"metadata":{"name":"pdb","namespace":"ml"},"spec":{"maxUnavailable":0,"selector":{"matchLabels":{"a":"b"}},"unhealthyPodEvictionPolicy":"AlwaysAllow"},"status":{"currentHealthy":2}}'
	list apis_networking.k8s.io_v1_networkpolicies networking.k8s.io/v1 \
		NetworkPolicy '{"metadata":{"name":"deny","namespace":"ml"},"spec":{"podSelector":{},"policyTypes":["Ingress"]}}'
	snapshot -q
	is "$status" 0
	echo "$output" | python3 -c 'import json, sys
specs = {i["kind"]: i["spec"] for i in json.load(sys.stdin)["items"] if "spec" in i}
assert specs["PersistentVolumeClaim"] == {"accessModes": ["ReadWriteOncePod"]}, specs
assert specs["PodDisruptionBudget"] == {"maxUnavailable": 0, "selector": {"matchLabels": {"a": "b"}}}, specs
assert specs["NetworkPolicy"] == {"podSelector": {}, "policyTypes": ["Ingress"]}, specs'
}

@test "pages of a list are joined" {
	cluster
	printf '{"kind":"ResourceQuotaList","apiVersion":"v1","metadata":{"continue":"abc"},"items":[%s]}' \
		"$(quota one 1 0)" >"$FAKE/api_v1_resourcequotas.json"
	list api_v1_resourcequotas+abc v1 ResourceQuota "$(quota two 2 0)"
	snapshot -q
	holds "$output" '"name":"one"'
	holds "$output" '"name":"two"'
}

@test "forbidden kinds are listed, and their rules are skipped" {
	cluster
	rm "$FAKE/apis_scheduling.k8s.io_v1_priorityclasses.json"
	echo 'Error from server (Forbidden): priorityclasses.scheduling.k8s.io is forbidden: User "dev" cannot list resource "priorityclasses"' \
		>"$FAKE/apis_scheduling.k8s.io_v1_priorityclasses.error"
	snapshot -o cluster.json
	is "$status" 0
	holds "$stderr" "cannot read priorityclasses.scheduling.k8s.io"
	holds_not "$(cat cluster.json)" User
	pod pod.yaml
	cat >>pod.yaml <<-END
		    resources: {limits: {nvidia.com/gpu: 1}}
		  priorityClassName: nope
	END
	"$GPUGATE" lint --isolated --cluster cluster.json pod.yaml --format json \
		--fail-on never >report.json
	holds "$(cat report.json)" 'the cluster snapshot has no priorityclasses'
	run --separate-stderr "$GPUGATE" lint --isolated --cluster cluster.json \
		--require cluster --fail-on never pod.yaml
	is "$status" 2
	holds "$stderr" "required cluster snapshot: rule \`priority-class-unknown\` was skipped"
}

@test "only some namespaces" {
	cluster
	echo '{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"ml"}}' \
		>"$FAKE/api_v1_namespaces_ml.json"
	for kind in resourcequotas limitranges pods; do
		cp "$FAKE/api_v1_$kind.json" "$FAKE/api_v1_namespaces_ml_$kind.json"
		rm "$FAKE/api_v1_$kind.json"
	done
	snapshot -q --namespace ml
	is "$status" 0
	holds "$output" '"name":"gpu","namespace":"ml"'
	holds "$output" '"kind":"Namespace","metadata":{"name":"ml"}'
}

@test "options go to kubectl" {
	cluster
	snapshot -q --context prod --kubeconfig k.yaml
	is "$status" 0
	holds "$(head -1 "$FAKE/log")" "--context prod --kubeconfig k.yaml"
}

@test "no response: exit 2, the old file stays" {
	fake
	echo 'The connection to the server 10.0.0.1:6443 was refused' >"$FAKE/default.error"
	echo old >cluster.json
	snapshot -o cluster.json
	is "$status" 2
	holds "$stderr" "was refused"
	is "$(cat cluster.json)" old
	is "$(wc -l <"$FAKE/log" | tr -d ' ')" 1
}

@test "everything is forbidden: exit 2" {
	fake
	echo 'Error from server (Forbidden): no' >"$FAKE/default.error"
	snapshot -o cluster.json
	is "$status" 2
	holds "$stderr" "nothing could be read"
	[ ! -e cluster.json ]
}

@test "no kubectl: exit 2" {
	run --separate-stderr "$GPUGATE" snapshot --kubectl ./missing
	is "$status" 2
	holds "$stderr" "cannot be run"
}

@test "an expired list is requested again" {
	cluster
	printf '{"kind":"ResourceQuotaList","apiVersion":"v1","metadata":{"continue":"abc"},"items":[%s]}' \
		"$(quota one 1 0)" >"$FAKE/api_v1_resourcequotas.json"
	echo 'Error from server (Expired): The provided continue parameter is too old' \
		>"$FAKE/api_v1_resourcequotas+abc.error"
	snapshot -o cluster.json
	is "$status" 0
	holds "$(cat "$FAKE/log")" "/api/v1/resourcequotas
"
	# The list never ends here: the kind is then unreadable, rather than
	# incomplete.
	holds "$stderr" "cannot read resourcequotas"
	holds_not "$(cat cluster.json)" '"name":"one"'
}

@test "a file that is not a snapshot" {
	pod pod.yaml
	printf '{"apiVersion":"gpugate.dev/v1","kind":"ClusterSnapshot","version":1,' >cut.json
	lint --cluster cut.json pod.yaml
	is "$status" 2
	holds "$stderr" "cluster snapshot cut.json: the file ends too early (line 1, column 69)"
	lint --cluster missing.json pod.yaml
	is "$status" 2
	holds "$stderr" "cluster snapshot missing.json: No such file"
}

@test "a snapshot older than the policy's maxAge" {
	cluster
	snapshot -q -o cluster.json
	sed -i 's/"takenAt":"[^"]*"/"takenAt":"2026-01-01T00:00:00Z"/' cluster.json
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nmaxAge: 24h\n' >.gpugate.yaml
	pod pod.yaml
	cat >>pod.yaml <<-END
		    resources: {limits: {nvidia.com/gpu: 1}}
		  priorityClassName: nope
	END
	"$GPUGATE" lint --cluster cluster.json pod.yaml --format json \
		--fail-on never >report.json 2>errors
	holds "$(cat report.json)" "older than the policy's maxAge"
	holds "$(cat errors)" "warning: cluster snapshot cluster.json is"
	holds "$(cat errors)" " d old, but the policy's maxAge is 24 h: rules"
	holds_not "$(cat report.json)" "does not exist: Pod"
	for rule in quota-never-fits quota-would-exceed cluster; do
		run "$GPUGATE" lint --cluster cluster.json pod.yaml \
			--fail-on never --require $rule
		is "$status" 2
	done
	run "$GPUGATE" lint --isolated --cluster cluster.json pod.yaml \
		--fail-on never --require quota-never-fits
	is "$status" 0
	sed -i "s/\"takenAt\":\"[^\"]*\"/\"takenAt\":\"$(date -u -d '-50 min' \
		+%FT%TZ)\"/" cluster.json
	sed -i 's/24h/30m/' .gpugate.yaml
	run --separate-stderr "$GPUGATE" lint --cluster cluster.json pod.yaml
	holds "$stderr" "is 50 min old, but the policy's maxAge is 30 min: rules"
}

@test "a snapshot with a time in the future" {
	cluster
	snapshot -q -o cluster.json
	sed -i 's/"takenAt":"[^"]*"/"takenAt":"2199-01-01T00:00:00Z"/' cluster.json
	pod pod.yaml
	cat >>pod.yaml <<-END
		    resources: {limits: {nvidia.com/gpu: 1}}
		  priorityClassName: nope
	END
	"$GPUGATE" lint --isolated --cluster cluster.json pod.yaml \
		--format json --fail-on never >report.json 2>errors
	holds "$(cat report.json)" "the time of the cluster snapshot is in the future"
	holds "$(cat errors)" "warning: the time of cluster snapshot cluster.json is"
	holds_not "$(cat report.json)" "does not exist: Pod"
	run "$GPUGATE" lint --isolated --cluster cluster.json pod.yaml \
		--fail-on never --require cluster
	is "$status" 2
}

@test "paths: the first of two clusters for one path applies" {
	cluster
	snapshot -q -o a.json
	sed 's/gpu-batch/gpu-other/' a.json >b.json
	pod x/pod.yaml
	cat >>x/pod.yaml <<-END
		    resources: {limits: {nvidia.com/gpu: 1}}
		  priorityClassName: gpu-batch
	END
	for pair in 'x/** **' '** x/**'; do
		cat >.gpugate.yaml <<-END
			apiVersion: gpugate.dev/v1
			kind: Policy
			paths:
			- {glob: "${pair% *}", cluster: a.json}
			- {glob: "${pair#* }", cluster: b.json}
		END
		lint --select priority-class-unknown x
		is "$output" ""
	done
	# A state given by --cluster applies to all objects.
	lint --select priority-class-unknown --cluster b.json x
	holds "$output" "does not exist: Pod"
}

@test "paths: each folder has its cluster" {
	cluster
	snapshot -q -o a.json
	sed 's/gpu-batch/gpu-other/' a.json >b.json
	cat >.gpugate.yaml <<-END
		apiVersion: gpugate.dev/v1
		kind: Policy
		paths:
		- {glob: "a/**", cluster: a.json}
		- {glob: "b/**", cluster: b.json}
	END
	for folder in a b; do
		pod $folder/pod.yaml
		cat >>$folder/pod.yaml <<-END
			    resources: {limits: {nvidia.com/gpu: 1}}
			  priorityClassName: gpu-batch
		END
	done
	lint --select priority-class-unknown --extend-select object-duplicate
	is "$(paths)" b/pod.yaml
}

# configmaps PATH ITEM...: writes ConfigMaps with the labels of the chart.
configmaps() {
	list api_v1_configmaps v1 ConfigMap "$@"
}

webhook_policy() {
	printf '{"metadata":{"name":"gpugate-policy","namespace":"%s"},"data":{"policy.yaml":"%s","notes.txt":"kind: [","exemptions-a.yaml":"%s"}}' "$1" \
		'apiVersion: gpugate.dev/v1\nkind: Policy\nmode: audit\nrules:\n  shm-missing: {severity: error, params: {size: 16Gi}}' \
		'apiVersion: gpugate.dev/v1\nkind: Exemptions\nnamespaces: [ml]\nexempt:\n- {namespaces: [ml], rules: [gpu-request-limit-mismatch], reason: old}\n'
}

gpu_file() {
	cat >pod.yaml <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: p, namespace: ml}
		spec:
		  restartPolicy: Never
		  containers:
		  - name: c
		    image: nvcr.io/nvidia/pytorch:24.05-py3
		    command: [torchrun, --nproc-per-node=4, train.py]
		    resources: {limits: {nvidia.com/gpu: 4, memory: 64Gi}, requests: {cpu: 8}}
	END
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrules:\n  shm-missing: off\n' >.gpugate.yaml
}

@test "names of pod owners cannot change the request path" {
	cluster
	n=0
	for version in ../v1 'v1?x' batch/../../api batch/.. ../api/v1 -v a/b/c; do
		list api_v1_pods v1 Pod "$(gpu_pod "p" 2 "$version" Job j)"
		: >"$FAKE/log"
		snapshot -q
		is "$version: $status" "$version: 0"
		run ! grep -F -e "/$version" "$FAKE/log"
	done
	# Names that the server gives for kinds of owners are not used in paths
	# either.
	list api_v1_pods v1 Pod "$(gpu_pod p 2 batch/v1 Job j)"
	echo '{"resources":[{"name":"../../../api/v1/secrets?","kind":"Job"}]}' \
		>"$FAKE/apis_batch_v1.json"
	: >"$FAKE/log"
	snapshot -q
	is "$status" 0
	run ! grep -F secrets "$FAKE/log"
}

@test "names of namespaces, and values that look like options" {
	printf '#!/bin/sh\ntouch "%s"\n' "$PWD/ran" >kubectl
	chmod +x kubectl
	for name in A -x x- a.b a/b ../x 'a?x' '%2e' a_b \
		"$(printf '%064d' 0)"; do
		run --separate-stderr "$GPUGATE" snapshot --kubectl ./kubectl \
			--namespace="$name"
		is "$name: $status" "$name: 2"
		holds "$stderr" "--namespace: \`$name\` is not the name of a namespace"
	done
	for name in context kubeconfig kubectl; do
		for value in -o --token=x; do
			run --separate-stderr "$GPUGATE" snapshot \
				--kubectl ./kubectl "--$name=$value"
			is "$status" 2
			holds "$stderr" "--$name: \`$value\` is empty or begins with -"
		done
	done
	for webhook in ../x a/.. a/. A/b a.b/c a/-b; do
		run --separate-stderr "$GPUGATE" snapshot --kubectl false \
			--webhook-policy "$webhook"
		is "$status" 2
	done
	[ ! -e ran ]
	pod x.yaml
	lint --namespace Team x.yaml
	is "$status" 2
	holds "$stderr" "--namespace: \`Team\` is not the name of a namespace"
	lint --namespace "$(printf '%063d' 0)" x.yaml
	is "$status" 1
}

@test "the webhook's policy is stored, and is a floor" {
	cluster
	configmaps '{"metadata":{"name":"gpugate-dashboard"},"data":{"gpugate.json":"{}"}}' \
		"$(webhook_policy gpugate-system)"
	snapshot -o cluster.json
	is "$status" 0
	holds "$stderr" "2 GPU pods, the admission policy"
	holds "$(cat "$FAKE/log")" "configmaps?labelSelector=app.kubernetes.io/name%3Dgpugate,app.kubernetes.io/component%3Dwebhook"
	python3 - <<-'END'
	import json
	text = json.load(open("cluster.json"))["policy"]
	assert text.index("# exemptions-a.yaml\n") == 0, text
	assert "\n---\n# policy.yaml\n" in text and "notes" not in text, text
	END
	gpu_file
	lint --cluster cluster.json pod.yaml
	holds_not "$output" shm-missing
	lint --cluster cluster.json --policy cluster.json pod.yaml
	is "$status" 1
	holds "$output" "pod.yaml:7:11: error: "
	holds "$output" "[shm-missing]"
}

@test "a snapshot without the webhook's policy is not a floor" {
	cluster
	echo 'Error from server (Forbidden): configmaps is forbidden: User "x" cannot list' \
		>"$FAKE/api_v1_configmaps.error"
	snapshot -o cluster.json
	is "$status" 0
	holds_not "$stderr" configmaps
	snapshot -v -o cluster.json
	is "$status" 0
	holds "$stderr" "the admission policy: configmaps is forbidden"
	holds_not "$(cat cluster.json)" '"policy"'
	gpu_file
	run --separate-stderr "$GPUGATE" lint --policy cluster.json pod.yaml
	is "$status" 2
	holds "$stderr" "cluster.json: this snapshot contains no policy"
}

@test "the policy of another ConfigMap, or of none" {
	cluster
	configmaps "$(webhook_policy a)" "$(webhook_policy b)"
	snapshot -v
	is "$status" 0
	holds "$stderr" "the admission policy: there are several"
	webhook_policy gate >"$FAKE/api_v1_namespaces_gate_configmaps_mine.json"
	# the name of --webhook-policy before 1.0
	snapshot -q --door gate/mine
	is "$status" 0
	holds "$output" '"policy":'
	snapshot --webhook-policy gate/other -o none.json
	is "$status" 2
	holds "$stderr" "the admission policy gate/other: "
	[ ! -e none.json ]
	for webhook in gate /mine gate/ 'gate/a/b' 'gate/a?x'; do
		snapshot --webhook-policy "$webhook"
		is "$status" 2
		holds "$stderr" "expected NAMESPACE/CONFIGMAP"
	done
}

@test "a broken policy in a snapshot is reported with its line" {
	cluster
	printf '{"metadata":{"name":"p","namespace":"g"},"data":{"policy.yaml":"apiVersion: gpugate.dev/v1\\nkind: Policy\\nmoed: audit\\n"}}' \
		>"$FAKE/api_v1_namespaces_g_configmaps_p.json"
	snapshot -q --webhook-policy g/p -o cluster.json
	gpu_file
	run --separate-stderr "$GPUGATE" lint --policy cluster.json pod.yaml
	is "$status" 2
	holds "$stderr" "cluster.json (policy):4:"
	holds "$stderr" moed
}

@test "a selector is reported as missing only if GPU nodes differ" {
	asking_pod 1 >pod.yaml
	for other in NVIDIA-A10 NVIDIA-L4; do
		cat >state.json <<-END
			{"apiVersion": "gpugate.dev/v1", "kind": "ClusterSnapshot", "version": 1, "takenAt": "2026-01-31T08:00:00Z",
			"items": [
			{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {"nvidia.com/gpu.product": "NVIDIA-A10"}}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}},
			{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b", "labels": {"nvidia.com/gpu.product": "$other"}}, "status": {"allocatable": {"nvidia.com/gpu": "1"}}},
			{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "c"}, "status": {"allocatable": {"cpu": "8"}}}]}
		END
		run "$GPUGATE" lint --isolated --format concise --cluster state.json \
			--select gpu-node-selector-missing pod.yaml
		if [ "$other" = NVIDIA-L4 ]; then
			holds "$output" "warning: no node selector says which GPU"
		else
			is "$output" ""
		fi
	done
}

@test "several kinds are requested at once" {
	cluster
	mv "$FAKE/kubectl" "$FAKE/answer"
	# Each of these two requests is answered only when the other one was sent.
	cat >"$FAKE/kubectl" <<'END'
#!/bin/sh
case $* in
*resourcequotas*) own=quotas other=limits ;;
*limitranges*) own=limits other=quotas ;;
*) exec "$FAKE/answer" "$@" ;;
esac
: >"$FAKE/$own"
for i in $(seq 100); do
	[ ! -f "$FAKE/$other" ] || exec "$FAKE/answer" "$@"
	sleep 0.1
done
echo 'Error from server (Timeout): alone' >&2
exit 1
END
	chmod +x "$FAKE/kubectl"
	snapshot -o c.json
	is "$status" 0
	holds_not "$stderr" alone
	holds "$(cat c.json)" ResourceQuota
}

@test "--cluster - is a snapshot from standard input" {
	cluster
	snapshot -o c.json
	printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ml}\nspec:\n  priorityClassName: not-there\n  containers:\n  - {name: c, image: "t:1", resources: {limits: {nvidia.com/gpu: 1}}}\n' >p.yaml
	run --separate-stderr "$GPUGATE" lint --format concise --cluster - p.yaml <c.json
	is "$status" 1
	holds "$output" "[priority-class-unknown]"
	run --separate-stderr "$GPUGATE" lint --cluster - - <c.json
	is "$status" 2
	holds "$stderr" "standard input"
	run --separate-stderr "$GPUGATE" krm --cluster - <c.json
	is "$status" 2
}

# Adds responses with the cluster's own policies: `most` reads a ConfigMap,
# `idle` has no binding, and `new` calls an unknown function.
policies() {
	cluster
	rules='"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"]}]}'
	list apis_admissionregistration.k8s.io_v1_validatingadmissionpolicies \
		admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy \
		"{\"metadata\":{\"name\":\"most\",\"managedFields\":[1]},\"spec\":{$rules,\"paramKind\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"},\"validations\":[{\"expression\":\"object.spec.priority < int(params.data.most)\",\"message\":\"too much\"}]},\"status\":{\"observedGeneration\":1}}" \
		"{\"metadata\":{\"name\":\"idle\"},\"spec\":{$rules,\"validations\":[{\"expression\":\"false\"}]}}" \
		"{\"metadata\":{\"name\":\"new\"},\"spec\":{$rules,\"validations\":[{\"expression\":\"object.later() > 1\"}]}}"
	list apis_admissionregistration.k8s.io_v1_validatingadmissionpolicybindings \
		admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding \
		'{"metadata":{"name":"b"},"spec":{"policyName":"most","validationActions":["Deny"],"paramRef":{"name":"small","namespace":"ml","parameterNotFoundAction":"Deny"}}}' \
		'{"metadata":{"name":"n"},"spec":{"policyName":"new","validationActions":["Deny"]}}'
	list apis_apiextensions.k8s.io_v1_customresourcedefinitions \
		apiextensions.k8s.io/v1 CustomResourceDefinition \
		'{"metadata":{"name":"gates.example.com"},"spec":{"group":"example.com","names":{"kind":"Gate","plural":"gates"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":{"type":"object","description":"long","properties":{"spec":{"type":"object","x-kubernetes-validations":[{"rule":"self.gpus < 8","message":"too many"}],"properties":{"gpus":{"type":"integer","description":"long"},"args":{"type":"array","items":{"type":"string"}}}}}}}}]}}' \
		'{"metadata":{"name":"walls.example.com"},"spec":{"group":"example.com","names":{"kind":"Wall","plural":"walls"},"scope":"Cluster","versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object"}}}}}]}}'
	list api_v1_namespaces_ml_configmaps v1 ConfigMap \
		'{"metadata":{"name":"small","namespace":"ml","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"long"}},"data":{"most":"3"}}'
	pod pod.yaml
	printf 'apiVersion: example.com/v1\nkind: Gate\nmetadata: {name: g, namespace: ml}\nspec:\n  gpus: 9\n' >gate.yaml
}

judged() {
	run --separate-stderr "$GPUGATE" lint --isolated --format concise \
		--select admission-policy,crd-validation --cluster cluster.json "$@"
}

@test "an operator's image shows its version, which decides what it rejects" {
	cluster
	list apis_apps_v1_deployments apps/v1 Deployment \
		'{"metadata":{"name":"kueue","namespace":"kueue-system"},"spec":{"template":{"spec":{"containers":[{"name":"manager","image":"registry.k8s.io/kueue/kueue:v0.17.2"}]}}}}'
	echo '{"kind":"APIResourceList","resources":[{"name":"deployments","kind":"Deployment"}]}' \
		>"$FAKE/apis_apps_v1.json"
	snapshot -o cluster.json
	is "$status" 0
	cat >queue.yaml <<-'EOF'
		apiVersion: kueue.x-k8s.io/v1beta2
		kind: ClusterQueue
		metadata: {name: checks}
		spec:
		  namespaceSelector: {}
		  resourceGroups:
		  - coveredResources: [nvidia.com/gpu]
		    flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]
		  admissionChecksStrategy: {admissionChecks: [{name: a, onFlavors: [spot]}]}
	EOF
	run "$GPUGATE" lint --isolated --format concise queue.yaml
	holds "$output" 'warning: `onFlavors` names `spot`'
	run "$GPUGATE" lint --isolated --cluster cluster.json --format concise \
		queue.yaml
	holds_not "$output" 'onFlavors'
	sed -i 's/v0.17.2/v0.18.0/' cluster.json
	run "$GPUGATE" lint --isolated --cluster cluster.json --format concise \
		queue.yaml
	holds "$output" 'error: `onFlavors` names `spot`'
}

@test "the device plugin's settings and Karpenter's image are stored" {
	cluster
	list apis_apps_v1_daemonsets apps/v1 DaemonSet \
		'{"metadata":{"name":"plugin","namespace":"kube-system"},"spec":{"template":{"spec":{"containers":[{"name":"nvidia-device-plugin-ctr","env":[{"name":"TOKEN","value":"s3cret"}],"args":["--device-list-strategy=envvar"]}]}}}}' \
		'{"metadata":{"name":"other","namespace":"kube-system"},"spec":{"template":{"spec":{"containers":[{"name":"x","args":["s3cret"]}]}}}}'
	list apis_apps_v1_deployments apps/v1 Deployment \
		'{"metadata":{"name":"karpenter","namespace":"kube-system","ownerReferences":[{"apiVersion":"v1","kind":"Owner","name":"o","controller":true}]},"spec":{"template":{"spec":{"containers":[{"name":"controller","image":"karpenter:1.12.0","env":[{"name":"T","value":"s3cret"}]}]}}}}'
	list api_v1_pods v1 Pod "$(gpu_pod d-1-x 2 apps/v1 Deployment d)"
	echo '{"kind":"APIResourceList","resources":[{"name":"deployments","kind":"Deployment"}]}' \
		>"$FAKE/apis_apps_v1.json"
	snapshot -o cluster.json
	is "$status" 0
	holds "$(cat "$FAKE/log")" 'deployments?labelSelector=app.kubernetes.io%2Fname%20in%20%28jobset%2Ckarpenter%2C'
	holds "$(cat cluster.json)" '"args":["--device-list-strategy=envvar"]'
	holds "$(cat cluster.json)" '"image":"karpenter:1.12.0"'
	holds_not "$(cat cluster.json)" '"other"'
	holds_not "$(cat cluster.json)" s3cret
	pod pod.yaml
	sed -i 's/^  containers:/&\n  - name: b\n    image: registry.example.com\/b:1\n    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]/' pod.yaml
	run "$GPUGATE" lint --isolated --cluster cluster.json --format concise \
		--select nvidia-visible-devices-override pod.yaml
	holds "$output" ': error: `NVIDIA_VISIBLE_DEVICES: all` shows'
}

@test "the cluster's own policies are stored and evaluated" {
	policies
	snapshot -o cluster.json
	is "$status" 0
	holds "$stderr" "3 admission policies with 1 parameters, 1 definitions with their schemas"
	holds_not "$(cat cluster.json)" '"long"'
	holds_not "$(cat cluster.json)" managedFields
	holds "$(cat cluster.json)" '"args"'
	holds "$(cat "$FAKE/log")" "configmaps?fieldSelector=metadata.name%3Dsmall"
	judged pod.yaml gate.yaml
	is "$status" 1
	holds "$output" 'pod.yaml:7:13: error: policy `most`: too much [admission-policy]'
	holds "$output" 'gate.yaml:5:9: error: the definition `gates.example.com`: too many [crd-validation]'
	is "$(echo "$output" | grep -c error)" 2
	holds "$stderr" "warning: cluster snapshot cluster.json: undeclared reference to 'later'"
	judged -q pod.yaml
	holds_not "$stderr" later
	run "$GPUGATE" lint --isolated --cluster cluster.json --format json pod.yaml
	holds "$output" '"policy":"most","binding":"b"'
	holds "$output" '"rule":"admission-policy","reason":"an expression of the policy cannot be read"'
	lint --isolated --cluster cluster.json --ignore admission-policy,crd-validation pod.yaml gate.yaml
	holds_not "$output" "too m"
}

@test "policies that change objects are stored; a created object has no status" {
	policies
	list apis_admissionregistration.k8s.io_v1_mutatingadmissionpolicies \
		admissionregistration.k8s.io/v1 MutatingAdmissionPolicy \
		"{\"metadata\":{\"name\":\"lower\"},\"spec\":{$rules,\"mutations\":[{\"patchType\":\"JSONPatch\",\"jsonPatch\":{\"expression\":\"/spec/tolerations/-\"}}]}}"
	sed -i 's/"served":true,/&"subresources":{"status":{}},/; s/"properties":{"spec"/"x-kubernetes-validations":[{"rule":"!has(self.status)"}],"properties":{"status":{"type":"object"},"spec"/' \
		"$FAKE/apis_apiextensions.k8s.io_v1_customresourcedefinitions.json"
	printf 'status: {}\n' >>gate.yaml
	snapshot -o cluster.json
	judged pod.yaml gate.yaml
	holds "$output" 'error: policy `most`: too much'
	holds_not "$output" 'has(self.status)'
	list apis_admissionregistration.k8s.io_v1_mutatingadmissionpolicybindings \
		admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding \
		'{"metadata":{"name":"l"},"spec":{"policyName":"lower"}}'
	snapshot -o cluster.json
	judged pod.yaml
	holds "$output" 'info: policy `most`: unless the MutatingAdmissionPolicy `lower` changes it: too much'
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nextends: [all]\nplatform: {gpuTaints: [nvidia.com/gpu]}\n' >policy.yaml
	printf '    resources: {limits: {nvidia.com/gpu: 1}}\n' >>pod.yaml
	run "$GPUGATE" lint --config policy.yaml --format concise pod.yaml
	holds "$output" '[gpu-toleration-missing]'
	run "$GPUGATE" lint --config policy.yaml --format concise --cluster cluster.json pod.yaml
	holds_not "$output" '[gpu-toleration-missing]'
}

@test "policies that may not be read are reported and skipped" {
	policies
	forbidden='Error from server (Forbidden): customresourcedefinitions.apiextensions.k8s.io is forbidden: User "eve" cannot list'
	rm "$FAKE"/apis_apiextensions*.json "$FAKE/api_v1_namespaces_ml_configmaps.json"
	echo "$forbidden" >"$FAKE/apis_apiextensions.k8s.io_v1_customresourcedefinitions.error"
	echo "$forbidden" >"$FAKE/api_v1_namespaces_ml_configmaps.error"
	snapshot -o cluster.json
	is "$status" 0
	holds "$stderr" 'cannot read customresourcedefinitions.apiextensions.k8s.io: '
	holds "$stderr" 'cannot read configmaps: '
	holds_not "$(cat cluster.json)" eve
	run "$GPUGATE" lint --isolated --cluster cluster.json --format json pod.yaml gate.yaml
	holds "$output" '"rule":"admission-policy","reason":"needs the policy'\''s parameters"'
	holds "$output" '"rule":"crd-validation","reason":"the cluster snapshot has no customresourcedefinitions: '
	rm "$FAKE"/apis_admission*policies.json
	echo "$forbidden" >"$FAKE/apis_admissionregistration.k8s.io_v1_validatingadmissionpolicies.error"
	snapshot -o cluster.json
	run "$GPUGATE" lint --isolated --cluster cluster.json --format json pod.yaml
	holds "$output" '"rule":"admission-policy","reason":"the cluster snapshot has no validatingadmissionpolicies: '
}

@test "parameters: by selector, in every namespace, none, and no Secrets" {
	policies
	binding='{"metadata":{"name":"b"},"spec":{"policyName":"most","validationActions":["Deny"],"paramRef":{"selector":{"matchLabels":{"of":"most"},"matchExpressions":[{"key":"tier","operator":"In","values":["a","b"]},{"key":"old","operator":"DoesNotExist"}]},"parameterNotFoundAction":"Deny"}}}'
	list apis_admissionregistration.k8s.io_v1_validatingadmissionpolicybindings \
		admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding "$binding"
	list api_v1_configmaps v1 ConfigMap
	snapshot -o cluster.json
	holds "$(cat "$FAKE/log")" "/api/v1/configmaps?labelSelector=of%3Dmost%2Ctier%20in%20%28a%2Cb%29%2C%21old&limit"
	judged pod.yaml
	holds "$output" "no params found"
	snapshot -o cluster.json --namespace ml
	judged pod.yaml
	holds_not "$output" "no params found"
	sed -i 's/ConfigMap/Secret/' "$FAKE"/apis_admission*policies.json
	snapshot -o cluster.json
	holds "$stderr" "cannot read secrets: Secrets are never read"
	holds_not "$(cat "$FAKE/log")" secrets
	judged pod.yaml
	is "$output" ""
}

@test "a definition that is too large is omitted and reported" {
	policies
	python3 - "$FAKE/apis_apiextensions.k8s.io_v1_customresourcedefinitions.json" <<-'END'
		import json, sys
		with open(sys.argv[1]) as f:
		    answer = json.load(f)
		spec = answer["items"][0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
		for n in range(30000):
		    spec["properties"]["field%d" % n] = {"type": "string", "format": "date-time"}
		with open(sys.argv[1], "w") as f:
		    json.dump(answer, f)
	END
	snapshot -o cluster.json
	is "$status" 0
	holds "$stderr" "left out: the schema of gates.example.com: "
	run "$GPUGATE" lint --isolated --cluster cluster.json --format json gate.yaml
	holds "$output" '"rule":"crd-validation","reason":"its schema is left out'
}

# live: writes the responses of a cluster to `lint` and `quota`.
live() {
	cluster
	sed -i 's/^case .* in$/case $* in\n*api-resources*) cat "$FAKE\/resources"; exit 0 ;;\n*" -o json"*) [ ! -f "$FAKE\/partly" ] || { cat "$FAKE\/objects"; cat "$FAKE\/partly" >\&2; exit 1; }; exec cat "$FAKE\/objects" ;;/' \
		"$FAKE/kubectl"
	cat >"$FAKE/resources" <<-END
		configmaps cm v1 true ConfigMap
		pods po v1 true Pod
		secrets  v1 true Secret
		services svc v1 true Service
		jobs  batch/v1 true Job
		rayclusters  ray.io/v1 true RayCluster
	END
	cat >"$FAKE/objects" <<-END
		{"kind":"List","apiVersion":"v1","items":[
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"ml"},
		 "spec":{"priority":5,"containers":[{"name":"c","image":"<IMAGE>"}]}},
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"made","namespace":"ml",
		 "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","controller":true}]},
		 "spec":{"priority":5,"containers":[{"name":"c","image":"x:1"}]}}]}
	END
	ln -s "$(realpath "$GPUGATE")" kubectl-gpugate
}

@test "lint: the objects of a namespace, as kubectl's plugin" {
	live
	run --separate-stderr ./kubectl-gpugate lint --kubectl "$FAKE/kubectl" \
		-q --format concise -n ml
	is "$status" 1
	is "$(printf '%s\n' "$output" | grep -c priority-integer-set)" 1
	holds "$output" "ml/Pod/a:"
	run --separate-stderr ./kubectl-gpugate lint --kubectl "$FAKE/kubectl" -n ml
	holds "$output" "docs: kubectl gpugate explain"
	holds_not "$output" "with --fix"
	grep -q -- '^get pods,services,jobs.batch,rayclusters.ray.io -o json -n ml$' \
		"$FAKE/log"
	# The state of that namespace is requested too.
	grep -q 'namespaces/ml/resourcequotas' "$FAKE/log"
	run ! grep -q secrets "$FAKE/log"
}

@test "lint: under another program name, -n is the namespace of files" {
	live
	pod here.yaml
	run --separate-stderr "$GPUGATE" lint --kubectl "$FAKE/kubectl" \
		-q --format concise -n ml
	holds "$output" here.yaml
	[ ! -e "$FAKE/log" ]
	run --separate-stderr "$GPUGATE" lint --kubectl "$FAKE/kubectl" \
		-q --format concise -A
	holds_not "$output" here.yaml
	holds "$output" "ml/Pod/a:"
	# GPUGATE_CONTEXT says which cluster, but alone requests nothing from it.
	rm "$FAKE/log"
	GPUGATE_CONTEXT=prod run --separate-stderr "$GPUGATE" lint -q \
		--kubectl "$FAKE/kubectl" --format concise
	holds "$output" here.yaml
	[ ! -e "$FAKE/log" ]
	run "$GPUGATE" lint -q --kubectl "$FAKE/kubectl" --context prod here.yaml
	holds "$output" here.yaml
	grep -q -- '^--context prod .*get --raw' "$FAKE/log"
	run ! grep -q -- '-o json ' "$FAKE/log"
}

@test "lint: kinds of the cluster that may not be read" {
	live
	echo 'Error from server (Forbidden): jobs.batch is forbidden' >"$FAKE/partly"
	run --separate-stderr ./kubectl-gpugate lint --kubectl "$FAKE/kubectl" \
		-q --format concise -n ml
	is "$status" 2
	holds "$output" "ml/Pod/a:"
	holds "$stderr" "kubectl gpugate: kubectl: Error from server (Forbidden)"
	for option in --fix --diff '--since HEAD' '--add-ignore x'; do
		run ./kubectl-gpugate lint -n ml $option
		is "$status" 2
		holds "$output" "are not files"
	done
	run ./kubectl-gpugate lint -n ml -A
	is "$status" 2
	run ./kubectl-gpugate lint -A x.yaml
	is "$status" 2
	run ./kubectl-gpugate lint -n ml --kubectl ./nothing
	is "$status" 2
}

@test "quota: of the cluster itself, as kubectl's plugin" {
	live
	pod here.yaml
	run ./kubectl-gpugate quota -A --kubectl "$FAKE/kubectl"
	is "$status" 0
	holds "$output" 16
	run "$GPUGATE" quota -A --kubectl "$FAKE/kubectl" here.yaml
	holds_not "$output" 16
	run "$GPUGATE" quota -A --kubectl "$FAKE/kubectl" --context x here.yaml
	holds "$output" 16
}

@test "lint -A: the page shows all quotas of the cluster" {
	live
	run "$GPUGATE" lint -A --kubectl "$FAKE/kubectl" --format html
	holds "$output" '<h2>GPU quota</h2>'
	pod here.yaml
	run "$GPUGATE" lint --isolated --kubectl "$FAKE/kubectl" --context x \
		--format html here.yaml
	holds_not "$output" '<h2>GPU quota</h2>'
}
