#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that `gpugate lint DIR` finds in each kustomization and chart the same
# as in its build, and shows each finding at a line that an independent reading
# of the files confirms. Prints the number of findings for each type of place.
#
# render.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
unset GPUGATE_RENDER
command -v kubectl >/dev/null || skip_all 'no kubectl'

# compare LABEL TREE LEAST BUILD ROOT-FILE...: compares the findings of `lint
# --render` with the findings of BUILD's output, for each root file of the tree
compare() {
	local label=$1 tree=$2 least=$3 build=$4 n=0 items=() root
	shift 4
	cd "$tree" || exit 2
	"$gpugate" lint --isolated --render require --preset all --show-all \
		--format "json:$work/$label.json" . >"$work/log" 2>&1
	[ $? -le 1 ] || say_fail "$label: not everything was built"
	for root; do
		n=$((n + 1))
		$build "$root" >"$work/$label-$n.yaml" \
			2>>"$work/log" || say_fail "$label: $root: no build"
		"$gpugate" lint --isolated --preset all --show-all --format \
			"json:$work/$label-$n.json" - \
			<"$work/$label-$n.yaml" >>"$work/log" 2>&1
		items+=("$root=$work/$label-$n.json=$work/$label-$n.yaml")
	done
	python3 "$tests/check/render.py" "$work/$label.json" "$tree" "$label" \
		"$least" "${items[@]}" && pass=$((pass + 1)) || fail=$((fail + 1))
	cd "$root_folder" || exit 2
}
root_folder=$root

# shellcheck disable=SC2317 # compare calls them
overlay() { kubectl kustomize "${1%/*}"; }
# shellcheck disable=SC2317
chart() { helm template "${1%/*}"; }
# Builds a root of the gitops tree. The built overlay contains the values of
# release.yaml. The values of app.yaml are repeated here.
# shellcheck disable=SC2317
release() {
	case $1 in
	*/kustomization.yaml) overlay "$1" ;;
	*/release.yaml)
		overlay apps/prod/kustomization.yaml |
			sed -n '/^  values:/,/^---/s/^    //p' \
				>"$work/values.yaml"
		helm template llm charts/llm --namespace serving \
			--values "$work/values.yaml"
		;;
	*/app.yaml)
		printf 'tensorParallel: 3\nenv:\n  NCCL_DEBUG: INFO\n' \
			>"$work/values.yaml"
		helm template chat charts/llm --namespace batch \
			--values charts/llm/values-argo.yaml \
			--values "$work/values.yaml" --set replicas=1
		;;
	esac
}

cp -r "$tests/cli/render" "$work/trees"
compare overlays "$work/trees/overlays" base:30,overlay:7 overlay \
	overlays/dev/kustomization.yaml overlays/prod/kustomization.yaml
compare layers "$work/trees/layers" base:30,overlay:9 overlay \
	app/envs/eu/kustomization.yaml app/envs/us/kustomization.yaml

# shellcheck source=tests/check/go-tools.bash
. "$tests/check/go-tools.bash"
if go_tool helm3 v3.19.0 helm.sh/helm/v3/cmd/helm; then
	mkdir "$work/bin"
	ln -s "$(go_tools_cache)/helm3-v3.19.0" "$work/bin/helm"
	PATH=$work/bin:$PATH
	compare chart "$work/trees/chart" template:20,values:4 chart llm/Chart.yaml
	compare gitops "$work/trees/gitops" template:30,values:7 release apps/argo/app.yaml \
		apps/base/release.yaml apps/prod/kustomization.yaml
else
	skipped=$((skipped + 1))
fi
finish render
