#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Put the programs of a Kubernetes control plane into a cache folder and
# print that folder. They are built from Go modules (some ten minutes on two
# cores, once); each one is available as soon as it is built. If
# KUBEBUILDER_ASSETS is set, its programs are used instead.
#
# usage: build.sh [etcd|kube-apiserver|kubectl|kube-controller-manager|kube-scheduler]...
# Without arguments, the first four are built. Exit status 77: there is no Go >=
# 1.26.
set -eu

kube=1.37.2
etcd=3.6.13
go_minor=26 # the version that this Kubernetes requires
cache=${GPUGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpugate-tests}
bin=$cache/kube-v$kube
# The modules that Kubernetes publishes from its own tree: it requires them at
# v0.0.0, so the main module has to set their version.
staging='api apiextensions-apiserver apimachinery apiserver cli-runtime
	client-go cloud-provider cluster-bootstrap code-generator component-base
	component-helpers controller-manager cri-api cri-client cri-streaming
	csi-translation-lib dynamic-resource-allocation endpointslice externaljwt
	kms kube-aggregator kube-controller-manager kube-proxy kube-scheduler
	kubectl kubelet metrics mount-utils pod-security-admission
	sample-apiserver sample-cli-plugin sample-controller streaming'
temporary=
trap '[ -z "$temporary" ] || rm -rf "$temporary"' EXIT
trap 'exit 130' INT TERM HUP

say() {
	echo "control plane: $*" >&2
}

need_go() {
	local version minor
	if ! command -v go >/dev/null; then
		say "go is not on PATH (needed: 1.$go_minor or newer)"
		exit 77
	fi
	# GOTOOLCHAIN=local: uses the installed toolchain and downloads none.
	version=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
	minor=${version#go1.}
	minor=${minor%%[!0-9]*}
	if [ "${version#go1.}" = "$version" ] || [ "${minor:-0}" -lt $go_minor ]; then
		say "$version is too old (needed: 1.$go_minor or newer)"
		exit 77
	fi
}

etcd_module() {
	go mod init build &&
		go get "go.etcd.io/etcd/server/v3@v$etcd"
}

kube_module() {
	local name
	printf 'module build\n\ngo 1.%s.0\n\nrequire k8s.io/kubernetes v%s\n\nreplace (\n' \
		"$go_minor" "$kube" >go.mod
	for name in $staging; do
		printf '\tk8s.io/%s => k8s.io/%s v0.%s\n' "$name" "$name" "${kube#1.}"
	done >>go.mod
	echo ')' >>go.mod
}

# compile NAME: builds the program ./NAME in the current folder, which must be empty
compile() {
	local package=k8s.io/kubernetes/cmd/$1 set=k8s.io/component-base/version
	local minor=${kube#1.}
	export GOWORK=off CGO_ENABLED=0
	if [ "$1" = etcd ]; then
		etcd_module || return
		package=go.etcd.io/etcd/server/v3
	else
		kube_module
	fi
	go build -mod=mod -trimpath -o "$1" -ldflags "-s -w
		-X $set.gitVersion=v$kube -X $set.gitMajor=1
		-X $set.gitMinor=${minor%.*}" "$package"
}

# build NAME: builds the program. Only one compilation runs at a time on this
# machine; a second caller finds the program of the first.
build() {
	local begin=$SECONDS
	[ ! -x "$bin/$1" ] || return 0
	need_go
	mkdir -p "$bin"
	exec 9>"$bin.lock"
	flock 9
	if [ ! -x "$bin/$1" ]; then
		temporary=$(mktemp -d "$bin/.build-XXXXXX")
		say "building $1 (minutes, once)"
		if ! (cd "$temporary" && compile "$1") >"$temporary/log" 2>&1 9>&-; then
			tail -n 20 "$temporary/log" >&2
			say "$1 does not build"
			exit 1
		fi
		mv "$temporary/$1" "$bin/$1"
		rm -rf "$temporary"
		temporary=
		say "$1 built in $((SECONDS - begin)) s"
	fi
	exec 9>&-
}

# provide NAME: puts the program into $bin, a folder for this version of
# Kubernetes. etcd is built in a folder for its version, and linked.
provide() {
	local kube_bin=$bin
	if [ "$1" = etcd ]; then
		bin=$cache/etcd-v$etcd
	fi
	build "$1"
	if [ "$bin" != "$kube_bin" ]; then
		mkdir -p "$kube_bin"
		[ "$bin/$1" -ef "$kube_bin/$1" ] || {
			ln -sfn "$bin/$1" "$kube_bin/$1.$$"
			mv -fT "$kube_bin/$1.$$" "$kube_bin/$1"
		}
		bin=$kube_bin
	fi
}

# Links the programs of KUBEBUILDER_ASSETS, and those missing there from the
# build, into one folder.
from_assets() {
	local assets name links
	assets=$(realpath "$KUBEBUILDER_ASSETS")
	links=$cache/kube-assets-$(printf %s "$assets" | cksum | cut -d' ' -f1)
	mkdir -p "$links"
	for name; do
		if [ -x "$assets/$name" ]; then
			ln -sfn "$assets/$name" "$links/$name"
		else
			say "KUBEBUILDER_ASSETS has no $name: taking $kube"
			provide "$name"
			ln -sfn "$bin/$name" "$links/$name"
		fi
	done
	echo "$links"
}

[ $# -gt 0 ] || set -- etcd kube-apiserver kubectl kube-controller-manager
for name; do
	case $name in
	etcd | kube-apiserver | kubectl | kube-controller-manager | kube-scheduler) ;;
	*)
		say "unknown program $name"
		exit 2
		;;
	esac
done
if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
	from_assets "$@"
else
	for name; do
		provide "$name"
	done
	echo "$bin"
fi
