#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the KRM function with a real kustomize, and the post-renderer with
# real Helm 3 and Helm 4, all built from Go modules into a cache (takes
# minutes, once). HELM=0 leaves out Helm.
# usage: krm.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
# shellcheck source=/dev/null
. "$tests/check/go-tools.bash"
cache=$(go_tools_cache)
kustomize_tests() {
	local kustomize=$cache/kustomize-v5.8.1 dir=$work/kustomize
	mkdir -p "$dir"
	cat >"$dir/quota.yaml" <<-'END'
	# the team's budget
	apiVersion: v1
	kind: ResourceQuota
	metadata:
	  name: q # short
	  namespace: research
	spec:
	  hard:
	    nvidia.com/gpu: "8"
	END
	cat >"$dir/job.yaml" <<-'END'
	apiVersion: batch/v1
	kind: Job
	metadata: {name: train, namespace: research}
	spec:
	  template:
	    spec:
	      restartPolicy: Never
	      containers:
	      - name: train # the only one
	        image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
	        command: [torchrun, train.py]
	        resources:
	          limits: {cpu: "8", memory: 64Gi, nvidia.com/gpu: 2}
	END
	cat >"$dir/kustomization.yaml" <<-'END'
	resources: [quota.yaml, job.yaml]
	transformers: [gpugate.yaml]
	END
	cat >"$dir/gpugate.yaml" <<-END
	apiVersion: v1
	kind: ConfigMap
	metadata:
	  name: gpugate
	  annotations:
	    config.kubernetes.io/function: |
	      exec: {path: $dir/krm}
	data: {fix: safe}
	END
	printf '#!/bin/sh\ntee %s | %s krm --isolated >%s\nrc=$?\ncat %s\nexit $rc\n' \
		"$work/in" "$gpugate" "$work/made" "$work/made" >"$dir/krm"
	chmod +x "$dir/krm"
	check 'kustomize runs the function' sh -c \
		"'$kustomize' build --enable-alpha-plugins --enable-exec '$dir' >'$work/built.yaml'"
	check 'the quota key is repaired' grep -q 'requests.nvidia.com/gpu: "8"' "$work/built.yaml"
	check 'shared memory is mounted' grep -q 'mountPath: /dev/shm' "$work/built.yaml"
	# kustomize itself drops comments and sorts keys; the function returned
	# its input line by line, except for the fixed line.
	check 'nothing else is changed' sh -c \
		"diff '$work/in' '$work/made' | grep '^<' >'$work/gone';
		[ \"\$(cat '$work/gone')\" = '<       nvidia.com/gpu: \"8\"' ]"
	check 'nothing is left to repair' "$gpugate" lint --isolated --diff "$work/built.yaml"
	sed -i 's/Never/Maybe/' "$dir/job.yaml"
	check 'an error stops kustomize' sh -c \
		"! '$kustomize' build --enable-alpha-plugins --enable-exec '$dir' >/dev/null 2>'$work/err' &&
		grep -q restart-policy-invalid '$work/err'"
}

chart() {
	mkdir -p "$work/chart/templates"
	printf 'apiVersion: v2\nname: demo\nversion: 0.1.0\n' >"$work/chart/Chart.yaml"
	printf 'restartPolicy: Never\n' >"$work/chart/values.yaml"
	cat >"$work/chart/templates/job.yaml" <<-'END'
	# made by the chart
	apiVersion: batch/v1
	kind: Job
	metadata:
	  name: {{ .Release.Name }}
	spec:
	  template:
	    spec:
	      restartPolicy: {{ .Values.restartPolicy }}
	      containers:
	      - name: train # the only one
	        image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
	        command: [torchrun, train.py]
	        resources:
	          limits: {cpu: "8", memory: 64Gi, nvidia.com/gpu: 2}
	END
}

# helm_tests NAME HELM POST-RENDERER
helm_tests() {
	export GPUGATE_REPORT=$work/report-$1.txt
	check "$1: post-renderer repairs" sh -c \
		"'$2' template demo '$work/chart' --post-renderer $3 >'$work/$1.yaml' &&
		grep -q 'mountPath: /dev/shm' '$work/$1.yaml' &&
		grep -q '# the only one' '$work/$1.yaml'"
	check "$1: an error stops the render" sh -c \
		"! '$2' template demo '$work/chart' --set restartPolicy=Maybe --post-renderer $3 >'$work/$1-bad.yaml' 2>/dev/null &&
		! grep -q kind: '$work/$1-bad.yaml' &&
		grep -q restart-policy-invalid '$GPUGATE_REPORT'"
	unset GPUGATE_REPORT
}

if go_tool kustomize v5.8.1 sigs.k8s.io/kustomize/kustomize/v5; then
	kustomize_tests
fi
if [ "${HELM:-1}" = 1 ]; then
	chart
	printf '#!/bin/sh\nexec %s post-render --isolated\n' "$gpugate" >"$work/post-render"
	chmod +x "$work/post-render"
	if go_tool helm3 v3.19.0 helm.sh/helm/v3/cmd/helm; then
		helm_tests helm3 "$cache/helm3-v3.19.0" \
			"$gpugate --post-renderer-args post-render --post-renderer-args --isolated"
	fi
	if go_tool helm4 v4.0.0 helm.sh/helm/v4/cmd/helm; then
		export HELM_PLUGINS=$work/plugins
		mkdir -p "$HELM_PLUGINS/gpugate"
		cat >"$HELM_PLUGINS/gpugate/plugin.yaml" <<-END
		apiVersion: v1
		type: postrenderer/v1
		name: gpugate
		version: 1.0.0
		runtime: subprocess
		runtimeConfig:
		  platformCommand:
		  - command: $work/post-render
		END
		helm_tests helm4 "$cache/helm4-v4.0.0" gpugate
	fi
else
	echo 'skip: Helm is left out (HELM=0)'
fi
finish krm
