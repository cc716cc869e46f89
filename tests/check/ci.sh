#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the CI jobs as a runner would: the step of the GitHub action with files
# for outputs and summary, and the lines of the GitLab job with inputs filled
# in. actionlint checks the action, the workflows and the examples of the
# documentation. Python reads the reports.
# usage: ci.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.com
export PYTHONDONTWRITEBYTECODE=1
unset CDPATH GITHUB_ACTIONS CI

holds() { grep -qF -- "$2" "$1"; }
lacks() { ! grep -qF -- "$2" "$1"; }
reports() { ! "$@"; }
ci() { "$python" "$root/tests/check/ci.py" "$@"; }

need_pyyaml # reads the CI files

# pod FILE PRIORITY: writes a Pod with an error, because it sets a priority.
pod() {
	mkdir -p "$(dirname "$1")"
	printf '%s\n' 'apiVersion: v1' 'kind: Pod' \
		'metadata: {name: a, namespace: research}' 'spec:' \
		"  priority: $2 # ##[error]y" '  containers:' \
		'  - {name: main, image: "registry.example.com/a:1"}' >"$1"
}

# Makes a project with one error since its first commit and one in the last.
project() {
	rm -rf "$work/project"
	mkdir "$work/project"
	cd "$work/project" || exit 1
	git init -q -b main
	pod old.yaml 5
	git add . && git commit -q -m one
	pod jobs/new.yaml 6
	git add . && git commit -q -m two
}

# --- GitHub -----------------------------------------------------------------

# github [INPUT=VALUE...]: runs the step of the action; its exit status is in
# $status.
github() {
	rm -rf "$work/runner"
	mkdir "$work/runner"
	: >"$work/outputs"
	: >"$work/summary"
	ci step "$action/action.yml" "binary=$gpugate" "$@" \
		>"$work/step.sh" 2>"$work/log"
	RUNNER_TEMP="$work/runner" GITHUB_ACTION_PATH="$action" \
		GITHUB_OUTPUT="$work/outputs" GITHUB_STEP_SUMMARY="$work/summary" \
		sh -e "$work/step.sh" >>"$work/log" 2>&1
	status=$?
}
sarif() { sed -n 's/^sarif-file=//p' "$work/outputs"; }

action=$root
project
github
check 'findings fail the step' [ "$status" -eq 1 ]
check 'all are counted' holds "$work/outputs" 'findings=2'
check 'annotation' holds "$work/log" '::error file=jobs/new.yaml,line=5'
check 'summary' holds "$work/summary" '| error | priority-integer-set |'
check 'excerpt in the log' holds "$work/log" '5 |   priority: 6'
check 'SARIF' ci sarif "$(sarif)" 2
check 'the log has no workflow commands of a manifest' ci log "$work/log"
check 'the workspace stays as it was' [ -z "$(git status --porcelain)" ]

github since=HEAD^1
check 'since counts the change' holds "$work/outputs" 'findings=1'
check 'since leaves the rest' lacks "$work/log" old.yaml
github fail-on=never sarif=out.sarif paths='jobs
old.yaml'
check 'fail-on never' [ "$status" -eq 0 ]
check 'SARIF goes to the named file' ci sarif out.sarif 2
check 'the output sarif-file has its name' holds "$work/outputs" sarif-file=out.sarif
github paths=jobs args='--ignore priority-integer-set'
check 'args turn a rule off' [ "$status" -eq 0 ]
check 'no findings are counted' holds "$work/outputs" findings=0
printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' \
	'rules: {priority-integer-set: off}' >"$work/policy.yaml"
github config="$work/policy.yaml"
check 'config turns a rule off' [ "$status" -eq 0 ]
github paths=--fail-on
check 'paths are no options' [ "$status" -eq 2 ]
github paths='*'
check 'paths are no patterns' [ "$status" -eq 2 ]
github args=--no-such-option
check 'wrong usage' [ "$status" -eq 2 ]
check 'an annotation shows the error' holds "$work/log" '::error title=gpugate::'
check 'wrong usage writes no outputs' [ ! -s "$work/outputs" ]
github binary=/nonexistent
check 'a missing executable' [ "$status" -eq 2 ]
github since=--output=x
check 'a revision is no option' [ "$status" -eq 2 ]

# turn_off BRANCH LINE: commits a policy with this line on a new branch. A
# change may turn the check off in its own policy, unless `policy` names the one
# of the base or another file.
turn_off() {
	git checkout -q -b "$1"
	printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' "$2" >.gpugate.yaml
	git add . && git commit -q -m "$1"
}
git remote add origin "file://$work/project"
turn_off off 'rules: {all: off}'
github
check 'a change can turn the check off' holds "$work/outputs" 'findings=0'
export GITHUB_BASE_REF=main
for text in 'rules: {all: off}' 'exclude: ["**"]'; do
	git checkout -q main
	git branch -q -D off
	turn_off off "$text"
	github policy=base
	check "not with policy: base: $text" holds "$work/outputs" 'findings=2'
	check 'the change is reported' holds "$work/log" 'alters the configuration'
	check 'also in the summary' holds "$work/summary" 'alters the configuration'
	printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' \
		'rules: {job-ttl-missing: off}' >"$work/floor.yaml"
	github policy="$work/floor.yaml"
	check "not with a policy file: $text" holds "$work/outputs" 'findings=2'
	check 'this is reported, too' holds "$work/log" 'alters the configuration'
