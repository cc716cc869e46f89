#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The plugin for Argo CD: the component on a repo server's Deployment, and
# deploy/argocd/cmp/plugin.yaml as the plugin server runs it: the protocol in
# argocd.py, and Argo CD's own server where it was built (GPUGATE_ARGOCD=1
# builds it: ten minutes, once).
# usage: argocd.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
# shellcheck source=tests/check/go-tools.bash
. "$tests/check/go-tools.bash"
version=v3.1.9
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

manifest() { # GPUS
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
repo=$work/repo
mkdir -p "$repo"/{plain,bad,base,overlay,nothing,chart/templates}
manifest 2 >"$repo/plain/job.yaml"
manifest 1.5 >"$repo/bad/job.yaml"
cp "$repo/plain/job.yaml" "$repo/base/"
echo 'resources: [job.yaml]' >"$repo/base/kustomization.yaml"
printf 'namePrefix: x-\nresources: [../base]\n' >"$repo/overlay/kustomization.yaml"
echo nothing >"$repo/nothing/README"
printf 'apiVersion: v2\nname: c\nversion: 1.0.0\n' >"$repo/chart/Chart.yaml"
echo 'gpus: 2' >"$repo/chart/values.yaml"
echo 'gpus: 1.5' >"$repo/half.yaml"
manifest '{{ .Values.gpus }}' >"$repo/chart/templates/job.yaml"
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

# cases WORD...: a command that is given REPOSITORY APPLICATION NAME=VALUE...
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

server=$(go_tools_cache)/argocd-cmp-$version-$(sha256sum \
	"$tests/check/argocd/main.go" | cut -c1-8)
build_server() (
	dir=$(mktemp -d)
	cd "$dir" || exit 1
	go mod init build
	# The replacements of a dependency's go.mod are not taken over.
	mod=$(go mod download -json "github.com/argoproj/argo-cd/v3@$version" |
		sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
	sed -n '/^replace ($/,/^)$/p' "$mod" >>go.mod
	cp "$tests/check/argocd/main.go" .
	go get "github.com/argoproj/argo-cd/v3@$version" && go mod tidy -e &&
		mkdir -p "${server%/*}" && go build -o "$server" .
	rm -rf "$dir"
)
[ -x "$server" ] || [ -z "${GPUGATE_ARGOCD-}" ] ||
	build_server >"$work/log" 2>&1
if [ -x "$server" ]; then
	mkdir "$work/config" "$work/plugins" "$work/cmp"
	cp deploy/argocd/cmp/plugin.yaml "$work/config/"
	ARGOCD_PLUGINSOCKFILEPATH=$work/plugins ARGOCD_CMP_WORKDIR=$work/cmp \
		"$server" server --config-dir-path "$work/config" \
		>"$work/log" 2>&1 &
	server_id=$!
	at_exit="kill $server_id"
	for _ in $(seq 100); do
		[ ! -S "$work/plugins/gpugate.sock" ] || break
		sleep 0.1
	done
	cases server "$server" ask "$work/plugins/gpugate.sock"
else
	skip "argocd-cmp-server $version is not built (GPUGATE_ARGOCD=1)"
fi
finish argocd
