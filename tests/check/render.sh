#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What `gpugate lint DIR` finds in kustomizations is what it finds in their
# build, for every root; and each finding is shown at a line that an independent
# reading of the files agrees with. Prints how many are shown at what.
#
# render.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
unset GPUGATE_RENDER
command -v kubectl >/dev/null || skip_all 'no kubectl'

# compare LABEL TREE BUILD-COMMAND ROOT-FILE...: run in a copy of the tree
compare() {
	local label=$1 tree=$2 build=$3 n=0 items=() root
	shift 3
	cd "$tree" || exit 2
	"$gpugate" lint --isolated --render require --preset all \
		--format "json:$work/$label.json" . >"$work/log" 2>&1
	[ $? -le 1 ] || say_fail "$label: not everything was built"
	for root; do
		n=$((n + 1))
		$build "$(dirname "$root")" >"$work/$label-$n.yaml" \
			2>>"$work/log" || say_fail "$label: $root: no build"
		"$gpugate" lint --isolated --preset all --format \
			"json:$work/$label-$n.json" - \
			<"$work/$label-$n.yaml" >>"$work/log" 2>&1
		items+=("$root=$work/$label-$n.json=$work/$label-$n.yaml")
	done
	python3 "$tests/check/render.py" "$work/$label.json" "$tree" "$label" \
		"${items[@]}" && pass=$((pass + 1)) || fail=$((fail + 1))
	cd "$root_folder" || exit 2
}
root_folder=$root

cp -r "$tests/cli/render" "$work/trees"
compare overlays "$work/trees/overlays" 'kubectl kustomize' \
	overlays/dev/kustomization.yaml overlays/prod/kustomization.yaml

# shellcheck source=tests/check/go-tools.bash
. "$tests/check/go-tools.bash"
if go_tool helm3 v3.19.0 helm.sh/helm/v3/cmd/helm; then
	mkdir "$work/bin"
	ln -s "$(go_tools_cache)/helm3-v3.19.0" "$work/bin/helm"
	PATH=$work/bin:$PATH
	compare chart "$work/trees/chart" 'helm template' llm/Chart.yaml
else
	skipped=$((skipped + 1))
fi
finish render
