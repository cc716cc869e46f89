#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the hooks with the real pre-commit, and the wheel from which they are
# installed with the real pip: without a network (in a namespace without one,
# if the kernel allows it), with a given executable, from source, and on a
# machine that cannot build. Prints the times of a first and of a later run.
# usage: precommit.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
venv=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate/precommit
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.com
export PYTHONDONTWRITEBYTECODE=1 PRE_COMMIT_COLOR=never
export PIP_DISABLE_PIP_VERSION_CHECK=1
unset CDPATH SKIP GPUGATE_BINARY

holds() { grep -qF -- "$2" "$1"; }
lacks() { ! grep -qF -- "$2" "$1"; }
now() { date +%s%N; }
took() { echo "$1: $((($(now) - $2) / 1000000)) ms"; }

# run COMMAND...: its exit status is in $status, its output in $work/log.
run() {
	"$@" >"$work/log" 2>&1 </dev/null
	status=$?
}

python_with "$venv" 'import pre_commit' pre-commit ||
	skip_all 'no network to install pre-commit'
pre_commit=$venv/bin/pre-commit
offline=
unshare -n true 2>/dev/null && offline='unshare -n'
[ -n "$offline" ] || skip 'no network namespace: only pip is kept offline'

# --- this tree as a repository with a tag -----------------------------------

hooks=$work/hooks
mkdir "$hooks"
(cd "$root" && git ls-files -z -co --exclude-standard |
	tar -c --null -T - --ignore-failed-read) | tar -x -C "$hooks"
git -C "$hooks" init -q -b main
git -C "$hooks" add .
git -C "$hooks" commit -q -m tree
run "$pre_commit" validate-manifest "$hooks/.pre-commit-hooks.yaml"
check 'the manifest of hooks' [ "$status" -eq 0 ]

# --- linted manifests -------------------------------------------------------

# pod FILE LINE: writes a Pod with this line in its spec, which decides whether
# the API server rejects it.
pod() {
	mkdir -p "$(dirname "$1")"
	printf '%s\n' 'apiVersion: v1' 'kind: Pod' \
		'metadata: {name: a, namespace: research}' 'spec:' "  $2" \
		'  containers: [{name: main, image: "registry.example.com/a:1"}]' >"$1"
}

user=$work/user
mkdir "$user"
cd "$user" || exit 1
git init -q -b main
pod 'jobs/bad one.yaml' 'priority: 5'
pod jobs/good.yml 'restartPolicy: Never'
cat >chart.yaml <<'EOF'
apiVersion: v1
kind: Pod
metadata:
  name: {{ include "chart.name" . }}
  labels: {{- include "chart.labels" . | nindent 4 }}
spec:
  priority: 5
  containers:
  {{- range .Values.containers }}
  - name: {{ .name }}
  {{- end }}
EOF
mkdir -p charts/train/templates .vscode
mv chart.yaml charts/train/templates/pod.yaml
printf '{{/* names */}}\n{{- define "chart.name" }}x{{ end }}\n' \
	>charts/train/templates/_helpers.yaml
printf '%s\n' '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b",' \
	'"namespace": "research"}, "spec": {"priority": 5, "containers":' \
	'[{"name": "main", "image": "registry.example.com/a:1"}]}}' >pod.json
printf 'on: push\njobs: {test: {priority: 5}}\n' >ci.yaml
printf '{\n  // a comment\n  "a": [1,],\n}\n' | tee tsconfig.json tsconfig.app.json \
	.eslintrc.json .devcontainer.json >.vscode/settings.json
git add . && git commit -q -m one

# --- try-repo: cold, with a given executable, without a network -------------

export PRE_COMMIT_HOME=$work/cache
begin=$(now)
# shellcheck disable=SC2086
run env PIP_NO_INDEX=1 GPUGATE_BINARY="$gpugate" $offline \
	"$pre_commit" try-repo "$hooks" gpugate --all-files
took 'cold, given executable' "$begin"
check 'bad manifests fail the hook' [ "$status" -eq 1 ]
check 'YAML' holds "$work/log" 'jobs/bad one.yaml:5:'
check 'JSON' holds "$work/log" pod.json:2:
check 'nothing else' holds "$work/log" '2 errors, 0 warnings'
check 'templates are counted' holds "$work/log" '2 skipped: template'
check 'no JSON with comments' lacks "$work/log" invalid-syntax

