#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds one program for each operator from its own validation code, into a
# folder of the cache for these sources and this Go, and prints the folder.
# Its file `definitions` lists the folders of the CustomResourceDefinitions by
# operator.
# KAI-Scheduler is built only from KAI_SOURCE, a checkout of v0.13.0, because the
# module proxy does not serve it.
# usage: [KAI_SOURCE=FOLDER] build.sh
set -eu
cache=${GPUGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpugate-tests}
mkdir -p "$cache"
cd "$(dirname "$0")"
go=$(go env GOVERSION GOOS GOARCH GOFLAGS)
key=$({ echo "$go ${KAI_SOURCE:-}" && cat build.sh go.mod go.sum ./*/go.mod ./*/go.sum \
	./*/*.go; } | sha256sum | cut -c1-16)
folder=$cache/operators-$key

# definitions OPERATOR... -- MODULE PATH...: prints a line `OPERATOR FOLDER` for each
# operator and each MODULE: the folder PATH of the version of MODULE that the Go
# module in the current folder requires.
definitions() {
	of=
	while [ "$1" != -- ]; do
		of="$of $1"
		shift
	done
	shift
	while [ $# -gt 0 ]; do
		at=$(go list -m -f '{{.Dir}}' "$1")/$2
		for operator in $of; do
			echo "$operator $at"
		done
		shift 2
	done
}

if [ ! -f "$folder/definitions" ]; then
	mkdir -p "$folder"
	go build -buildvcs=false -o "$folder/" ./kuberay ./kueue ./jobset \
		./lws ./training ./trainer ./mpi
	# These need other versions of Kubernetes' modules than the operators
	# above, so each has its own go.mod.
	for module in volcano kserve pods; do
		(cd $module && go build -buildvcs=false -o "$folder/" .)
	done
	if [ -n "${KAI_SOURCE:-}" ]; then
		cp kai/go.mod "$folder/kai.mod"
		cp kai/go.sum "$folder/kai.sum"
		(cd kai && go mod edit -replace \
			"github.com/NVIDIA/KAI-scheduler=$KAI_SOURCE" \
			"$folder/kai.mod" &&
			go build -buildvcs=false -modfile "$folder/kai.mod" \
				-o "$folder/kai" .)
	fi
	ray="github.com/ray-project/kuberay/ray-operator config/crd/bases"
	training="github.com/kubeflow/training-operator manifests/base/crds"
	jobset="sigs.k8s.io/jobset config/components/crd/bases"
	lws="sigs.k8s.io/lws config/crd/bases"
	# shellcheck disable=SC2086 # two words each
	{
		definitions kuberay kueue -- $ray
		definitions training kueue -- $training
		definitions trainer -- github.com/kubeflow/trainer/v2 \
			manifests/base/crds
		definitions jobset kueue -- $jobset
		definitions lws kueue -- $lws
		definitions kueue -- sigs.k8s.io/kueue \
			config/components/crd/bases
		definitions mpi -- github.com/kubeflow/mpi-operator \
			manifests/base
		(cd volcano && definitions volcano -- volcano.sh/volcano \
			config/crd/volcano/bases)
		(cd kserve && definitions kserve -- github.com/kserve/kserve \
			config/crd/full github.com/kserve/kserve \
			config/crd/full/llmisvc)
		[ -z "${KAI_SOURCE:-}" ] ||
			echo "kai $KAI_SOURCE/deployments/kai-scheduler/crds"
	} >"$folder/definitions.new"
	mv "$folder/definitions.new" "$folder/definitions"
fi
echo "$folder"
