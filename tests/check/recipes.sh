#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs commands of the documents as they are written there, in folders with the
# names that they use, with a real kubectl and helm and a real API server.
# tests/meta/recipes.txt lists these commands. One that the documents no longer
# have is a failure, so that this script follows them.
# usage: recipes.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
# shellcheck source=/dev/null
. "$tests/check/go-tools.bash"
unset GPUGATE_RENDER KUBECONFIG
go_tool helm4 v4.0.0 helm.sh/helm/v4/cmd/helm || exit 0
go_tool helm3 v3.19.0 helm.sh/helm/v3/cmd/helm || exit 0
need_control_plane --crds
mkdir "$work/bin"
ln -s "$gpugate" "$gpugated" "$work/bin/"
ln -s gpugate "$work/bin/kubectl-gpugate"
ln -s "$(go_tools_cache)/helm4-v4.0.0" "$work/bin/helm"
ln -s "$(tests/control-plane/build.sh kubectl)/kubectl" "$work/bin/kubectl"
export KUBECONFIG=$CONTROL_PLANE_DIR/admin.kubeconfig
export HELM_CONFIG_HOME=$work/helm HELM_CACHE_HOME=$work/helm HELM_DATA_HOME=$work/helm
export PATH=$work/bin:$PATH

# run STATUS DOCUMENT COMMAND: runs it as the document has it, in the current
# folder.
run() {
	local status=0
	(cd "$root" && tests/meta/recipes.py --commands "$2") \
		>"$work/commands" 2>&1
	grep -qxF -- "$3" "$work/commands" || {
		say_fail "$2 has no command \`$3\`"
		return
	}
	sh -ec "$3" >"$work/log" 2>&1 </dev/null || status=$?
	check "$2: $3" [ "$status" -eq "$1" ]
}
says() { check "says $1" grep -qF -- "$1" "$work/log"; }

# job FILE [LINE]: writes a job with 2 GPUs, with LINE in the spec of its pod
job() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<END
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  backoffLimit: 1
  template:
    spec:
      restartPolicy: Never
      ${2-}
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers:
      - name: c
        image: registry.example.com/train:1
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 2}}
END
}

# A clone with a user's manifests in it.
mkdir -p "$work/clone/build"
cp -r deploy "$work/clone/"
ln -s "$gpugate" "$gpugated" "$work/clone/build/"
cd "$work/clone" || exit 1
git init -q . && git add deploy
rm -rf deploy/examples
job jobs/train.yaml
cp jobs/train.yaml train.yaml
mkdir -p chart/templates policies clusters
printf '%s\n' 'apiVersion: v2' 'name: chart' 'version: 1.0.0' >chart/Chart.yaml
cp train.yaml chart/templates/
cp train.yaml clusters/

# --- README.md ----------------------------------------------------------------

page=README.md
run 0 $page 'build/gpugate lint jobs/ train.yaml'
says '0 errors'
run 0 $page 'build/gpugate lint'
run 0 $page 'helm template chart | build/gpugate lint -'
says '1 object'
run 0 $page 'build/gpugate lint --format html:report.html'
check 'the page is there' grep -q '<html' report.html
job jobs/train.yaml 'priority: 5'
run 1 $page 'build/gpugate lint jobs/ train.yaml'
says priority-integer-set
run 0 $page 'build/gpugate lint --fix'
check 'is repaired' grep -qv 'priority: 5' jobs/train.yaml
run 0 $page 'build/gpugate explain shm-missing'
run 0 $page 'build/gpugate rules'
run 0 $page 'gpugate lint --format full --format junit:gpugate.xml .'
check 'JUnit' grep -q '<testsuite' gpugate.xml

kube create namespace ml >/dev/null
run 0 $page 'helm install gpugate deploy/chart/gpugate --namespace gpugate-system --create-namespace --set tls.mode=selfManaged'
check 'two configurations' [ "$(kube get \
	validatingwebhookconfigurations,mutatingwebhookconfigurations -o name |
	wc -l)" -eq 2 ]
page=deploy/README.md
run 0 $page 'helm upgrade gpugate deploy/chart/gpugate --namespace gpugate-system --reuse-values'
run 0 $page 'helm rollback gpugate --namespace gpugate-system'
page=lint/docs/README.md
run 0 $page 'gpugate snapshot -o cluster.json'
check 'a state' grep -q '"namespaces"' cluster.json
run 0 $page 'gpugate lint --cluster cluster.json --require cluster jobs/'
run 0 $page 'gpugate lint --cluster cluster.json --policy cluster.json jobs/'
page=deploy/README.md
run 0 $page 'kubectl delete validatingwebhookconfiguration,mutatingwebhookconfiguration gpugate'
helm uninstall gpugate --namespace gpugate-system >"$work/log" 2>&1
kube delete namespace gpugate-system --wait=false >/dev/null 2>&1
kube apply -f jobs/train.yaml >"$work/log" 2>&1
page=README.md
run 0 $page 'gpugate snapshot -o cluster.json'
run 0 $page 'gpugate lint --cluster cluster.json --require cluster jobs/'
run 0 $page 'kubectl gpugate lint -n ml'
says '1 object'

# --- lint/docs -----------------------------------------------------------------

page=lint/docs/README.md
job jobs/train.yaml 'priority: 5'
run 1 $page 'gpugate lint --diff jobs/'
says '-      priority: 5'
run 0 $page 'gpugate lint --fix jobs/'
job jobs/train.yaml
run 0 $page 'gpugate lint --fix --unsafe-fixes'
cp deploy/vap/policies/*.yaml deploy/vap/bindings-deny.yaml policies/
job jobs/train.yaml
run 0 $page 'gpugate lint --admission-policy policies/ jobs/'
job jobs/train.yaml 'hostPID: true'
run 0 $page 'gpugate lint --admission-policy policies/ --select admission-policy jobs/'
says hostPID

# --- deploy/vap ------------------------------------------------------------------

page=deploy/vap/README.md
run 0 $page 'kubectl apply -f deploy/vap/policies -f deploy/vap/bindings-audit.yaml'
run 0 $page 'kubectl apply -f deploy/vap/bindings-warn.yaml'
run 0 $page 'kubectl apply -f deploy/vap/bindings-deny.yaml'
run 0 $page 'kubectl delete -f deploy/vap/policies -f deploy/vap/bindings-audit.yaml'
run 0 $page 'gpugate lint -n ml --admission-policy deploy/vap/policies --admission-policy deploy/vap/bindings-deny.yaml jobs/'
mkdir "$work/own"
"$root/rules/catalog/cel.sh" "$work/own/vap" || exit 1
sed -n '/^# .gpugate.yaml/,/^```/p' "$root/$page" | grep -v '^```' \
	>"$work/own/.gpugate.yaml"
cd "$work/own" || exit 1
run 0 $page 'gpugate rules --format vap gpugate-gpu-hostpid'
says 'validationActions: [Deny]'
says gpu-tools

# --- deploy/ci, deploy/argocd ----------------------------------------------------

cd "$work/clone" || exit 1
job jobs/train.yaml
page=deploy/ci/README.md
run 0 $page 'gpugate lint --render never clusters/'
run 0 $page 'gpugate lint --render require clusters/'
finish recipes
