#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the plugin for Argo CD: the component on a repo server's Deployment,
# and deploy/argocd/cmp/plugin.yaml as the plugin server runs it, by the
# protocol in argocd.py, by Argo CD's own plugin server, and by its repo
# server, which generates manifests.
# usage: argocd.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
# shellcheck source=tests/check/argocd.bash
. "$tests/check/argocd.bash"
need_program kubectl
need_pyyaml
export PATH=$work/bin:$build:$PATH

# --- the sidecar -----------------------------------------------------------

mkdir "$work/install"
cat >"$work/install/kustomization.yaml" <<END
namespace: argocd
resources: [repo-server.yaml]
components: [$(realpath --relative-to="$work/install" deploy/argocd/cmp)]
END
cat >"$work/install/repo-server.yaml" <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: argocd-repo-server}
spec:
  selector: {matchLabels: {app: r}}
  template:
    metadata: {labels: {app: r}}
    spec:
      containers: [{name: argocd-repo-server, image: "argocd:1"}]
      volumes: [{name: var-files, emptyDir: {}}, {name: plugins, emptyDir: {}}]
END
kubectl kustomize "$work/install" >"$work/installed.yaml" 2>"$work/log"
check 'the component' "$python" "$tests/check/argocd.py" sidecar \
	"$work/installed.yaml" deploy/argocd/cmp
check 'no findings in it' "$gpugate" lint --isolated "$work/installed.yaml"

# --- repositories ----------------------------------------------------------

repo=$work/repo
mkdir -p "$repo"/{plain,bad,base,overlay,nothing,chart/templates}
argocd_job 2 >"$repo/plain/job.yaml"
argocd_job 1.5 >"$repo/bad/job.yaml"
cp "$repo/plain/job.yaml" "$repo/base/"
echo 'resources: [job.yaml]' >"$repo/base/kustomization.yaml"
printf 'namePrefix: x-\nresources: [../base]\n' >"$repo/overlay/kustomization.yaml"
echo nothing >"$repo/nothing/README"
printf 'apiVersion: v2\nname: c\nversion: 1.0.0\n' >"$repo/chart/Chart.yaml"
echo 'gpus: 2' >"$repo/chart/values.yaml"
echo 'gpus: 1.5' >"$repo/half.yaml"
argocd_job '{{ .Values.gpus }}' >"$repo/chart/templates/job.yaml"
helm=
mkdir "$work/bin"
if go_tool helm4 v4.0.0 helm.sh/helm/v4/cmd/helm; then
	helm=$work/bin/helm
	ln -s "$(go_tools_cache)/helm4-v4.0.0" "$helm"
fi
! go_tool kustomize v5.8.1 sigs.k8s.io/kustomize/kustomize/v5 ||
	ln -s "$(go_tools_cache)/kustomize-v5.8.1" "$work/bin/kustomize"

# --- the README's shell -------------------------------------------------------

mkdir -p "$work/clone/charts"
cp -r "$repo/plain" "$work/clone/charts/llm"
awk '/^```$/ { on = 0 } on { print } /^```sh$/ { on = 1 }' \
	deploy/argocd/README.md >"$work/script"
check 'there is some' test -s "$work/script"
check 'in a clone' eval '(cd "$work/clone" && sh "$work/script") >"$work/log"'
check 'it prints the manifests' grep -q 'name: train' "$work/log"

# --- both servers ----------------------------------------------------------

# cases WORD...: runs a command with REPOSITORY, APPLICATION and NAME=VALUE... as
# arguments.
cases() {
	local kind=$1
	shift
	check "$kind: plain" python3 "$tests/check/argocd.py" case yes \
		'"train"' "$@" "$repo" plain ARGOCD_APP_NAME=a
	check "$kind: a finding" python3 "$tests/check/argocd.py" case no \
		'gpu-fractional-quantity' "$@" "$repo" bad
	check "$kind: an overlay" python3 "$tests/check/argocd.py" case yes \
		'"x-train"' "$@" "$repo" overlay \
		ARGOCD_APP_SOURCE_PATH=overlay
	check "$kind: nothing there" python3 "$tests/check/argocd.py" case none \
		'would prune' "$@" "$repo" nothing
	check "$kind: values elsewhere" python3 "$tests/check/argocd.py" case \
		no 'outside of the repository' "$@" "$repo" chart \
		ARGOCD_APP_SOURCE_PATH=chart \
		'ARGOCD_APP_PARAMETERS=[{"name":"values-files","array":["/../../etc/hostname"]}]'
	[ -n "$helm" ] || return 0
	check "$kind: a chart" python3 "$tests/check/argocd.py" case yes \
		'"train"' "$@" "$repo" chart ARGOCD_APP_SOURCE_PATH=chart
	check "$kind: a chart, and a finding" python3 "$tests/check/argocd.py" \
		case no 'gpu-fractional-quantity' "$@" "$repo" chart \
		ARGOCD_APP_SOURCE_PATH=chart \
		'ARGOCD_APP_PARAMETERS=[{"name":"values-files","array":["/half.yaml"]}]'
}

cases protocol "$python" "$tests/check/argocd.py" ask deploy/argocd/cmp/plugin.yaml

# generated yes|no|empty TEXT NAME SOURCE: checks the repo server's output for
# an Application with that source, through the plugin.
generated() {
	cat >"$work/app.yaml" <<-END
		{"metadata": {"name": "a", "namespace": "argocd"}, "spec": {
		  "destination": {"namespace": "ml"}, "project": "default",
		  "source": {"repoURL": "https://git.example.com/a",
		    "targetRevision": "main", $4}}}
	END
	check "repo server: $3" python3 "$tests/check/argocd.py" generated \
		"$1" "$2" env ARGOCD_PLUGINSOCKFILEPATH="$work/plugins" \
		"$argocd" manifests "$work/app.yaml" "$repo" \
		4f2c1e0a1b2c3d4e5f60718293a4b5c6d7e8f901
}

if argocd_server; then
	mkdir "$work/config" "$work/plugins" "$work/cmp"
	cp deploy/argocd/cmp/plugin.yaml "$work/config/"
	ARGOCD_PLUGINSOCKFILEPATH=$work/plugins ARGOCD_CMP_WORKDIR=$work/cmp \
		"$argocd" server --config-dir-path "$work/config" \
		>"$work/log" 2>&1 &
	server_id=$!
	at_exit="kill $server_id"
	for _ in $(seq 100); do
		[ ! -S "$work/plugins/gpugate.sock" ] || break
		sleep 0.1
	done
	cases server "$argocd" ask "$work/plugins/gpugate.sock"
	generated yes '"train"' 'a plugin that is named' \
		'"path": "plain", "plugin": {"name": "gpugate"}'
	generated yes '"train"' 'a plugin that discovers' '"path": "plain"'
	generated yes '"x-train"' 'a plugin before kustomize' '"path": "overlay"'
	generated no gpu-fractional-quantity 'a finding' '"path": "bad"'
	generated no 'supporting the given repository' 'nothing there' \
		'"path": "nothing", "plugin": {"name": "gpugate"}'
	generated empty '' 'nothing there, and no name' '"path": "nothing"'
	[ -z "$helm" ] || generated no gpu-fractional-quantity 'values' \
		'"path": "chart", "plugin": {"name": "gpugate", "parameters": [
		  {"name": "values-files", "array": ["/half.yaml"]}]}'
fi
finish argocd
