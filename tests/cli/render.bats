#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kustomizations and charts are checked by the output of their build.

load helper

bats_require_minimum_version 1.5.0

# tree NAME: makes a copy of the fixture, in which the tests run.
tree() {
	unset GPUGATE_RENDER
	cp -r "$BATS_TEST_DIRNAME/render/$1" .
	cd "$1" || exit 1
}

need_kubectl() {
	command -v kubectl >/dev/null || skip "no kubectl"
}

# tool NAME SCRIPT: writes a program. alone COMMAND... runs with a PATH that has
# only such programs.
tool() {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\n%s\n' "$2" >"$BATS_TEST_TMPDIR/bin/$1"
	chmod +x "$BATS_TEST_TMPDIR/bin/$1"
}
alone() { PATH=$BATS_TEST_TMPDIR/bin "$@"; }

@test "findings of a build are shown at the patch, the field or the base" {
	need_kubectl
	tree overlays
	lint --isolated --preset all .
	is "$status" 1
	holds "$output" "base/train.yaml:9:15: warning: container \`trainer\` has"
	holds "$output" "overlays/prod/server.yaml:12:23: warning: container \`server\` is"
	holds "$output" "overlays/prod/train.json:3:119: warning: \`NVIDIA_VISIBLE"
	holds "$output" "overlays/dev/kustomization.yaml:8:11: warning: image"
	holds "$output" "overlays/prod/kustomization.yaml:24:20: warning: \`hostIPC"
	holds "$output" "components/gpu/kustomization.yaml:14:14: info"
	holds "$stderr" "Rendered 2 kustomizations with kubectl kustomize v"
}

@test "one line has one finding, even if several overlays include it" {
	need_kubectl
	tree overlays
	run -1 "$GPUGATE" lint --isolated --format json .
	is "$(printf '%s\n' "$output" | grep -c '"rule":"job-restart-policy-missing"')" 1
	holds "$(printf '%s\n' "$output" | grep '"rule":"job-restart-policy-missing"')" \
		'"file":"overlays/prod/kustomization.yaml"'
	holds "$output" '"source":"overlays/dev/kustomization.yaml","built":true,"tool":"kubectl kustomize"'
}

@test "a comment in the base suppresses findings of the build" {
	need_kubectl
	tree overlays
	sed -i 's/^      - name: trainer/      # gpugate: ignore[shm-missing] -- small data\n&/' \
		base/train.yaml
	lint --isolated --select shm-missing .
	holds_not "$output" base/train.yaml
	lint --isolated --select shm-missing --no-ignore .
	holds "$output" base/train.yaml:10:15
}

@test "a remote base is skipped with a reason, and nothing is fetched" {
	need_kubectl
	tree remote
	lint --isolated .
	holds "$output" "near/pod.yaml:6:13: error"
	holds "$stderr" "Not rendered (remote base \`https://example.invalid/base//deploy?ref=v1\`): far/kustomization.yaml"
	lint --isolated --render require .
	is "$status" 2
	holds "$stderr" "far/kustomization.yaml: not rendered: remote base"
}

@test "without a program the files are checked, and the command is printed" {
	tree remote
	tool nothing :
	run alone "$GPUGATE" lint --isolated --format concise near
	is "$status" 1
	holds "$output" "near/pod.yaml:6:13: error"
	holds "$output" "Not rendered (neither kustomize nor kubectl is on PATH): near/kustomization.yaml; by hand: kustomize build near | gpugate lint -"
	run alone "$GPUGATE" lint --isolated --render require near
	is "$status" 2
}

@test "named files, --partial and --since start no program" {
	tree remote
	tool kubectl "echo run >>$BATS_TEST_TMPDIR/runs"
	git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm a
	run alone "$GPUGATE" lint --isolated near/pod.yaml near/kustomization.yaml
	run alone "$GPUGATE" lint --isolated --partial .
	run alone "$GPUGATE" lint --isolated --render never .
	mkdir ../plain && pod ../plain/p.yaml
	run alone "$GPUGATE" lint --isolated ../plain
	[ ! -e "$BATS_TEST_TMPDIR/runs" ]
	run alone "$GPUGATE" lint --isolated .
	[ -e "$BATS_TEST_TMPDIR/runs" ]
}

