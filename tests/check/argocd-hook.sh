#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the Argo CD hook for each source of the README: Argo CD's own code
# generates the manifests, a real API server accepts them, and the command
# runs with the environment that its Pod reads from them.
# usage: argocd-hook.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
# shellcheck source=tests/check/argocd.bash
. "$tests/check/argocd.bash"
argocd_server || exit 0
mkdir "$work/bin"
tool() { # NAME LINK VERSION PACKAGE
	go_tool "$1" "$3" "$4" || exit 0
	ln -s "$(go_tools_cache)/$1-$3" "$work/bin/$2"
}
tool helm3 helm v3.19.0 helm.sh/helm/v3/cmd/helm
tool kustomize kustomize v5.8.1 sigs.k8s.io/kustomize/kustomize/v5
need_control_plane --controller-manager
kube create namespace ml >/dev/null
kube apply -f deploy/argocd/rbac.yaml >/dev/null
kube create clusterrolebinding gpugate-presync-ml --clusterrole gpugate-presync \
	--serviceaccount ml:gpugate-presync >/dev/null
user=system:serviceaccount:ml:gpugate-presync
control_plane_user "$user" system:serviceaccounts
cp "$work/cluster/$user.kubeconfig" "$work/kubeconfig"

# --- the repository: a folder for each source ----------------------------------

git=$work/git

hook() { # PATH REVISION: presync.yaml with its annotations written
	sed -e "s#gpugate.dev/repo: \"\"#gpugate.dev/repo: \"$git\"#" \
		-e "s#gpugate.dev/revision: \"\"#gpugate.dev/revision: $2#" \
		-e "s#gpugate.dev/path: \"\"#gpugate.dev/path: \"$1\"#" \
		deploy/argocd/presync.yaml
}

# Values as deploy/argocd/README.md has them.
helm_revision=$(grep -o '{{ .Values.gpugate.revision | quote }}' \
	deploy/argocd/README.md)
helm_source=$(grep -o 'helm.parameters: \[.*\]`' deploy/argocd/README.md |
	sed 's/^helm.parameters: //; s/`$//')
kustomize_source=$(grep -o 'kustomize: {commonAnnotationsEnvsubst.*}}' \
	deploy/argocd/README.md)
check 'the README has these values' test -n "$helm_revision" -a \
	-n "$helm_source" -a -n "$kustomize_source"

mkdir -p "$git"/{plain,kustomize,commit,chart/templates,variable}
git init -q -b main "$git"
for at in plain kustomize commit; do
	argocd_job 1 >"$git/$at/job.yaml"
done
argocd_job 1 >"$git/chart/templates/job.yaml"
hook plain main >"$git/plain/presync.yaml"
hook kustomize main >"$git/kustomize/presync.yaml"
hook commit '""' >"$git/commit/presync.yaml"
hook chart "$helm_revision" >"$git/chart/templates/presync.yaml"
hook variable '$ARGOCD_APP_REVISION' >"$git/variable/presync.yaml"
for at in kustomize commit; do
	echo 'resources: [job.yaml, presync.yaml]' >"$git/$at/kustomization.yaml"
done
printf 'apiVersion: v2\nname: c\nversion: 1.0.0\n' >"$git/chart/Chart.yaml"
echo 'gpugate: {revision: main}' >"$git/chart/values.yaml"
commit() {
	git -C "$git" add . && git -C "$git" -c user.name=t \
		-c user.email=t@example.com commit -qm "$1"
	revision=$(git -C "$git" rev-parse HEAD)
}
commit one

# --- Argo CD's part ----------------------------------------------------------

# generate PATH SOURCE: writes the generated manifests to $work/made, one per
# line. Works in a new checkout, which Argo CD edits.
generate() {
	cat >"$work/app.yaml" <<-END
		apiVersion: argoproj.io/v1alpha1
		kind: Application
		metadata: {name: llm, namespace: argocd}
		spec:
		  project: default
		  destination: {namespace: ml}
		  source:
		    repoURL: $git
		    targetRevision: main
		    path: $1
		    $2
	END
	rm -rf "$work/checkout"
	git clone -q "$git" "$work/checkout" &&
		PATH=$work/bin:$PATH "$argocd" manifests "$work/app.yaml" \
			"$work/checkout" "$revision" >"$work/made" 2>"$work/log"
}

applied() { # applies only the hooks, as Argo CD does before the sync
	kube delete job/gpugate-presync serviceaccount/gpugate-presync -n ml \
		--ignore-not-found --now
	grep gpugate-presync "$work/made" >"$work/hooks" &&
		[ "$(wc -l <"$work/hooks")" = 2 ] &&
		kube apply -n ml -f "$work/hooks"
}

pod() {
	kube get pod -n ml -l batch.kubernetes.io/job-name=gpugate-presync \
		-o name 2>/dev/null | grep -q .
}

annotation() { # NAME: prints an annotation of the hook's Pod
	kube get pod -n ml -l batch.kubernetes.io/job-name=gpugate-presync -o \
		"jsonpath={.items[0].metadata.annotations.gpugate\.dev/$1}"
}

hooked() { # runs the hook's command with the environment of its Pod
	PATH=$build:$CONTROL_PLANE_BIN:$work/bin:$PATH KUBECONFIG=$work/kubeconfig \
		GPUGATE_REPO=$(annotation repo) GPUGATE_PATH=$(annotation path) \
		GPUGATE_REVISION=$(annotation revision) GPUGATE_NAMESPACE=ml \
		GPUGATE_RENDER=${render:-never} sh deploy/argocd/presync.sh
}

exits() { # STATUS TEXT: checks the command's exit status and output
	local status=0
	hooked >"$work/log" 2>&1 || status=$?
	[ "$status" = "$1" ] && grep -q "$2" "$work/log"
}

# source_of NAME PATH REVISION SOURCE: checks that the manifests of an
# Application with that source are generated and accepted, and that the command
# passes
source_of() {
	check "$1: generated" generate "$2" "$4"
	check "$1: applied" applied
	check "$1: its Pod is made" control_plane_until 60 pod
	check "$1: the revision" test "$(annotation revision)" = "$3"
	check "$1: the path" test "$(annotation path)" = "$2"
	check "$1: it passes" exits 0 'Checked'
}

source_of 'a plain folder' plain main ''
source_of Kustomize kustomize main ''
render=auto source_of Helm chart "$revision" "helm: {parameters: $helm_source}"
source_of 'Kustomize, the commit' commit "$revision" "$kustomize_source"

# The branch gets another commit; a hook that names the first one checks that
# one.
argocd_job 1.5 >"$git/commit/job.yaml"
argocd_job 1.5 >"$git/plain/job.yaml"
commit two
check 'the commit, not the head' exits 0 Checked
check 'a branch is generated again' generate plain ''
check 'it is applied again' applied
check 'its Pod is made again' control_plane_until 60 pod
check 'a branch at its head' exits 1 gpu-fractional-quantity

# Argo CD replaces no variable in a plain manifest. The command then fails and
# names the option that would replace it.
check 'a variable in a manifest' generate variable ''
check 'it is applied' applied
check 'its Pod' control_plane_until 60 pod
check 'nothing replaced it' exits 2 commonAnnotationsEnvsubst
finish argocd-hook
