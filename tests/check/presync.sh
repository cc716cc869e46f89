#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the command of the Argo CD hook on a real API server and controller
# manager. It fails with the line in the manifest while the quota is full, and
# passes when the quota is free. The rights in deploy/argocd/rbac.yaml suffice
# for it.
# usage: presync.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need_control_plane --crds --controller-manager
passed=0 failed=0

say() { # GOOD WHAT [TEXT]
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $2: ${3:-}"
	fi
}

manifest() { # NAME WORKERS
	cat <<-END
	apiVersion: kubeflow.org/v1
	kind: PyTorchJob
	metadata:
	  name: $1
	  namespace: ml
	spec:
	  runPolicy: {cleanPodPolicy: Running, backoffLimit: 1}
	  pytorchReplicaSpecs:
	    Worker:
	      replicas: $2
	      restartPolicy: OnFailure
	      template:
	        spec:
	          priorityClassName: ${3:-gpu-batch}
	          containers:
	          - name: pytorch
	            image: example.com/train:1.2
	            resources:
	              requests: {cpu: 4, memory: 32Gi, nvidia.com/gpu: 2}
	              limits: {memory: 32Gi, nvidia.com/gpu: 2}
	END
}

holder() { # NAME GPUS
	cat <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: $1, namespace: ml}
	spec:
	  automountServiceAccountToken: false
	  containers:
	  - name: c
	    image: example.com/hold
	    resources: {limits: {nvidia.com/gpu: $2}}
	END
}

# used GPUS: succeeds if the status of the quota counts that many.
used() {
	[ "$(kube get resourcequota gpus -n ml -o \
		'jsonpath={.status.used.requests\.nvidia\.com/gpu}')" = "$1" ]
}

presync() { # runs the command; its output is in $work/out
	PATH=$build:$CONTROL_PLANE_BIN:$PATH \
		KUBECONFIG=$work/kubeconfig \
		GPUGATE_MANIFESTS=$work/app GPUGATE_NAMESPACE=ml \
		sh deploy/argocd/presync.sh >"$work/out" 2>&1
}

hook_pod() { # prints the revision in the annotation of the hook's Pod
	kube get pod -n ml -l batch.kubernetes.io/job-name=gpugate-presync -o \
		'jsonpath={.items[0].metadata.annotations.gpugate\.dev/revision}' 2>/dev/null
}

cloned() { # REVISION
	PATH=$build:$CONTROL_PLANE_BIN:$PATH KUBECONFIG=$work/kubeconfig \
		GPUGATE_REPO=$work/git GPUGATE_REVISION=$1 GPUGATE_PATH=jobs \
		GPUGATE_NAMESPACE=ml sh deploy/argocd/presync.sh >"$work/out" 2>&1
}

# finds STATUS RULE LINE WHAT: checks the exit status, and that RULE (empty:
# none) is reported in LINE.
finds() {
	local status=0
	presync || status=$?
	[ "$status" = "$1" ]
	say $? "$4: exit $1" "$status: $(cat "$work/out")"
	[ -z "$2" ] || {
		grep -q "\[$2\]" "$work/out"
		say $? "$4: $2" "$(cat "$work/out")"
		grep -q "app/job.yaml:$3:" "$work/out"
		say $? "$4: line $3" "$(cat "$work/out")"
	}
}

kube create namespace ml >/dev/null
kube apply -f deploy/argocd/rbac.yaml >/dev/null
say $? 'rbac.yaml is accepted'
# The README's command, and the account of Argo CD's hook.
command=$(sed -n '/kubectl create clusterrolebinding/,/```/p' \
	deploy/argocd/README.md | sed '/```/d')
kubectl() { kube "$@"; }
eval "$command" >"$work/out" 2>&1
say $? "README: the binding" "$(cat "$work/out")"
unset -f kubectl
user=system:serviceaccount:ml:gpugate-presync
control_plane_user "$user" system:serviceaccounts
# KUBECONFIG is a list separated by colons, so the file gets a name without any.
cp "$work/cluster/$user.kubeconfig" "$work/kubeconfig"
mkdir "$work/kustomize"
cat >"$work/kustomize/kustomization.yaml" <<END
namespace: ml
resources: [$(realpath --relative-to="$work/kustomize" deploy/argocd)]
END
kube kustomize "$work/kustomize" >"$work/hook.yaml" &&
	kube apply --dry-run=server -f "$work/hook.yaml" >"$work/out" 2>&1
