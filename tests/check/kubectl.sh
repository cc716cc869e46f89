#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kubectl's plugin with a real kubectl and a real API server: usage, the
# objects of namespaces, quotas, contexts, and kubectl's completion.
# usage: kubectl.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need_program kubectl
mkdir "$work/bin"
ln -s "$gpugate" "$work/bin/kubectl-gpugate"
cp deploy/completion/kubectl_complete-gpugate "$work/bin/"
export PATH=$work/bin:$PATH
unset KUBECONFIG

# says STATUS TEXT ARGUMENTS: runs kubectl gpugate, and checks its exit status
# and that its output, which stays in $work/log, contains TEXT.
says() {
	local status=0
	kubectl gpugate "${@:3}" >"$work/log" 2>&1 || status=$?
	[ "$status" = "$1" ] || { echo "exit status $status"; return 1; }
	grep -qF -- "$2" "$work/log"
}

# --- without a cluster -------------------------------------------------------

check 'help' says 0 'Usage: kubectl gpugate COMMAND' --help
check 'help of a command' says 0 'Usage: kubectl gpugate quota' help quota
check 'commands in help' says 0 '(kubectl gpugate completion bash)' \
	help completion
check 'commands in options' says 0 '`kubectl gpugate lint FOLDER`' help lsp
check 'errors' says 2 'kubectl gpugate: unknown command' nothing
check 'the hint' says 2 'Try `kubectl gpugate help lint`' lint --nothing
check 'no cluster' says 2 'kubectl gpugate: ' lint -n ml --kubeconfig /dev/null
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {priority: 5}\n' \
	>"$work/pod.yaml"
check 'files' says 1 'docs: kubectl gpugate explain' lint "$work/pod.yaml"

# completes WORDS... -- EXPECTED: checks that kubectl offers it
completes() {
	local words=()
	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	kubectl __complete gpugate "${words[@]}" >"$work/log" 2>&1
	cut -f1 "$work/log" | grep -qxF -- "$2"
}
check 'completes commands' completes li -- lint
check 'completes options' completes lint --sel -- --select
check 'completes values' completes lint --fail-on '' -- error
check 'completes rules' completes explain shm- -- shm-missing
check 'completes lists' completes lint --select 'quota,shm-mi' -- \
	quota,shm-missing

# --- with one ----------------------------------------------------------------

need_control_plane
export KUBECONFIG=$work/cluster/admin.kubeconfig
kube create namespace ml >/dev/null
kube create namespace other >/dev/null
kube create priorityclass gpu-batch --value=1000 >/dev/null
kube create -f - >/dev/null <<END
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus, namespace: ml}
spec: {hard: {requests.nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Pod
metadata: {name: bare, namespace: other}
spec:
  automountServiceAccountToken: false
  containers:
  - {name: c, image: "registry.example.com/x:1", resources: {limits: {nvidia.com/gpu: 1}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  parallelism: 5
  completions: 5
  template:
    metadata: {annotations: {note: "{{- if .Values.x }}"}}
    spec:
      restartPolicy: Never
      containers:
      - name: c
        image: registry.example.com/train:1
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 2}}
END
check 'a namespace' says 1 'quota-never-fits' lint -n ml
check 'the object is named' grep -q -- '--> ml/Job.batch/train:' "$work/log"
check 'no other namespace' eval '! grep -q other/ "$work/log"'
check 'all namespaces' says 1 'other/Pod/bare' lint -A --show-all
check 'all namespaces: this one as well' grep -q 'ml/Job.batch/train' "$work/log"
check 'json' says 1 '"file":"ml/Job.batch/train"' lint -A --format json
check 'a namespace without findings' says 0 'no findings' lint -n default
check 'files with the state' says 1 'priority-integer-set' lint \
	--kubeconfig "$KUBECONFIG" "$work/pod.yaml"
check 'no files to repair' says 2 'are not files' lint -n ml --fix
check 'quota' says 0 'gpus' quota -A
check 'quota of a namespace' says 0 'ml' quota -n ml
printf 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: b, namespace: ml}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "a:1", resources: {limits: {nvidia.com/gpu: 3}}}]}}}\n' \
	>"$work/job.yaml"
check 'quota with a manifest' says 0 '3' quota -n ml "$work/job.yaml"
context=$(kubectl config current-context)
check 'a context' says 0 'gpugate.dev/v1' snapshot --context "$context"
check 'another context' says 2 'nowhere' snapshot --context nowhere
check 'the option -A of snapshot' says 0 'gpugate.dev/v1' snapshot -A

# A user who may read only some kinds is shown the missing ones.
control_plane_user reader
kube create role reader -n ml --verb=get,list --resource=pods,jobs.batch >/dev/null
kube create rolebinding reader -n ml --role=reader --user=reader >/dev/null
KUBECONFIG=$work/cluster/reader.kubeconfig check 'a part' says 2 \
	'kubectl: Error from server (Forbidden)' lint -n ml
check 'readable kinds are linted' grep -q 'ml/Job.batch/train' "$work/log"
finish kubectl
