#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpugate cmp prints all manifests, or none. The programs that render are
# replaced by ones that record their calls.
bats_require_minimum_version 1.5.0
load helper

# tools NAME...: makes a PATH for cmp() with fakes of these programs, and a
# shell. A fake records its calls, prints the file `rendered`, and prints $SAYS
# and exits with $FAILS if they are set.
tools() {
	mkdir -p bin
	for name; do
		printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\nprintf "%%s" "${SAYS-}" >&2\ncat "%s/rendered" 2>/dev/null\nexit ${FAILS-0}\n' \
			"$name" "$PWD" "$PWD" >"bin/$name"
		chmod +x "bin/$name"
	done
	for name in sh cat echo; do
		ln -sf "$(command -v $name)" bin/ 2>/dev/null || :
	done
	good rendered
}

# cmp FOLDER ARGUMENTS: runs gpugate cmp in the folder.
cmp() {
	local folder=$1
	shift
	run --separate-stderr env PATH="$PWD/bin" \
		sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" "$GPUGATE" cmp "$@"
}

@test "cmp: plain files, including JSON, without settings files" {
	tools
	good app/a.yaml
	printf '{"apiVersion":"v1",\n\t"kind":"ConfigMap",\t"metadata":{"name":"j"}}' \
		>app/b.json
	printf 'replicas: 2\n' >app/values.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\n' >app/policy.yaml
	printf '# +argocd:skip-file-rendering\napiVersion: v1\nkind: Pod\n' \
		>app/skipped.yaml
	good app/deeper/c.yaml
	cmp app
	is "$status" 0
	is "$(printf '%s\n' "$output" | grep -c '^---$')" 1
	holds "$output" '"name":"j"'
	holds_not "$output" "$(printf '\t')"
	holds_not "$output" replicas
	holds_not "$output" gpugate.dev
	holds_not "$output" 'kind: Pod'
	# Only keys make a manifest, not the same words in a comment.
	printf '# apiVersion and kind\nreplicas: 3\n' >app/words.yaml
	cmp app
	holds_not "$output" replicas
	ARGOCD_APP_PARAMETERS='[{"name":"recurse","string":"true"}]' cmp app
	is "$(printf '%s\n' "$output" | grep -c '^---$')" 2
	good app/.hidden/d.yaml
	ARGOCD_ENV_RECURSE=true cmp app
	is "$(printf '%s\n' "$output" | grep -c '^---$')" 3
	ARGOCD_ENV_RECURSE=true ARGOCD_APP_PARAMETERS='[{"name":"recurse","string":"false"}]' \
		cmp app
	is "$(printf '%s\n' "$output" | grep -c '^---$')" 1
}

@test "cmp: with a finding, only the report is printed" {
	tools
	good app/a.yaml
	pod app/b.yaml
	cmp app
	is "$status" 1
	is "$output" ""
	holds "$stderr" "--> b.yaml:7:13"
	holds "$stderr" priority-integer-set
	GPUGATE_FAIL_ON=never cmp app
	is "$status" 0
	holds "$output" 'priority: 5'
}

@test "cmp: with an unreadable file, nothing is printed either" {
	tools
	good app/a.yaml
	printf 'kind: Pod\napiVersion: [\n' >app/b.yaml
	cmp app
	is "$status" 1
	is "$output" ""
	holds "$stderr" invalid-syntax
}

@test "cmp: an empty result is an error, because it would prune all objects" {
	tools
	mkdir app
	cmp app
	is "$status" 2
	is "$output" ""
	holds "$stderr" "would prune"
	tools helm
	: >rendered
	echo 'name: llm' >app/Chart.yaml
	cmp app
	is "$status" 2
	holds "$stderr" "would prune"
}

@test "cmp: builds a kustomization with kustomize, else with kubectl" {
	tools kubectl
	mkdir app
	: >app/kustomization.yml
	cmp app
	is "$status" 0
	is "$output" "$(cat rendered)"
	is "$(cat calls)" "kubectl kustomize $PWD/app"
	tools kubectl kustomize
	rm calls
	cmp app
	is "$(cat calls)" "kustomize build $PWD/app"
	rm bin/kubectl bin/kustomize
	cmp app
	is "$status" 2
	is "$output" ""
	holds "$stderr" "neither kustomize nor kubectl"
}

@test "cmp: builds a chart with the variables of Argo CD" {
	tools helm
	mkdir -p repo/app repo/env
	echo 'name: llm' >repo/app/Chart.yaml
	: >repo/app/v.yaml
	: >repo/env/prod.yaml
	export ARGOCD_APP_NAME=llm ARGOCD_APP_NAMESPACE=ml \
		ARGOCD_APP_SOURCE_PATH=app KUBE_VERSION=1.34.1 \
		KUBE_API_VERSIONS=v1,apps/v1
	cmp repo/app
	is "$status" 0
	is "$(cat calls)" "helm template --namespace ml --kube-version 1.34.1 --api-versions v1,apps/v1 --include-crds -- llm $PWD/repo/app"
	rm calls
	ARGOCD_APP_PARAMETERS='[{"name":"values-files","array":["v.yaml","/env/prod.yaml","../env/prod.yaml"]},
		{"name":"helm-parameters","map":{"a.b":"1,2","l":"{x,y}"}},
		{"name":"release-name","string":"other"}]' cmp repo/app
	is "$status" 0
	is "$(cat calls)" "helm template --namespace ml --kube-version 1.34.1 --api-versions v1,apps/v1 --values $PWD/repo/app/v.yaml --values $PWD/repo/env/prod.yaml --values $PWD/repo/env/prod.yaml --set a.b=1\\,2 --set l={x,y} --include-crds -- other $PWD/repo/app"
}