say $? 'presync.yaml is accepted' "$(cat "$work/out")"
# Commands do not contain texts that Argo CD would have to replace.
! grep -v '^ *#' deploy/argocd/*.yaml | grep -F "\$ARGOCD_APP"
say $? 'no manifest waits for Argo CD to replace a variable'

# A common annotation of kustomize reaches the Pod's environment.
cat >>"$work/kustomize/kustomization.yaml" <<'END'
commonAnnotations: {gpugate.dev/repo: REPO, gpugate.dev/revision: 4f2c1e}
END
kube kustomize "$work/kustomize" | kube apply -f - >"$work/out" 2>&1
kube get serviceaccount gpugate-presync -n ml >"$work/out" 2>&1
say $? 'its account is in the namespace of the application' "$(cat "$work/out")"
control_plane_until 60 hook_pod >/dev/null
say $? 'the Job makes its Pod' "$(cat "$work/out")"
[ "$(hook_pod)" = 4f2c1e ]
say $? 'the Pod has the annotation' "$(hook_pod)"
[ "$(kube get job gpugate-presync -n ml -o "jsonpath={.spec.template.spec.containers[0].env[?(@.name=='GPUGATE_REVISION')].valueFrom.fieldRef.fieldPath}")" = \
	"metadata.annotations['gpugate.dev/revision']" ]
say $? 'and the container reads it'
kube delete -f "$work/hook.yaml" >/dev/null

# The command clones the repository in the annotations.
git init -q "$work/git" && mkdir "$work/git/jobs" &&
	manifest llm 1 >"$work/git/jobs/job.yaml" &&
	git -C "$work/git" add . && git -C "$work/git" \
	-c user.name=t -c user.email=t@example.com commit -qm one
status=0
cloned '$ARGOCD_APP_REVISION' || status=$?
[ "$status" = 2 ] && grep -q commonAnnotationsEnvsubst "$work/out"
say $? 'a variable that nothing replaced is explained' "$(cat "$work/out")"
"$build/gpugate" lint --isolated -q deploy/argocd >"$work/out"
say $? 'the linter is clean on it' "$(cat "$work/out")"
kube create priorityclass gpu-batch --value=1000 >/dev/null
kube apply -f - >/dev/null <<END
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus, namespace: ml}
spec: {hard: {requests.nvidia.com/gpu: 8}}
END
mkdir "$work/app"
manifest llm 4 >"$work/app/job.yaml"

control_plane_until 60 used 0
say $? 'the quota has a status'
finds 0 '' '' 'free quota'
cloned "$(git -C "$work/git" rev-parse HEAD)"
say $? 'the commit is cloned and judged' "$(cat "$work/out")"
holder busy 2 | kube create -f - >/dev/null
control_plane_until 60 used 2
say $? 'a Pod is charged'
finds 1 quota-would-exceed 4 '8 GPUs where 6 are left'
grep -qE '\b6\b' "$work/out"
say $? 'what is left is said' "$(cat "$work/out")"
manifest llm 3 >"$work/app/job.yaml"
finds 0 '' '' '6 GPUs where 6 are left'

# The running copy of the same job is not counted twice.
kube delete pod busy -n ml --now >/dev/null 2>&1
manifest llm 4 >"$work/app/job.yaml"
kube create -f "$work/app/job.yaml" >/dev/null
uid=$(kube get pytorchjob llm -n ml -o 'jsonpath={.metadata.uid}')
for i in 0 1 2 3; do
	holder "llm-worker-$i" 2 | sed "s|^metadata: {|&ownerReferences: [{apiVersion: kubeflow.org/v1, kind: PyTorchJob, name: llm, uid: $uid, controller: true}], |" |
		kube create -f - >/dev/null
done
control_plane_until 60 used 8
say $? 'the copy is running'
finds 0 '' '' 'the deployed copy itself'
manifest llm 5 >"$work/app/job.yaml"
finds 1 quota-never-fits 4 'one worker more than the quota has'
manifest other 2 >"$work/app/job.yaml"
finds 1 quota-would-exceed 4 'another job beside it'

manifest llm 4 no-such-class >"$work/app/job.yaml"
finds 1 priority-class-unknown 14 'a class that nobody defined'

# The webhook's policy, from its ConfigMap, as a floor.
manifest llm 1 >"$work/app/job.yaml"
finds 0 '' '' 'without the policy of the webhook'
kube create namespace gate >/dev/null
kube create configmap webhook -n gate --from-literal='policy.yaml=apiVersion: gpugate.dev/v1
kind: Policy
rules: {gpu-node-selector-missing: {severity: error}}' >/dev/null
export GPUGATE_DOOR=gate/webhook
status=0
presync || status=$?
[ "$status" = 2 ] && grep -q 'policy gate/webhook: .*cannot get' "$work/out"
say $? 'a policy that may not be read' "$status: $(cat "$work/out")"
kube create role webhook -n gate --verb=get --resource=configmaps \
	--resource-name=webhook >/dev/null
kube create rolebinding webhook -n gate --role=webhook \
	--serviceaccount=ml:gpugate-presync >/dev/null
finds 1 gpu-node-selector-missing 13 'the policy of the webhook'
unset GPUGATE_DOOR

# Missing rights are reported, and the hook fails.
manifest llm 1 >"$work/app/job.yaml"
kube delete clusterrolebinding gpugate-presync-ml >/dev/null
status=0
presync || status=$?
[ "$status" = 2 ]
say $? 'without permissions: exit 2' "$status: $(cat "$work/out")"

echo "presync: $passed passed, $failed failed"
[ "$failed" = 0 ]