@test "if a build fails, its files are checked, with the first line of the error" {
	tree remote
	tool kustomize '[ "$1" = version ] && echo v9 && exit
echo "Error: no such thing" >&2; echo more >&2; exit 1'
	run alone "$GPUGATE" lint --isolated --format concise near
	is "$status" 1
	holds "$output" "near/pod.yaml:6:13: error"
	holds "$output" "Not rendered (Error: no such thing): near/kustomization.yaml"
	holds_not "$output" more
}

@test "user files stay as they are, and no temporary file is left" {
	need_kubectl
	tree overlays
	find . -type f -exec cksum {} + | sort >../before
	mkdir ../tmp
	TMPDIR=$BATS_TEST_TMPDIR/tmp run "$GPUGATE" lint --isolated .
	find . -type f -exec cksum {} + | sort >../after
	cmp ../before ../after
	is "$(ls "$BATS_TEST_TMPDIR/tmp")" ""
}

@test "excluded folders are not built" {
	need_kubectl
	tree overlays
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\nexclude: [overlays/dev/**]\n' >.gpugate.yaml
	run "$GPUGATE" lint --format concise .
	holds "$output" "Rendered 1 kustomization "
	holds_not "$output" overlays/dev
}

@test "an overlay alone shows its base" {
	need_kubectl
	tree overlays
	cd overlays/prod
	lint --isolated .
	holds "$output" "../../base/train.yaml:9:15: warning"
	holds "$output" "server.yaml:12:23: warning"
}

# Uses helm from the cache in which checks build it, or skips.
need_helm() {
	. "$BATS_TEST_DIRNAME/../check/go-tools.bash"
	local helm
	helm=$(go_tools_cache)/helm3-v3.19.0
	[ -x "$helm" ] || helm=$(command -v helm) || skip "no helm"
	mkdir -p "$BATS_TEST_TMPDIR/helm"
	ln -sf "$helm" "$BATS_TEST_TMPDIR/helm/helm"
	PATH=$BATS_TEST_TMPDIR/helm:$PATH
}

@test "a chart is built, and findings on values are shown in values.yaml" {
	need_helm
	tree chart
	lint --isolated --preset all .
	is "$status" 1
	holds "$output" "llm/values.yaml:9:15: warning: container \`llm\` is privileged"
	holds "$output" "llm/values.yaml:13:20: error: GPU pods use"
	holds "$output" "llm/values.yaml:5:8: warning: image"
	holds "$output" "llm/templates/train.yaml:7:5: error: \`restartPolicy\` is not set"
	holds "$output" "llm/charts/worker/templates/pod.yaml:6:13: error"
	holds "$stderr" "Rendered 1 chart with helm template v"
}

@test "a comment in a template applies there, for any values" {
	need_helm
	tree chart
	cat >llm/templates/eval.yaml <<-'END'
		---
		{{- range list "a" "b" }}
		---
		apiVersion: v1
		kind: Pod
		metadata: {name: {{ . }}}
		spec:
		  restartPolicy: Always
		  # gpugate: ignore[shm-mising] until=2026-01-31 -- small data
		  containers:
		  - name: eval
		    image: nvcr.io/nvidia/pytorch:24.05-py3
		    command: [torchrun, --nproc-per-node=2, eval.py]
		    # gpugate: ignore[gpu-limit-zero] -- none in the test cluster
		    resources: {limits: {nvidia.com/gpu: 2}}
		{{- end }}
	END
	lint --isolated .
	holds "$output" "llm/templates/eval.yaml:9:3: warning: the suppression expired on 2026-01-31"
	holds "$output" "llm/templates/eval.yaml:9:3: warning: unknown rule \`shm-mising\`"
	holds "$output" "llm/templates/eval.yaml:11:11: warning: container \`eval\` has"
	holds_not "$output" suppression-unused
	is "$(grep -c eval.yaml <<<"$output")" "$(grep eval.yaml <<<"$output" | sort -u | wc -l)"
}

@test "HelmReleases and Applications build their chart with their values" {
	need_helm
	need_kubectl
	tree gitops
	lint --isolated --preset all .
	holds "$output" "apps/base/release.yaml:19:24: error: GPU pods use"
	holds "$output" "apps/prod/values.yaml:8:21: warning: vLLM uses 5"
	holds "$output" "apps/argo/app.yaml:20:25: warning: vLLM uses 3"
	holds "$output" "charts/llm/values-argo.yaml:4:15: warning: container"
	holds "$stderr" "Rendered 2 charts with helm template v"
	holds "$stderr" "Rendered 1 kustomization with"
	run "$GPUGATE" lint --isolated .
	holds "$output" "; 44 GPUs requested"
	holds_not "$output" "chart values name"
}

@test "a chart with a missing dependency is skipped" {
	need_helm
	tree chart
	rm -r llm/charts
	lint --isolated .
	is "$status" 0
	holds "$stderr" "Not rendered (its dependency \`worker\` is not in charts/): llm/Chart.yaml"
}

@test "--fix fixes a base that nothing patches, and checks the new build" {
	need_kubectl
	tree remote
	printf '    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes:
  - name: dshm
    emptyDir: {}
' >>near/pod.yaml
	lint --isolated --select shm-not-memory-backed near
	holds "$output" near/pod.yaml:15:5
	run "$GPUGATE" lint --isolated --select shm-not-memory-backed near
	holds "$output" "1 fixable with --fix"
	run -1 "$GPUGATE" lint --isolated --diff near
	holds "$output" "+      medium: Memory"
	run -0 "$GPUGATE" lint --isolated --select shm-not-memory-backed --fix near
	holds "$output" "applied fixes in 1 file"
	holds "$output" "no findings"
	holds "$output" "Rendered 1 kustomization"
	is "$(grep -c 'medium: Memory' near/pod.yaml)" 1
}

@test "--fix skips a base that an overlay patches" {
	need_kubectl
	tree overlays
	cp -r . ../before
	run "$GPUGATE" lint --isolated --preset all --fix .
	diff -r . ../before
}

@test "a baseline contains a line of several overlays once" {
	need_kubectl
	tree overlays
	run "$GPUGATE" lint --isolated --write-baseline b.json .
	run -0 "$GPUGATE" lint --isolated --baseline b.json --fail-on info .
	holds "$output" "no findings"
}

@test "--add-ignore writes the comment where the finding is shown" {
	need_kubectl
	tree overlays
	run "$GPUGATE" lint --isolated --select gpu-privileged --add-ignore why .
	holds "$(cat overlays/prod/server.yaml)" '# gpugate: ignore[gpu-privileged] -- why'
	run -0 "$GPUGATE" lint --isolated --select gpu-privileged .
}

@test "any number of threads makes the same report" {
	need_kubectl
	tree overlays
	"$GPUGATE" lint --isolated --format concise -j 1 . >../1 2>&1 || :
	"$GPUGATE" lint --isolated --format concise -j 7 . >../7 2>&1 || :
	cmp ../1 ../7
}

@test "a build with endless output is stopped" {
	tree remote
	tool kustomize '[ "$1" = version ] && echo v9 && exit
while :; do echo "a: b # a comment that is as long as it needs to be to be quick"; done'
	run alone "$GPUGATE" lint --isolated --format concise near
	is "$status" 1
	holds "$output" "near/pod.yaml:6:13: error"
	holds "$output" "stopped: its output is too large): near/kustomization.yaml"
}

# The pipe `alive` ends when the last process closes it.
@test "a signal ends a build with all its processes, and leaves no folder" {
	tree remote
	mkdir ../tmp
	mkfifo ../alive ../never
	tool kustomize '[ "$1" = version ] && echo v9 && exit
exec 9>'"$BATS_TEST_TMPDIR"'/alive
(exec >&- 2>&-; read line <'"$BATS_TEST_TMPDIR"'/never) &
exec >&- 2>&-; echo building >&9; wait'
	for signal in 1 2 15; do
		TMPDIR=$BATS_TEST_TMPDIR/tmp PATH=$BATS_TEST_TMPDIR/bin \
			/usr/bin/env --default-signal "$GPUGATE" lint \
			--isolated near 3>&- &
		pid=$!
		exec 4<../alive
		read -r line <&4
		is "$line" building
		holds "$(ls ../tmp)" gpugate-
		kill "-$signal" $pid
		status=0
		wait $pid || status=$?
		is $status $((128 + signal))
		is "$(ls ../tmp)" ""
		read -r line <&4 && false
		exec 4<&-
	done
}

@test "paths are shown as they were named: absolute, through a link" {
	need_kubectl
	tree overlays
	lint --isolated "$PWD"
	holds "$output" "$PWD/base/train.yaml:9:15: warning"
	cd ..
	ln -s overlays link
	lint --isolated link/overlays
	holds "$output" "link/base/train.yaml:9:15: warning"
	holds "$output" "link/overlays/prod/server.yaml:12:23: warning"
	lint --isolated link/.
	holds "$output" "link/base/train.yaml:9:15: warning"
}

@test "the policy in an overlay's folder applies to its build" {
	need_kubectl
	tree overlays
	cat >overlays/prod/.gpugate.yaml <<-END
		apiVersion: gpugate.dev/v1
		kind: Policy
		rules:
		  gpu-privileged: off
	END
	run "$GPUGATE" lint --format concise .
	holds_not "$output" gpu-privileged
	holds "$output" priority-class-system-reserved
}

# of_chart LINK TARGET: writes a chart of a repository, with the link in its
# folder.
of_chart() {
	rm -rf repo
	unset GPUGATE_RENDER
	mkdir -p repo/.git
	cp -r "$BATS_TEST_DIRNAME/render/chart/." repo
	rm -f "repo/llm/$1"
	mkdir -p "$(dirname "repo/llm/$1")"
	ln -s "$2" "repo/llm/$1"
	cat >repo/llm/templates/leak.yaml <<-'END'
		apiVersion: batch/v1
		kind: Job
		metadata: {name: leak}
		spec: {template: {spec: {restartPolicy: Never, containers: [{
		  name: {{ .Files.Get "leak" | trim | quote }}, image: a:1,
		  securityContext: {privileged: true},
		  resources: {limits: {nvidia.com/gpu: 1}}}]}}}
	END
}

@test "a chart reads no file outside its repository through a link" {
	need_helm
	echo of-the-runner >outside
	mkdir elsewhere
	echo of-the-runner >elsewhere/leak
	echo '{leak: of-the-runner}' >outside.yaml
	while read -r link target; do
		of_chart "$link" "$target"
		for path in repo repo/llm; do
			lint --isolated $path
			holds_not "$output" of-the-runner
			holds "$stderr" \
				"Not rendered (it would read a file outside its repository: \`$link"
		done
	done <<-END
		leak $PWD/outside
		leak ../../outside
		files $PWD/elsewhere
		values.yaml ../../outside.yaml
		charts/worker/leak ../../../../outside
		templates/_x.tpl /etc/hostname
	END
}

@test "a chart reads files of its repository through links" {
	need_helm
	of_chart leak ../shared
	echo of-the-repository >repo/shared
	lint --isolated repo
	holds "$output" of-the-repository
	holds "$stderr" "Rendered 1 chart"
	rm -r repo/.git
	lint --isolated repo
	holds "$stderr" "Rendered 1 chart"
	run --separate-stderr env -C / "$GPUGATE" lint --format concise --isolated "$PWD/repo"
	holds "$stderr" "Not rendered (it would read a file outside its repository"
}

@test "a chart is the root of its repository" {
	need_helm
	of_chart leak ../shared
	rm repo/llm/leak
	mv repo/llm own
	mkdir own/.git
	lint --isolated own
	holds "$stderr" "Rendered 1 chart"
}

@test "a kustomization that is not built: the reason follows its warnings" {
	need_kubectl
	unset GPUGATE_RENDER
	mkdir base
	pod base/pod.yaml
	printf 'resources: [pod.yaml]\npatchesStrategicMerge: [patch.yaml]\n' \
		>base/kustomization.yaml
	printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: other}\n' \
		>base/patch.yaml
	lint --isolated base
	holds "$stderr" 'Not rendered (no matches for Id Pod'
}

@test "an installed chart gets no values from outside the repository" {
	need_helm
	unset GPUGATE_RENDER
	mkdir -p gitops/.git
	cp -r "$BATS_TEST_DIRNAME/render/gitops/." gitops
	echo '{leak: of-the-runner}' >outside.yaml
	ln -s ../../../outside.yaml gitops/apps/argo/out.yaml
	ln -s ../../../outside.yaml gitops/charts/llm/out.yaml
	for name in out.yaml ../../../outside.yaml; do # of the chart
		sed -i "s|values-argo.yaml|$name|" gitops/apps/argo/app.yaml
		lint --isolated gitops
		holds "$stderr" "it would read a file outside its repository"
		sed -i "s|$name|values-argo.yaml|" gitops/apps/argo/app.yaml
	done
}