# --- a configuration as users write it --------------------------------------

# config DOCUMENT: prints its first example, with this clone, without comments
config() {
	awk '/^```/ { on = 0 } on { print } /^```yaml$/ && !n++ { on = 1 }' \
		"$root/$1" | sed "s|\.\./gpugate|$hooks|; s/ *#.*//"
}
config README.md >.pre-commit-config.yaml
config deploy/ci/README.md >"$work/ci.yaml"
check 'both pages show it' cmp .pre-commit-config.yaml "$work/ci.yaml"
run "$pre_commit" autoupdate --bleeding-edge
check 'autoupdate pins the commit' holds .pre-commit-config.yaml \
	"rev: $(git -C "$hooks" rev-parse HEAD)"
git add . && git commit -q -m two
# shellcheck disable=SC2086
run env PIP_NO_INDEX=1 GPUGATE_BINARY="$gpugate" $offline \
	"$pre_commit" install --install-hooks
check 'install' [ "$status" -eq 0 ]
begin=$(now)
run "$pre_commit" run --all-files
took 'warm, 5 files' "$begin"
check 'warm: the same errors' holds "$work/log" '2 errors, 0 warnings'
echo '# changed' >>'jobs/bad one.yaml'
run git commit -q -a -m bad
check 'a bad commit is refused' [ "$status" -ne 0 ]
echo '# changed' >>jobs/good.yml
git restore 'jobs/bad one.yaml' 2>/dev/null || git checkout -q 'jobs/bad one.yaml'
git reset -q
git add jobs/good.yml charts
run git commit -q -m 'good, beside a bad file'
check 'a good commit passes' [ "$status" -eq 0 ]
echo '  # changed' >>charts/train/templates/pod.yaml
run git commit -q -a -m template
check 'a template alone passes' [ "$status" -eq 0 ]
printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' \
	'exclude: ["jobs/bad*"]' >.gpugate.yaml
git add .gpugate.yaml
run "$pre_commit" run --all-files
check 'exclude holds for named files' lacks "$work/log" 'bad one'
git rm -q -f .gpugate.yaml

# --- gpugate-fix ------------------------------------------------------------

if "$gpugate" lint --help | grep -- --fix >"$work/log"; then
	fixed=$root/deploy/examples/bad/train.yaml
	cp "$fixed" train.yaml
	git add train.yaml
	sed 's/id: gpugate$/id: gpugate-fix/' .pre-commit-config.yaml \
		>"$work/fix.yaml"
	run "$pre_commit" run -c "$work/fix.yaml" --files train.yaml
	check 'fix fails once' [ "$status" -ne 0 ]
	check 'fix changes the file' holds "$work/log" 'files were modified'
	check 'fix mounts /dev/shm' holds train.yaml /dev/shm
	run "$pre_commit" run -c "$work/fix.yaml" --files train.yaml
	check 'fix has nothing left to do' lacks "$work/log" 'files were modified'
	cp charts/train/templates/pod.yaml "$work/template"
	run "$pre_commit" run -c "$work/fix.yaml" --files \
		charts/train/templates/pod.yaml
	check 'fix passes a template' [ "$status" -eq 0 ]
	check 'fix leaves a template' cmp charts/train/templates/pod.yaml \
		"$work/template"
	git rm -q -f train.yaml
else
	skip 'gpugate lint has no --fix yet: gpugate-fix is not tried'
fi

# --- gpugate-system ---------------------------------------------------------

mkdir "$work/bin"
ln -s "$gpugate" "$work/bin/gpugate"
sed 's/id: gpugate$/id: gpugate-system/' .pre-commit-config.yaml \
	>"$work/system.yaml"
run env PATH="$work/bin:$PATH" "$pre_commit" run -c "$work/system.yaml" \
	--all-files
check 'the installed one' holds "$work/log" '2 errors, 0 warnings'

# --- repaired by hand: everything passes ------------------------------------

