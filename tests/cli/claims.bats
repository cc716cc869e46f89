# SPDX-License-Identifier: Apache-2.0
# Claims of dynamic resource allocation in another file than the pod.
bats_require_minimum_version 1.5.0
load helper

# template FILE REQUEST: writes a ResourceClaimTemplate with this request.
template() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<-END
		apiVersion: resource.k8s.io/v1
		kind: ResourceClaimTemplate
		metadata: {name: device, namespace: ml}
		spec: {spec: {devices: {requests: [{name: $2, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
	END
}

# claiming_pod FILE: writes a Pod whose line 9 names the request `gpu`.
claiming_pod() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: a, namespace: ml}
		spec:
		  resourceClaims: [{name: c, resourceClaimTemplateName: device}]
		  containers:
		  - name: a
		    image: a:1
		    resources: {claims: [{name: c, request: gpu}]}
	END
}

unknown_requests() {
	run "$GPUGATE" lint --isolated --format concise \
		--select dra-container-request-unknown .
}

@test "a claim template in another file of the folder" {
	claiming_pod pod.yaml
	template template.yaml gpus
	unknown_requests
	is "$status" 1
	holds "$output" "pod.yaml:9:"
	holds "$output" 'has no request `gpu`'
	template template.yaml gpu
	unknown_requests
	is "$status" 0
}

@test "a claim template of another folder, or one of two, is not used" {
	claiming_pod a/pod.yaml
	template b/template.yaml gpus
	unknown_requests
	is "$status" 0
	template a/one.yaml gpus
	template a/two.yaml other
	unknown_requests
	is "$status" 0
}

@test "the template in the file of the pod has precedence" {
	template one.yaml gpu
	claiming_pod pod.yaml
	{ echo ---; cat pod.yaml; } >>one.yaml
	rm pod.yaml
	template two.yaml gpus
	unknown_requests
	is "$status" 0
}
