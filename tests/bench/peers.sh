#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds into build/peers those tools compared by the benchmark that are Go
# modules. Each takes minutes.
set -eu
command -v go >/dev/null || {
	echo "skip: go is not on PATH"
	exit 0
}
mkdir -p build/peers
export GOBIN=$PWD/build/peers
go install github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0
go install github.com/zegl/kube-score/cmd/kube-score@v1.20.0
go install github.com/open-policy-agent/conftest@v0.69.0
go install github.com/open-policy-agent/gatekeeper/v3/cmd/gator@v3.23.0
# kyverno's go.mod has a `replace`, which counts only in the main module, so
# kyverno is built as the main module, in a copy.
kyverno=github.com/kyverno/kyverno@v1.19.0
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
cp -r "$(go mod download -json $kyverno | sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p')/." "$own"
chmod -R u+w "$own"
cd "$own"
GOFLAGS=-mod=mod go build -o "$GOBIN/kyverno" ./cmd/cli/kubectl-kyverno
