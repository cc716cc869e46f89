# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Programs in Go that tests use as real consumers, built from their modules
# into a cache (minutes, once): source this file.
#
#   go_tools_cache                       prints the folder
#   go_tool NAME VERSION PACKAGE         builds FOLDER/NAME-VERSION, or skips
#                                        aloud and returns 1
#   argocd_server                        sets argocd to tests/check/argocd, built
#                                        (4 minutes of CPU, once), or the same

go_tools_cache() {
	echo "${GPUGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpugate-tests}"
}

go_tool() {
	local out dir rc=0
	out=$(go_tools_cache)/$1-$2
	[ -x "$out" ] && return 0
	command -v go >/dev/null || {
		echo "skip: $1 $2 is not here and go is not on PATH"
		return 1
	}
	mkdir -p "${out%/*}"
	dir=$(mktemp -d)
	(
		cd "$dir" && go mod init build >/dev/null 2>&1 &&
			go get "$3@$2" >/dev/null 2>&1 &&
			go build -o "$out.$$" "$3" >/dev/null 2>&1 &&
			mv "$out.$$" "$out"
	) || {
		echo "skip: $1 $2 does not build here"
		rc=1
	}
	rm -rf "$dir"
	return $rc
}

argocd_version=v3.1.9

# build_argocd OUT: in an empty folder. The replacements of a dependency's go.mod
# are not taken over.
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
		flock 9 # two checks want it
		[ -x "$argocd" ] || { cd "$dir" && build_argocd "$argocd" 9>&-; }
	) 9>"${argocd%/*}/argocd.lock" >"$dir/log" 2>&1 || {
		tail -n 3 "$dir/log"
		skip "Argo CD $argocd_version does not build here"
		rc=1
	}
	rm -rf "$dir"
	return $rc
}
