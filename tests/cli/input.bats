# SPDX-License-Identifier: Apache-2.0
# Inputs that are broken, hostile, or not manifests.
bats_require_minimum_version 1.5.0
load helper

@test "standard input, and its name" {
	pod a.yaml
	run "$GPUGATE" lint --format concise - <a.yaml
	is "$status" 1
	holds "$output" "-:7:13: error"
	run "$GPUGATE" lint --format concise --stdin-filename jobs/x.yaml - <a.yaml
	holds "$output" "jobs/x.yaml:7:13: error"
	mkdir jobs
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrules: {priority-integer-set: {severity: info}}\n' >jobs/.gpugate.yaml
	run "$GPUGATE" lint --format concise --stdin-filename jobs/x.yaml - <a.yaml
	holds "$output" "jobs/x.yaml:7:13: info"
	run "$GPUGATE" lint --format full - <a.yaml
	holds "$output" "priority: 5"
}

@test "a pipe is read if it is named" {
	pod a.yaml
	run bash -c '"$0" lint --format concise <(cat a.yaml)' "$GPUGATE"
	is "$status" 1
	holds "$output" ":7:13: error"
}

@test "a file that cannot be read" {
	pod a.yaml
	lint a.yaml /proc/self/mem
	is "$status" 2
	holds "$stderr" "gpugate: /proc/self/mem: Input/output error"
	is "$(paths)" "a.yaml"
}

@test "a file that may not be read" {
	pod a.yaml
	pod b.yaml
	give_away b.yaml 0
	lint_unprivileged .
	is "$status" 2
	holds "$stderr" "b.yaml: Permission denied"
	is "$(paths)" "a.yaml"
}

@test "links: a loop, a folder, nothing, a file" {
	pod d/a.yaml
	ln -s . d/loop
	ln -s ../d d/again
	ln -s nothing d/broken.yaml
	pod elsewhere.yaml
	ln -s ../elsewhere.yaml d/link.yaml
	lint d
	is "$status" 1
	is "$(paths)" "d/a.yaml d/link.yaml"
	run "$GPUGATE" lint --format json d
	holds "$output" '{"file":"d/broken.yaml","reason":"broken symbolic link"}'
	ln -s self self
	lint self
	is "$status" 2
	holds "$stderr" "self: Too many levels of symbolic links"
	ln -s d named
	lint named
	is "$(paths)" "named/a.yaml named/link.yaml"
	lint d named
	is "$(paths)" "d/a.yaml d/link.yaml"
}

@test "pipes, sockets and devices in walked folders are skipped" {
	pod d/a.yaml
	mkfifo d/b.yaml
	ln -s /dev/zero d/c.yaml
	run timeout 120 "$GPUGATE" lint --format concise d
	is "$status" 1
	is "$(paths)" "d/a.yaml"
}

@test "a pipe or a folder in place of a settings file" {
	pod s/a.yaml
	mkfifo s/kustomization.yaml
	run --separate-stderr timeout 120 "$GPUGATE" lint --format concise s
	is "$status" 1
	is "$stderr" ""
	run timeout 120 "$GPUGATE" lint --format concise s/a.yaml
	is "$status" 1
	mkfifo .gpugate.yaml
	run --separate-stderr timeout 120 "$GPUGATE" lint --format concise s
	is "$status" 2
	is "$stderr" ".gpugate.yaml: error: cannot read: not a regular file"
	rm .gpugate.yaml
	mkdir .gpugate.yaml
	run --separate-stderr "$GPUGATE" lint --format concise s
	is "$status" 2
	holds "$stderr" ".gpugate.yaml: error: cannot read: Is a directory"
}

@test "binary bytes and NUL are invalid-syntax" {
	head -c 3000 /bin/sh >a.yaml
	lint a.yaml
	is "$status" 1
	holds "$output" "[invalid-syntax]"
	printf 'apiVersion: v1\nkind: P\000od\n' >b.yaml
	lint b.yaml
	is "$status" 1
	holds "$output" "b.yaml:2:8: error"
}

@test "bytes that are not UTF-8" {
	printf 'apiVersion: v1\nkind: P\377od\n' >a.yaml
	lint a.yaml
	is "$status" 1
	holds "$output" "a.yaml:2:8: error"
	holds "$output" "[invalid-syntax]"
}

@test "an incomplete document; the documents before it are linted" {
	pod a.yaml
	printf -- '---\napiVersion: v1\nkind: Pod\nmetadata: {name: x\n' >>a.yaml
	lint a.yaml
	is "$status" 1
	holds "$output" "[priority-integer-set]"
	holds "$output" "[invalid-syntax]"
}

@test "an unknown anchor" {
	printf 'a: *nothing\n' >a.yaml
	lint a.yaml
	is "$status" 1
	holds "$output" "a.yaml:1:4: error"
	holds "$output" "[invalid-syntax]"
}

@test "an alias bomb is rejected with little time and memory" {
	{
		echo 'a0: &a0 [x, x, x, x, x, x, x, x, x]'
		for i in $(seq 12); do
			p=$((i - 1))
			echo "a$i: &a$i [*a$p, *a$p, *a$p, *a$p, *a$p, *a$p, *a$p, *a$p]"
		done
	} >a.yaml
	# Sanitizers reserve more address space than this limit.
	ldd "$GPUGATE" 2>/dev/null | grep -q san || ulimit -v 1000000
	run timeout 120 "$GPUGATE" lint --format concise -j 1 a.yaml
	is "$status" 1
	holds "$output" "[invalid-syntax]"
}

