# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Shared by the checks of the Argo CD recipes: source this file after lib.bash.
#
#   argocd_server        sets argocd to tests/check/argocd, built into the cache
#                        (4 minutes of CPU, once), or skips with a message and returns 1
#   argocd_job GPUS      prints a manifest
# shellcheck source=tests/check/go-tools.bash
. "$tests/check/go-tools.bash"

argocd_version=v3.1.9

# build_argocd OUT: builds main.go of the current folder, which must hold nothing
# else, as the program OUT. Go ignores the `replace` lines of a dependency, so
# this copies the lines of Argo CD's go.mod.
build_argocd() {
	local module=github.com/argoproj/argo-cd/v3@$argocd_version
	go mod init build
	sed -n '/^replace ($/,/^)$/p' "$(go mod download -json "$module" |
		sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')" >>go.mod
	go get "$module" && go build -mod=mod -p 2 -o "$1.$$" . && mv "$1.$$" "$1"
}

argocd_server() {
	local dir main=$tests/check/argocd/main.go rc=0
	argocd=$(go_tools_cache)/argocd-$argocd_version-$(sha256sum "$main" |
		cut -c1-8)
	mkdir -p "${argocd%/*}"
	dir=$(mktemp -d)
	cp "$main" "$dir/"
	(
		flock 9 # two checks may build it at the same time
		[ -x "$argocd" ] || { cd "$dir" && build_argocd "$argocd" 9>&-; }
	) 9>"${argocd%/*}/argocd.lock" >"$dir/log" 2>&1 || {
		tail -n 3 "$dir/log"
		skip "Argo CD $argocd_version does not build here"
		rc=1
	}
	rm -rf "$dir"
	return $rc
}

argocd_job() {
	cat <<-END
		apiVersion: batch/v1
		kind: Job
		metadata: {name: train}
		spec:
		  backoffLimit: 1
		  template:
		    spec:
		      restartPolicy: Never
		      containers:
		      - name: c
		        image: registry.example.com/train:1
		        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: "$1"}}
	END
}
