#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the overlays as deploy/README.md does: `kubectl apply -k` on a real
# API server, then runs gpugated with exactly the arguments, environment and
# mounts that the server has stored. Nothing is patched: the API server finds
# the webhook through its Service, in a separate network.
# usage: kustomize.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
if [ -z "${KUSTOMIZE_INSIDE-}" ]; then
	# Programs are fetched outside of the namespaces.
	bin=$(tests/control-plane/build.sh etcd kube-apiserver kubectl)
	case $? in
	0) ;;
	77) skip_all 'no control plane (Go)' ;;
	*) exit 1 ;;
	esac
	need_program ip
	unshare -mn true 2>/dev/null || skip_all 'no namespaces of our own'
	need_pyyaml
	rm -rf "$work"
	KUBEBUILDER_ASSETS=$bin KUSTOMIZE_INSIDE=$python \
		exec unshare -mn bash "$0" "$build"
fi
python=$KUSTOMIZE_INSIDE
address=10.254.7.1 # endpoints may not be on loopback
ip link set lo up && ip addr add $address/32 dev lo || exit 1
need_control_plane --enable-aggregator-routing=true
# The pod's file system: two mounts on paths that are private to this process
# and its children.
mkdir -p "$work/etc" "$work/run"
cp -a /etc/. "$work/etc/" 2>/dev/null
mkdir -p "$work/etc/gpugate" \
	"$work/run/secrets/kubernetes.io/serviceaccount"
mount --bind "$work/etc" /etc && mount --bind "$work/run" /run || exit 1

deployment() { # prints the stored container as shell words
	kube get deployment gpugate -n gpugate-system -o json |
		"$python" -c '
import json, shlex, sys
pod = json.load(sys.stdin)["spec"]["template"]["spec"]
assert pod["automountServiceAccountToken"] and \
    pod["serviceAccountName"] == "gpugate"
mounts = {m["mountPath"] for m in pod["containers"][0]["volumeMounts"]}
assert mounts == {"/etc/gpugate"}, mounts
env = {}
for e in pod["containers"][0]["env"]:
    env[e["name"]] = e["value"] if "value" in e else "gpugate-system"
words = pod["containers"][0]["args"]
for name, value in env.items():
    words = [w.replace("$(%s)" % name, value) for w in words]
print("env", *(shlex.quote(n + "=" + v) for n, v in env.items()),
      sys.argv[1], *map(shlex.quote, words))' "$gpugated"
}

mounted() {
	local secrets=/run/secrets/kubernetes.io/serviceaccount
	kube get configmap gpugate-policy -n gpugate-system \
		-o 'jsonpath={.data.policy\.yaml}' >/etc/gpugate/policy.yaml &&
		kube create token gpugate -n gpugate-system \
			>$secrets/token &&
		cp "$CONTROL_PLANE_DIR/ca.crt" $secrets/ca.crt &&
		echo gpugate-system >$secrets/namespace
}

# Creates the objects that a cluster's controllers create for a ready pod.
endpoints() {
	kube apply -f - <<-END
		apiVersion: discovery.k8s.io/v1
		kind: EndpointSlice
		metadata:
		  name: gpugate-1
		  namespace: gpugate-system
		  labels: {kubernetes.io/service-name: gpugate}
		addressType: IPv4
		ports: [{name: webhook, port: 8443, protocol: TCP}]
		endpoints:
		- addresses: [$address]
		  conditions: {ready: true}
	END
}

ready() {
	curl -sf "http://127.0.0.1:8080/readyz" >/dev/null
}

bundles() { # succeeds if each webhook has a caBundle
	kube get validatingwebhookconfiguration,mutatingwebhookconfiguration \
		-o json | "$python" -c '
import json, sys
hooks = [h for c in json.load(sys.stdin)["items"] for h in c["webhooks"]]
assert hooks and all(h["clientConfig"].get("caBundle") for h in hooks)'
}

pod() { # NAME: prints a Pod with a mounted GPU, which only the webhook rejects
	cat <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: $1, namespace: ml}
		spec:
		  containers:
		  - name: c
		    image: registry.example.com/train:1
		    resources: {limits: {cpu: 8, memory: 64Gi}}
		    volumeMounts: [{name: gpu, mountPath: /dev/nvidia0}]
		  volumes: [{name: gpu, hostPath: {path: /dev/nvidia0}}]
	END
}

judged() { # succeeds if the webhook answered a review
	pod seen | kube create --dry-run=server -f - >/dev/null 2>&1
	curl -s http://127.0.0.1:8080/metrics |
		grep -q '^gpugate_admission_requests_total{.*webhook="validate"'
}

denied() {
	! pod denied | kube create --dry-run=server -f - >"$work/said" 2>&1 &&
		cat "$work/said" &&
		grep -q 'denied the request' "$work/said"
}

admitted() {
	pod admitted | kube create --dry-run=server -f -
}

live() {
	curl -s http://127.0.0.1:8080/metrics |
		grep -q '^gpugate_cluster_state_age_seconds [0-9]'
}

overlay() { # NAME
	check "$1: applies" kube apply -k "deploy/overlays/$1"
	kube create namespace ml >/dev/null 2>&1
	kube create serviceaccount default -n ml >/dev/null 2>&1
	endpoints >/dev/null
	check "$1: its mounts" mounted
	deployment >"$work/words" || {
		say_fail "$1: the stored Deployment"
		return
	}
	KUBERNETES_SERVICE_HOST=127.0.0.1 \
		KUBERNETES_SERVICE_PORT=$(cat "$CONTROL_PLANE_DIR/port") \
		sh -c "exec $(cat "$work/words")" >"$work/log" 2>&1 &
	server=$!
	disown
	check "$1: ready" control_plane_until 30 ready
	check "$1: caBundle in each webhook" control_plane_until 20 bundles
	check "$1: asked through the Service" control_plane_until 20 judged
	check "$1: reads the cluster" control_plane_until 20 live
}

again() { # NAME
	check "$1: applies again" kube apply -k "deploy/overlays/$1"
	check "$1: caBundle outlives it" bundles
	check "$1: the certificate outlives it" test -n "$(kube get secret \
		gpugate-tls -n gpugate-system -o 'jsonpath={.data.tls\.key}')"
}

overlay audit
check 'audit: denies nothing' admitted
again audit
# Skips the drain, which waits for clients.
kill -KILL "$server"
control_plane_until 5 eval '! kill -0 "$server" 2>/dev/null'
overlay enforce
check 'enforce: denies' denied
kill -KILL "$server"
finish kustomize
