#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Infos about the cluster are reported once a run, with their number and the
# first places, except where each finding is requested.
bats_require_minimum_version 1.5.0
load helper

# Writes three Pods in two files that have the same infos.
pods() {
	asking_pod 2 >b.yaml
	{
		asking_pod 2 | sed 's/name: a,/name: b,/'
		echo ---
		asking_pod 2 | sed 's/name: a,/name: c,/'
	} >a.yaml
}

# places RULE: prints the places of its findings in the concise report.
places() {
	echo "$output" | grep -F "[$1]" | cut -d: -f1,2 | tr '\n' ' '
}

@test "concise has one line, which counts the others" {
	pods
	lint --isolated .
	is "$(places gpu-node-selector-missing)" 'a.yaml:4 '
	holds "$output" '(2 more: --show-all) [gpu-node-selector-missing]'
	for rule in gpu-pod-besteffort gpu-toleration-missing \
		priority-class-missing; do
		is "$(places $rule | wc -w)" 1
	done
	# An info about the manifest is shown at each place.
	is "$(places bare-gpu-pod | wc -w)" 3
	run --separate-stderr "$GPUGATE" lint --isolated --format concise \
		--statistics .
	holds "$output" '3  info      gpu-node-selector-missing'
}

@test "json, sarif and github count the others and name places" {
	pods
	run --separate-stderr "$GPUGATE" lint --isolated --format json .
	is "$(jq -c '.findings[] | select(.rule == "gpu-pod-besteffort") |
		[.file, .more, [.related[] | .file, .line]]' <<<"$output")" \
		'["a.yaml",2,["a.yaml",12,"b.yaml",5]]'
	is "$(jq .summary.infos <<<"$output")" \
		"$("$GPUGATE" lint --isolated --show-all --format json . |
			jq '[.findings[] | select(.severity == "info")] | length')"
	run --separate-stderr "$GPUGATE" lint --isolated --format sarif .
	is "$(jq -c '[.runs[0].results[] | .occurrenceCount | values] | unique' \
		<<<"$output")" '[3]'
	run --separate-stderr "$GPUGATE" lint --isolated --format github .
	is "$(grep -c 'title=gpugate gpu-node-selector-missing' <<<"$output")" 1
}

@test "each info is reported if it is selected, counts, or is per namespace" {
	pods
	for words in --show-all '--fail-on info' \
		'--select gpu-node-selector-missing' \
		'--extend-select gpu-node-selector-missing'; do
		lint --isolated $words .
		is "$words $(places gpu-node-selector-missing | wc -w)" "$words 3"
	done
	run --separate-stderr "$GPUGATE" lint --isolated --format openreports .
	# Each of 3 results names the rule as its policy and as its rule.
	is "$(grep -o '"gpu-node-selector-missing"' <<<"$output" | wc -l)" 6
	holds_not "$output" 'more: --show-all'
}

@test "a warning and a suppressed info are not folded" {
	pods
	printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' \
		'platform: {gpuTaints: ["nvidia.com/gpu"]}' >.gpugate.yaml
	lint .
	is "$(places gpu-toleration-missing | wc -w)" 3
	rm .gpugate.yaml
	sed -i '1i # gpugate: ignore-file[gpu-node-selector-missing] -- any' a.yaml
	lint --isolated .
	is "$(places gpu-node-selector-missing)" 'b.yaml:4 '
	holds_not "$output" '(2 more: --show-all) [gpu-node-selector-missing]'
	"$GPUGATE" lint --isolated --write-baseline base.json .
	lint --isolated --baseline base.json .
	is "$output" ''
}