@test "deep nesting is rejected" {
	{
		printf 'a: '
		head -c 100000 /dev/zero | tr '\0' '['
	} >a.yaml
	run timeout 120 "$GPUGATE" lint --format concise a.yaml
	is "$status" 1
	holds "$output" "[invalid-syntax]"
	{
		printf '{"a":'
		head -c 100000 /dev/zero | tr '\0' '['
	} >b.json
	run timeout 120 "$GPUGATE" lint --format concise b.json
	is "$status" 1
	holds "$output" "[invalid-syntax]"
}

@test "200 MB: above the limit, exit 2, the other files are linted" {
	pod a.yaml
	truncate -s 200M b.yaml
	lint a.yaml b.yaml
	is "$status" 2
	holds "$stderr" "b.yaml: larger than 64 MiB"
	is "$(paths)" "a.yaml"
}

@test "values of a wrong type cause no failure" {
	cat >a.yaml <<-EOF
	apiVersion: v1
	kind: Pod
	metadata: {name: a, namespace: b}
	spec: {containers: nonsense}
	---
	apiVersion: apps/v1
	kind: Deployment
	metadata: [a]
	spec: {replicas: -5, template: 7}
	---
	apiVersion: v1
	kind: Pod
	metadata: {name: q, namespace: b}
	spec:
	  containers:
	  - {name: c, image: i, resources: {limits: {nvidia.com/gpu: 1Zi}}}
	---
	just text
	---
	- a list
	--- {}
	EOF
	lint a.yaml
	[ "$status" -le 1 ]
	is "$stderr" ""
}

@test "an empty file, comments only, an empty folder" {
	: >a.yaml
	echo '# nothing' >b.yaml
	mkdir d
	lint .
	is "$status" 0
	run "$GPUGATE" lint d
	is "$status" 0
	[ -n "$output" ]
}

@test "templates are skipped and counted; --strict-input" {
	cat >a.yaml <<-'EOF'
	{{- if .Values.gpu }}
	apiVersion: v1
	kind: Pod
	metadata: {name: {{ .Release.Name }}}
	{{- end }}
	EOF
	printf 'a: {{ b }\n' >c.yaml
	lint a.yaml c.yaml
	is "$status" 0
	is "$output" ""
	run "$GPUGATE" lint --format json a.yaml
	holds "$output" "template"
	lint --strict-input a.yaml
	is "$status" 2
	holds "$stderr" "a.yaml: skipped: template"
}

@test "a placeholder in valid YAML does not make a template" {
	pod a.yaml
	sed -i 's/registry.*/"{{inputs.parameters.image}}"/' a.yaml
	lint a.yaml
	is "$status" 1
	is "$(paths)" "a.yaml"
}

# deep NAME N: writes a Workflow whose N templates have a manifest of brackets
deep() {
	local open text='' i
	open=$(printf '[%.0s' {1..300})
	for ((i = 0; i < 22; i++)); do
		text+="$open${open//[/]}, "
	done
	printf 'apiVersion: argoproj.io/v1alpha1\nkind: Workflow\n'
	printf 'metadata: {name: %s}\nspec:\n  templates:\n' "$1"
	for ((i = 0; i < $2; i++)); do
		printf '  - {name: t%d, resource: {action: create, manifest: "spec: [%s]"}}\n' \
			"$i" "$text"
	done
}

@test "all strings of an object share one budget" {
	deep many 10 >a.yaml
	deep few 1 >b.yaml
	run "$GPUGATE" lint --format concise a.yaml b.yaml
	is "$status" 1
	holds "$output" "a.yaml:1:1: error: the objects, documents, scripts and selectors inside this object are too"
	[[ $output != *b.yaml* ]]
}

@test "a file that takes too long to check reports the place where checking stopped" {
	pod a.yaml
	for ((i = 0; i < 1600; i++)); do
		printf '  - {name: c%d, image: nvidia/cuda}\n' "$i"
	done >>a.yaml
	run "$GPUGATE" lint --format concise a.yaml
	is "$status" 1
	holds "$output" "too long to check: admission denies it [invalid-syntax]"
	[[ $output != *priority-integer-set* ]]
	{
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n'
		yes '  k: v' | head -n 10003
	} >b.yaml
	run "$GPUGATE" lint --format concise b.yaml
	is "$status" 1
	is "$(grep -c 'duplicate-key' <<<"$output")" 10000
	holds "$output" "b.yaml:10006:3: error: this file has 10000 findings"
}

@test "a baseline is not written if a file cannot be read" {
	pod a.yaml
	echo old >base.json
	lint --write-baseline base.json a.yaml /proc/self/mem
	is "$status" 2
	holds "$stderr" "base.json: not written: not all files could be linted"
	is "$(cat base.json)" old
}

@test "a DeviceClass in another file names a resource" {
	mkdir a b
	cat >a/pod.yaml <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: a, namespace: ml}
	spec:
	  containers:
	  - {name: a, image: "registry.example.com/a:1", resources: {limits: {nvidia.com/mig-large: 1}}}
	END
	cat >b/class.yaml <<-END
	apiVersion: resource.k8s.io/v1
	kind: DeviceClass
	metadata: {name: small}
	spec: {extendedResourceName: nvidia.com/mig-large}
	END
	lint a
	is "$status" 1
	holds "$output" "mig-profile-invalid"
	lint a b
	is "$status" 0
	holds_not "$output" "mig-profile-invalid"
	run --separate-stderr "$GPUGATE" lint a - <b/class.yaml
	is "$status" 0
	run --separate-stderr "$GPUGATE" lint b - <a/pod.yaml
	is "$status" 0
	python3 -c 'import sys
text = open("b/class.yaml").read()
open("b/class.yaml", "wb").write(text.encode("utf-16"))'
	lint a b
	is "$status" 0
}
