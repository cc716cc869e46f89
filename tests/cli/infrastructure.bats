# SPDX-License-Identifier: Apache-2.0
# Pods of infrastructure, such as device plugins, may use all devices of a node
# if the policy names their namespace, and never because of a name or a mount
# that a tenant chooses.

bats_require_minimum_version 1.5.0
load helper

full() {
	run --separate-stderr "$GPUGATE" lint --format full "$@"
}

# daemon NAMESPACE-FIELD: writes a DaemonSet that sees all GPUs
daemon() {
	cat >daemon.yaml <<-END
	apiVersion: apps/v1
	kind: DaemonSet
	metadata: {name: plugin$1}
	spec:
	  selector: {matchLabels: {a: b}}
	  template:
	    metadata: {labels: {a: b}}
	    spec:
	      runtimeClassName: nvidia
	      containers:
	      - name: a
	        image: nvcr.io/nvidia/k8s-device-plugin:v0.17.1
	        env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
	END
}

@test "a DaemonSet in a tenant's namespace is checked, with help" {
	daemon ", namespace: research"
	full --isolated daemon.yaml
	is "$status" 1
	holds "$output" "nvidia-visible-devices-override"
	holds "$output" 'list its namespace under `infrastructure` in the policy'
	holds_not "$output" "infrastructure namespace"
}

@test "pods in the policy's namespaces are skipped and counted" {
	daemon ", namespace: research"
	cat >.gpugate.yaml <<-END
	apiVersion: gpugate.dev/v1
	kind: Policy
	infrastructure: {namespaces: [research]}
	END
	full daemon.yaml
	is "$status" 0
	holds "$output" "1 pod in an infrastructure namespace"
	daemon ", namespace: kube-system"
	full daemon.yaml
	is "$status" 1
}

@test "a mount of the kubelet's plugin folder does not bypass the plugin" {
	cat >plugin.yaml <<-END
	apiVersion: apps/v1
	kind: DaemonSet
	metadata: {name: plugin, namespace: research}
	spec:
	  selector: {matchLabels: {a: b}}
	  template:
	    metadata: {labels: {a: b}}
	    spec:
	      containers:
	      - name: a
	        image: registry.example.com/plugin:1
	        volumeMounts: [{name: plugins, mountPath: /plugins}]
	      volumes:
	      - {name: plugins, hostPath: {path: /var/lib/kubelet/device-plugins}}
	END
	full --isolated --select nvidia-device-mount-bypass plugin.yaml
	is "$status" 1
	holds "$output" "as device plugins do, the container may define devices"
	holds_not "$output" "bypassing"
}

@test "explain names the rules that compare the value of an UPDATE" {
	run "$GPUGATE" explain gpu-privileged
	holds "$output" "flags devices that no quota counts"
	run "$GPUGATE" explain shm-missing
	holds_not "$output" "flags devices that no quota counts"
}

@test "in an unknown namespace, pods that look like infrastructure are counted" {
	daemon ""
	full --isolated daemon.yaml
	is "$status" 0
	holds "$output" "1 pod that may be infrastructure (its namespace is unknown)"
	full --isolated --namespace research daemon.yaml
	is "$status" 1
	full --isolated --format json:out.json daemon.yaml
	holds "$(cat out.json)" '"infrastructureUnknown":1'
}

@test "devices that a pod may take are an error under strict" {
	cat >pod.yaml <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: a, namespace: research}
	spec:
	  containers:
	  - name: a
	    image: registry.example.com/a:1
	    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
	END
	full --isolated --select nvidia-visible-devices-override pod.yaml
	is "$status" 0
	holds "$output" "warning"
	full --isolated --preset strict --select nvidia-visible-devices-override pod.yaml
	is "$status" 1
	holds "$output" "if the nvidia container runtime starts it"
	cat >.gpugate.yaml <<-END
	apiVersion: gpugate.dev/v1
	kind: Policy
	extends: [strict]
	platform: {deviceInjection: cdi}
	END
	full pod.yaml
	is "$status" 0
}