done
check 'the workspace of a change stays as it was' [ -z "$(git status --porcelain)" ]
github policy=/nonexistent
check 'a missing policy' [ "$status" -eq 2 ]
github policy=base config="$work/policy.yaml"
check 'two policies' [ "$status" -eq 2 ]
GITHUB_BASE_REF=no-such-branch github policy=base
check 'a missing base branch' [ "$status" -eq 2 ]
git checkout -q main
printf '%s\n' 'apiVersion: gpugate.dev/v1' 'kind: Policy' \
	'exclude: [old.yaml]' >.gpugate.yaml
git add . && git commit -q -m policy
git checkout -q -b change
git commit -q --allow-empty -m change
github policy=base
check 'the policy of the base counts' holds "$work/outputs" 'findings=1'
check 'an unchanged policy is not reported' lacks "$work/log" 'alters the'
unset GITHUB_BASE_REF
github policy=base
check 'without a pull request the current policy applies' holds "$work/outputs" 'findings=1'
project

# A shallow clone, as actions/checkout makes it: the revision is fetched.
first=$(git rev-parse HEAD^1)
git branch release "$first"
git clone -q --depth 1 "file://$work/project" "$work/shallow"
cd "$work/shallow" || exit 1
github since=no-such-branch
check 'an unknown branch' [ "$status" -eq 2 ]
check 'the error says how to fetch it' holds "$work/log" 'clone with more depth'
github since=origin/release
check 'a branch is fetched' holds "$work/outputs" 'findings=1'
if [ "$(id -u)" = 0 ]; then
	chown -R 65534 "$work/shallow"
	github since="$first"
	check 'a workspace of another user' holds "$work/outputs" 'findings=1'
else
	skip 'not root: no workspace of another user'
fi

# --- GitLab -----------------------------------------------------------------

# gitlab [INPUT=VALUE...]: runs the lines of the job; the exit status is in
# $status.
gitlab() {
	rm -f gl-code-quality-report.json gpugate-junit.xml
	ci job "$root/deploy/ci/gitlab.yml" "source=$work/source" \
		"binary=$gpugate" "$@" >"$work/job.sh" 2>"$work/log"
	sh -e "$work/job.sh" >>"$work/log" 2>&1
	status=$?
}
quality() { ci quality gl-code-quality-report.json "$1"; }

# The repository that the job fetches: the scripts of this tree as a commit.
mkdir -p "$work/source/deploy"
cp -r "$root/deploy/ci" "$work/source/deploy/"
git -C "$work/source" init -q -b main
git -C "$work/source" add .
git -C "$work/source" commit -q -m ci
project
first=$(git rev-parse HEAD^1)
gitlab
check 'findings fail the job' [ "$status" -eq 1 ]
check 'artifacts' ci artifacts "$root/deploy/ci/gitlab.yml"
check 'code quality' quality 2
check 'JUnit' ci junit gpugate-junit.xml 2
sh -e "$work/job.sh" >"$work/log" 2>&1
check 'reports of an earlier job are no manifests' quality 2
gitlab paths=jobs fail-on=never
check 'fail-on' [ "$status" -eq 0 ]
check 'paths' quality 1
export CI_MERGE_REQUEST_DIFF_BASE_SHA=$first
gitlab "since=\$CI_MERGE_REQUEST_DIFF_BASE_SHA"
check 'since' quality 1
unset CI_MERGE_REQUEST_DIFF_BASE_SHA
gitlab "since=\$CI_MERGE_REQUEST_DIFF_BASE_SHA"
check 'no merge request: all' quality 2
gitlab config="$work/policy.yaml"
check 'config' quality 0
git remote add origin "file://$work/project"
turn_off off 'rules: {all: off}'
export CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main
gitlab policy=base
check 'policy: base' quality 2
check 'a changed policy is reported' holds "$work/log" 'alters the configuration'
unset CI_MERGE_REQUEST_TARGET_BRANCH_NAME
gitlab policy=base
check 'policy: base without a merge request' quality 0
git checkout -q main
gitlab ref=no-such-tag
check 'an unknown version' [ "$status" -gt 2 ]
check 'an unknown version makes no report' [ ! -e gl-code-quality-report.json ]
gitlab args=--no-such-option
check 'wrong usage' [ "$status" -eq 2 ]

# --- the executable of the action --------------------------------------------

