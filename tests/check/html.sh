#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Opens the pages of gpugate in headless Chromium: a report of more than 2,000
# findings, a report of few, the quota page and its map. Checks that a page
# sends no request and logs no message, has no problem for axe-core in light
# and dark, and that the filter, the keyboard, printing and a browser without
# scripts work.
# usage: html.sh BUILD [FOLDER]     FOLDER: keep screenshots there
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
shots=${2:+$(realpath "$2")}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate/browser
command -v npm >/dev/null || skip_all 'no npm'
need_program chromium
if ! [ -f "$cache/node_modules/axe-core/axe.min.js" ]; then
	mkdir -p "$cache"
	timeout 120 npm install --prefix "$cache" --no-audit --no-fund --silent \
		--ignore-scripts playwright-core@1 axe-core@4 \
		>"$work/log" 2>&1 || skip_all 'no network to install playwright-core'
fi

mkdir "$work/few"
cp -r deploy/examples/bad "$work/few/"
sed 's/^  name: llm-finetune/& # gpugate: ignore[quota-never-fits] -- raised soon/' \
	deploy/examples/bad/train.yaml >"$work/few/bad/train.yaml"
paths=(tests/rules/[a-c]*)
[ -d "$corpus" ] && paths+=("$corpus")
report() { # NAME ARGUMENTS...
	local name=$1
	shift
	"$gpugate" lint --isolated --no-ignore-vcs --preset all \
		--show-all --docs-url https://docs.example.com/rules \
		--format "html:$work/$name.html" "$@" 2>"$work/log"
	[ $? -le 1 ] || say_fail "$name: gpugate fails"
}
report many "${paths[@]}"
(cd "$work/few" && report few .)
cat >"$work/few/quota.yaml" <<-'END'
	apiVersion: v1
	kind: ResourceQuota
	metadata: {name: gpus, namespace: research}
	spec: {hard: {requests.nvidia.com/gpu: 1, requests.amd.com/gpu: 4}}
END
(cd "$work/few" && report quotas .)
"$gpugate" quota --isolated --format html "$work/few" \
	>"$work/quota.html" 2>"$work/log" || say_fail "quota --format html"
NODE_PATH=$cache/node_modules timeout 240 node "$tests/check/html_browser.js" \
	"$(command -v chromium)" "$work" "$shots" >"$work/out" 2>&1
status=$?
cat "$work/out"
[ $status -eq 0 ] || fail=$((fail + 1))
pass=$((pass + $(grep -c '^ok ' "$work/out")))
finish html
