#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests deploy/flux/README.md: runs its shell commands with a flux that
# records its arguments, and sends the requests of kustomize-controller
# (server-side apply as a dry run) to a real API server with the webhook.
# usage: flux.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need_program kubectl
readme=$root/deploy/flux/README.md
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

job() { # [LINE]: prints a Job; LINE is a field of its pod
	cat <<-END
		apiVersion: batch/v1
		kind: Job
		metadata: {name: train, namespace: ml}
		spec:
		  backoffLimit: 1
		  template:
		    spec:
		      restartPolicy: Never
		      $*
		      containers:
		      - name: c
		        image: registry.example.com/train:1
		        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 2}}
	END
}

# --- before the push ---------------------------------------------------------

# script N: prints the N-th script of the README.
script() {
	awk -v n="$1" '/^```$/ { on = 0 } on { print } /^```sh$/ { on = ++i == n }' \
		"$readme"
}
mkdir -p "$work/bin" "$work/repo/apps/llm" "$work/repo/clusters/prod"
cat >"$work/bin/flux" <<'END'
#!/bin/sh
echo "$*" >>"$FLUX_LOG"
[ "$1" != build ] || cat apps/llm/job.yaml
END
chmod +x "$work/bin/flux"
export FLUX_LOG=$work/flux.log PATH=$work/bin:$build:$PATH
cd "$work/repo" || exit 1
git init -q -b main .
git remote add origin https://git.example.com/apps.git
echo 'resources: [job.yaml]' >apps/llm/kustomization.yaml
job >apps/llm/job.yaml
git add . && git -c user.name=a -c user.email=a@b commit -q -m a

pushes() { # SCRIPT
	: >"$FLUX_LOG"
	script "$1" >"$work/script"
	[ -s "$work/script" ] || return 2
	sh "$work/script" >"$work/log" 2>&1
}
check 'the README has both scripts' test "$(grep -c '^```sh$' "$readme")" = 2
check 'manifests without findings are pushed' pushes 1
check 'flux gets its arguments' grep -qxF -- "push artifact oci://registry.example.com/apps/llm:$(git rev-parse --short HEAD) --path=llm.yaml --source=https://git.example.com/apps.git --revision=main@sha1:$(git rev-parse HEAD)" "$FLUX_LOG"
check 'the output of a build is linted' pushes 2
job 'priorityClassName: system-node-critical' >apps/llm/job.yaml
check 'a finding ends the script' eval '! pushes 1'
check 'after a finding, nothing is pushed' test ! -s "$FLUX_LOG"
check 'the finding is shown' grep -q priority-class-system-reserved "$work/log"
check 'a finding in the output of a build ends the script' eval '! pushes 2'
cd "$root" || exit 1

# --- the webhook ---------------------------------------------------------------

need_control_plane
port=$(control_plane_free_port)
probe=$(control_plane_free_port)
"$gpugated" certs --dir "$work/certs" --dns localhost --ip 127.0.0.1 >/dev/null
"$gpugated" --listen "127.0.0.1:$port" --probe-listen "127.0.0.1:$probe" \
	--tls-cert "$work/certs/tls.crt" --tls-key "$work/certs/tls.key" \
	--log-format json >"$work/gpugated.log" 2>&1 &
gpugated_id=$!
stop() {
	kill "$gpugated_id"
	control_plane_stop
}
at_exit=stop
kube create namespace ml >/dev/null
kube create -f - >/dev/null <<END
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: gpugate}
webhooks:
- name: validate.gpugate.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 5
  clientConfig:
    url: https://127.0.0.1:$port/validate
    caBundle: $(base64 -w0 "$work/certs/ca.crt")
  rules:
  - {apiGroups: [batch], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [jobs]}
END

# asks STATUS LINE [OPTION]: sends the requests of kustomize-controller.
asks() {
	local status=0
	job "$2" | kube apply --server-side --field-manager=kustomize-controller \
		--force-conflicts ${3+"$3"} -f - >"$work/log" 2>&1 || status=$?
	[ "$status" = "$1" ]
}
# Waits until the API server uses the webhook.
control_plane_until 30 asks 1 'priorityClassName: system-node-critical' --dry-run=server
check 'a dry run is denied' asks 1 'priorityClassName: system-node-critical' --dry-run=server
check 'with the message in the README' grep -q \
	'admission webhook "validate.gpugate.dev" denied the request: priority-class-system-reserved: ' \
	"$work/log"
check 'the Job does not exist' eval '! kube get job train -n ml >/dev/null 2>&1'
check 'the log marks a dry run' grep -q '"dryRun":true' "$work/gpugated.log"
check 'the corrected Job passes' asks 0 '' --dry-run=server
check 'the corrected Job is applied' asks 0 ''
check 'the same Job passes again at each interval' asks 0 '' --dry-run=server
finish flux
