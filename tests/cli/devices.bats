#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Messages about devices that depend on a name or on privileges.

load helper

# Prints the messages of the findings of the file, a line each.
messages() { # FILE
	"$GPUGATE" lint --isolated --show-all --format json --fail-on never "$1" |
		sed -n 's/^{"rule"[^[]*"message":"\([^"]*\)".*/\1/p'
}

help_of() { # FILE
	"$GPUGATE" lint --isolated --show-all --format json --fail-on never "$1" |
		sed -n 's/^{"rule"[^[]*"help":"\([^"]*\)".*/\1/p'
}

@test "a GPU under the name that a large site uses is a requested one" {
	cat >"$BATS_TEST_TMPDIR/site.yaml" <<-'EOF'
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  containers:
		  - name: a
		    image: registry.example.com/a:1
		    securityContext: {privileged: true}
		    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
		    resources: {limits: {nvidia.com/rtxa6000: 1}}
	EOF
	run messages "$BATS_TEST_TMPDIR/site.yaml"
	[[ $output == *"overrides the allocation of container"* ]]
	[[ $output != *"unrequested"* && $output != *"requests none"* ]]
}

# Writes a Pod that mounts a folder of device nodes.
mount_devices() { # SECURITY_CONTEXT
	cat >"$BATS_TEST_TMPDIR/dri.yaml" <<-EOF
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  containers:
		  - name: a
		    image: registry.example.com/a:1
		    securityContext: $1
		    volumeMounts: [{name: dri, mountPath: /dev/dri}]
		  volumes: [{name: dri, hostPath: {path: /dev/dri}}]
	EOF
}

@test "a container without privileges cannot open mounted devices" {
	mount_devices '{}'
	run help_of "$BATS_TEST_TMPDIR/dri.yaml"
	[[ $output == *"A container that is not privileged cannot open mounted devices."* ]]
	mount_devices '{privileged: true}'
	run help_of "$BATS_TEST_TMPDIR/dri.yaml"
	[[ $output != *"not privileged"* ]]
}