sed -i 's/  priority: 5/  restartPolicy: Never/' 'jobs/bad one.yaml'
sed -i 's/"priority": 5,//' pod.json
run "$pre_commit" run --all-files
check 'repaired' [ "$status" -eq 0 ]
mkdir many
for i in $(seq 1000); do cp jobs/good.yml "many/$i.yaml"; done
git add many
begin=$(now)
run "$pre_commit" run --all-files
took 'warm, 1005 files' "$begin"
check 'many files' [ "$status" -eq 0 ]
begin=$(now)
run "$pre_commit" run --files jobs/good.yml
took 'warm, 1 file' "$begin"
check 'one file' [ "$status" -eq 0 ]

# --- wheels -----------------------------------------------------------------

wheel=$(GPUGATE_BINARY=$gpugate python3 "$hooks/deploy/python/gpugate_build.py" \
	wheel "$work/wheels")
check 'the wheel' python3 "$root/tests/check/wheel.py" "$wheel" "$gpugate"
GPUGATE_BINARY=$gpugate python3 "$hooks/deploy/python/gpugate_build.py" \
	wheel "$work/again" >/dev/null
check 'the same bytes again' cmp "$wheel" "$work/again/$(basename "$wheel")"

# pip ARGUMENTS...: runs pip in a fresh environment, without an index and a
# network.
pip() {
	rm -rf "$work/venv"
	python3 -m venv "$work/venv"
	# shellcheck disable=SC2086
	run $offline "$work/venv/bin/pip" install --no-index "$@"
}
installed() {
	cmp "$work/venv/bin/gpugate" "$gpugate" &&
		"$work/venv/bin/gpugate" version
}
pip "$wheel"
check 'pip install WHEEL' installed
run "$work/venv/bin/pip" uninstall -y gpugate
check 'pip uninstall' [ ! -e "$work/venv/bin/gpugate" ]
export GPUGATE_BINARY=$gpugate
pip --no-build-isolation "$hooks"
check 'pip install .' installed
pip "$hooks"
check 'with build isolation' installed
pip --no-build-isolation -e "$hooks"
check 'editable' installed
sdist=$(python3 "$hooks/deploy/python/gpugate_build.py" sdist "$work/wheels")
pip "$sdist"
check 'from the source distribution' installed
check 'the tree stays clean' [ -z "$(git -C "$hooks" status --porcelain)" ]

# --- failures and their messages --------------------------------------------

GPUGATE_BINARY=/nonexistent pip "$hooks"
check 'an absent executable' holds "$work/log" \
	'GPUGATE_BINARY=/nonexistent: No such file'
GPUGATE_BINARY=$hooks/Makefile pip "$hooks"
check 'no executable' holds "$work/log" 'is not an executable'
printf '\267\0' >"$work/machine" # EM_AARCH64; replaced below on such a machine
[ "$(uname -m)" = aarch64 ] && printf '\076\0' >"$work/machine"
cp "$gpugate" "$work/foreign"
dd if="$work/machine" of="$work/foreign" bs=1 seek=18 conv=notrunc 2>/dev/null
GPUGATE_BINARY=$work/foreign pip "$hooks"
check 'another machine' holds "$work/log" 'does not run on this machine'
GPUGATE_BINARY=$(command -v git) pip "$hooks"
check 'another program' holds "$work/log" 'is not gpugate'
pip "$(GPUGATE_BINARY=$work/foreign python3 \
	"$hooks/deploy/python/gpugate_build.py" wheel "$work/foreign-wheel")"
check 'the wheel of another machine' holds "$work/log" 'not a supported wheel'
unset GPUGATE_BINARY
rm -rf "$work/venv"
python3 -m venv "$work/venv"
run env PATH="$work/venv/bin" "$work/venv/bin/pip" install --no-index "$hooks"
check 'no compiler: fails' [ "$status" -ne 0 ]
check 'no compiler: what to install' grep -qE 'apt-get|libjansson-dev' "$work/log"
check 'no compiler: no traceback' lacks "$work/log" Traceback

# --- from source ------------------------------------------------------------

if dpkg -s libyaml-dev libpcre2-dev libjansson-dev >/dev/null 2>&1; then
	begin=$(now)
	# shellcheck disable=SC2086
	run env PIP_NO_INDEX=1 $offline "$pre_commit" try-repo "$hooks" gpugate \
		--files jobs/good.yml
	took 'cold, from source' "$begin"
	check 'from source' [ "$status" -eq 0 ]
	check 'from source it lints' holds "$work/log" Passed
else
	skip 'no development files: the hook is not built from source'
fi
finish pre-commit