# get SOURCE: runs the action's first step; its outputs are in $work/outputs.
get() {
	: >"$work/outputs"
	XDG_CACHE_HOME=$work/kept GITHUB_OUTPUT=$work/outputs \
		GITHUB_SERVER_URL=file://$work/server \
		sh "$1/deploy/ci/get.sh" >"$work/log" 2>&1
	status=$?
}
folder() { sed -n 's/^folder=//p' "$work/outputs"; }

# source_of FOLDER: copies the files of this source that the step reads.
source_of() {
	mkdir -p "$1/deploy"
	cp -r "$root/deploy/ci" "$1/deploy/"
	cp "$root/Makefile" "$1/"
}
tag=$work/_actions/acme/gpugate/v1
branch=$work/_actions/acme/gpugate/main
source_of "$tag"
source_of "$branch"
version=$(sed -n 's/^VERSION := //p' "$root/Makefile")
system=linux-$(dpkg --print-architecture)
files=$work/server/acme/gpugate/releases/download/v$version
name=gpugate-$version-$system

get "$tag"
check 'no release yet: the key of the cache' holds "$work/outputs" key=gpugate-Linux
key=$(sed -n 's/^key=//p' "$work/outputs")
get "$tag"
check 'the same source has the same key' holds "$work/outputs" "key=$key"
echo '# changed' >>"$tag/deploy/ci/gitlab.sh"
get "$tag"
check 'a changed source has another key' lacks "$work/outputs" "key=$key"
mkdir -p "$files" "$work/pack/$name"
cp "$gpugate" "$work/pack/$name/"
tar -C "$work/pack" -czf "$files/$name.tar.gz" "$name"
(cd "$files" && sha256sum "$name.tar.gz" >SHA256SUMS)
get "$branch"
check 'a branch is built, so it has a key of the cache' holds "$work/outputs" key=
get "$tag"
check 'a tag has the executable of the release' cmp "$(folder)/gpugate" "$gpugate"
check 'a released executable needs no cache' lacks "$work/outputs" key=
GPUGATE_FOLDER=$(folder) github binary=
check 'the released executable lints' holds "$work/outputs" 'findings=2'
get "$tag"
check 'is fetched once' [ "$status" -eq 0 ]
rm -rf "$work/kept"
echo x >>"$files/$name.tar.gz"
get "$tag"
check 'an executable with another checksum is an error' [ "$status" -eq 2 ]
check 'the checksum is reported' holds "$work/log" 'not what SHA256SUMS says'

# --- from source ------------------------------------------------------------

# The action builds the program if no executable is named.
if dpkg -s libyaml-dev libpcre2-dev libjansson-dev >/dev/null 2>&1; then
	action=$work/action
	mkdir "$action"
	(cd "$root" && git ls-files -z -co --exclude-standard |
		tar -c --null -T - --ignore-failed-read) | tar -x -C "$action"
	begin=$(date +%s%N)
	mkdir "$work/cached"
	GPUGATE_FOLDER=$work/cached github binary=
	check 'built from source' holds "$work/outputs" 'findings=2'
	check 'the built executable is kept for the cache' [ -x "$work/cached/gpugate" ]
	echo "action from source: $((($(date +%s%N) - begin) / 1000000)) ms"
	begin=$(date +%s%N)
	github binary=
	check 'built once' holds "$work/outputs" 'findings=2'
	echo "action, second step: $((($(date +%s%N) - begin) / 1000000)) ms"
	action=$root
else
	skip 'no development files: the action is not built from source'
fi

# --- actionlint -------------------------------------------------------------

actionlint=$(command -v actionlint || echo "$cache/bin/actionlint")
if [ ! -x "$actionlint" ] && command -v go >/dev/null; then
	GOBIN=$cache/bin GOFLAGS=-mod=mod go install \
		github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 \
		>"$work/log" 2>&1
fi
if [ ! -x "$actionlint" ]; then
	skip 'neither actionlint nor a Go that can install it'
	finish ci
fi
# actionlint reads an action if a workflow of the same project uses it.
workflows=$work/lint/.github/workflows
mkdir -p "$workflows"
git -C "$work/lint" init -q
cp "$root"/.github/workflows/*.yml "$workflows"
cp "$root/action.yml" "$work/lint"
cd "$work/lint" || exit 1
mkdir "$work/examples"
check 'examples' ci examples "$root/deploy/ci/README.md" "$work/examples"
for file in "$work"/examples/*; do
	sed 's|uses: OWNER/gpugate@.*|uses: ./|' "$file" \
		>"$workflows/$(basename "$file")"
done
for file in "$workflows"/*; do
	check "$(basename "$file")" "$actionlint" -no-color "$file"
done
check 'the examples use the action' holds "$workflows/example-1.yml" 'uses: ./'
sed 's|fail-on:|fail-at:|' "$workflows/example-1.yml" >"$work/wrong.yml"
mv "$work/wrong.yml" "$workflows"
check 'a wrong input is noticed' reports "$actionlint" "$workflows/wrong.yml"
finish ci