@test "cmp: builds a chart with variables of the Application" {
	tools helm
	mkdir app
	echo 'name: llm' >app/Chart.yaml
	: >app/a.yaml
	: >app/b.yaml
	ARGOCD_ENV_RELEASE_NAME=other ARGOCD_ENV_VALUES_FILES='a.yaml b.yaml' cmp app
	is "$status" 0
	is "$(cat calls)" "helm template --values $PWD/app/a.yaml --values $PWD/app/b.yaml --include-crds -- other $PWD/app"
	rm calls
	ARGOCD_ENV_VALUES_FILES=a.yaml \
		ARGOCD_APP_PARAMETERS='[{"name":"values-files","array":["b.yaml"]}]' cmp app
	is "$(cat calls)" "helm template --values $PWD/app/b.yaml --include-crds -- $PWD/app"
	ARGOCD_ENV_VALUES_FILES=../b.yaml ARGOCD_APP_SOURCE_PATH=. cmp app
	is "$status" 2
}

@test "cmp: shows only the error output of a renderer that fails" {
	tools helm
	mkdir app
	echo 'name: llm' >app/Chart.yaml
	FAILS=1 SAYS='# a warning
template: no such value' cmp app
	is "$status" 2
	is "$output" ""
	holds "$stderr" "template: no such value"
	: >app/Chart.yaml
	cmp app
	is "$status" 2
	holds "$stderr" "not rendered: Chart.yaml names no chart"
}

@test "cmp: rejects files outside the repository" {
	tools helm kustomize
	mkdir -p repo/app repo/base
	good outside.yaml
	: >repo/app/Chart.yaml
	export ARGOCD_APP_SOURCE_PATH=app
	for file in ../../outside.yaml /../outside.yaml https://example.com/v.yaml; do
		ARGOCD_APP_PARAMETERS='[{"name":"values-files","array":["'$file'"]}]' \
			cmp repo/app
		is "$status" 2
		is "$output" ""
	done
	holds "$stderr" "not a file of the repository"
	rm repo/app/Chart.yaml
	ln -s ../../outside.yaml repo/app/link.yaml
	cmp repo/app
	is "$status" 2
	is "$output" ""
	holds "$stderr" "outside of the repository"
	rm repo/app/link.yaml
	# The base's own base is outside of the repository.
	printf 'resources: [../base]\n' >repo/app/kustomization.yaml
	printf 'resources: [../../elsewhere]\n' >repo/base/kustomization.yaml
	cmp repo/app
	is "$status" 2
	holds "$stderr" "outside its repository"
	[ ! -e calls ]
	# So are a patch, the target of a link, and a file of a chart, because
	# helm follows links.
	printf 'patches: [{path: ../../outside.yaml}]\n' \
		>repo/base/kustomization.yaml
	cmp repo/app
	is "$status" 2
	holds "$stderr" "outside its repository"
	ln -s ../../outside.yaml repo/base/link.yaml
	printf 'resources: [link.yaml]\n' >repo/base/kustomization.yaml
	cmp repo/app
	is "$status" 2
	holds "$stderr" "outside its repository"
	rm repo/app/kustomization.yaml
	mkdir repo/app/templates
	ln -s ../../../outside.yaml repo/app/templates/a.yaml
	echo 'name: llm' >repo/app/Chart.yaml
	cmp repo/app
	is "$status" 2
	holds "$stderr" "outside its repository"
	[ ! -e calls ]
	rm -r repo/app/templates repo/app/Chart.yaml
	printf 'resources: [../base]\n' >repo/app/kustomization.yaml
	printf 'resources: [job.yaml, https://example.com/x]\n' \
		>repo/base/kustomization.yaml
	cmp repo/app
	is "$(cat calls)" "kustomize build $PWD/repo/app"
}

@test "cmp: unknown parameters" {
	tools
	good app/a.yaml
	ARGOCD_APP_PARAMETERS='[{"name":"value-files","array":[]}]' cmp app
	is "$status" 2
	holds "$stderr" "did you mean \`values-files\`?"
	ARGOCD_APP_PARAMETERS='[{"name":"values-files","string":"a"}]' cmp app
	is "$status" 2
	ARGOCD_APP_PARAMETERS='[{"name":"render","string":"jsonnet"}]' cmp app
	is "$status" 2
	holds "$stderr" "none of: auto plain kustomize helm"
	ARGOCD_APP_PARAMETERS='{' cmp app
	is "$status" 2
	is "$output" ""
	ARGOCD_APP_PARAMETERS=null cmp app
	is "$status" 0
}

@test "cmp: the operator's policy is a floor, the namespace is set by Argo CD" {
	tools
	pod app/b.yaml
	sed -i '/namespace:/d' app/b.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\n' >floor.yaml
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nrules: {priority-integer-set: {action: "off"}}\n' \
		>app/.gpugate.yaml
	cmp app
	is "$status" 0
	GPUGATE_POLICY=$PWD/floor.yaml cmp app
	is "$status" 1
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nexempt: [{namespaces: [lab], rules: [all], reason: x}]\n' \
		>floor.yaml
	rm app/.gpugate.yaml
	GPUGATE_POLICY=$PWD/floor.yaml ARGOCD_APP_NAMESPACE=lab cmp app
	is "$status" 0
	GPUGATE_POLICY=$PWD/floor.yaml ARGOCD_APP_NAMESPACE=prod cmp app
	is "$status" 1
}

@test "cmp: --discover prints the renderer, or nothing" {
	tools
	mkdir app
	cmp app --discover
	is "$status" 0
	is "$output" ""
	good app/a.yaml
	cmp app --discover
	is "$output" plain
	: >app/Chart.yaml
	cmp app --discover
	is "$output" helm
	: >app/Kustomization
	cmp app --discover
	is "$output" kustomize
}
