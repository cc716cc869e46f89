#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the objects of `--format openreports` by the schemas of the real
# CustomResourceDefinitions, which are in the Go module of the API. Types,
# enumerations and required fields must be right, and there must be no field
# that a server would drop. Then creates all of them on a real API server.
# usage: openreports.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
module=github.com/openreports/reports-api@v0.2.1
command -v go >/dev/null || skip_all 'no Go'
need_pyyaml
mkdir -p "$work/go"
folder=$(cd "$work/go" && GOFLAGS=-mod=mod timeout 120 \
	go mod download -json "$module" 2>/dev/null |
	sed -n 's/^.*"Dir": "\(.*\)",*$/\1/p')
[ -d "$folder/config/crd" ] || skip_all "no network to fetch $module"

# against NAME ARGUMENTS...: lints with the arguments and validates the report
# against the definitions
against() {
	local name=$1
	shift
	"$gpugate" lint --isolated --no-ignore-vcs --preset all --fail-on warning \
		--format openreports "$@" >"$work/$name.json" 2>"$work/log"
	[ $? -le 1 ] || say_fail "$name: gpugate fails"
	check "$name" "$python" "$tests/check/openreports.py" \
		"$folder/config/crd" "$work/$name.json"
	cat "$work/check.log"
}
against rules --docs-url https://docs.example.com/rules tests/rules
[ -d "$corpus" ] && against corpus "$corpus"
"$build/tests/tools/report_dump" openreports 4 60 hostile >"$work/hostile.json"
check hostile "$python" "$tests/check/openreports.py" "$folder/config/crd" \
	"$work/hostile.json"
# A violation of the schema must be detected.
sed 's/"severity":"high"/"severity":"error"/' "$work/rules.json" \
	>"$work/broken.json"
check 'a wrong severity is seen' sh -c '! "$@"' sh "$python" \
	"$tests/check/openreports.py" "$folder/config/crd" "$work/broken.json"
sed 's/"scored"/"score"/' "$work/rules.json" >"$work/broken.json"
check 'an unknown field is seen' sh -c '! "$@"' sh "$python" \
	"$tests/check/openreports.py" "$folder/config/crd" "$work/broken.json"
[ "$fail" -eq 0 ] || finish openreports

# shellcheck disable=SC2119
need_control_plane
kube apply -f "$folder/config/crd" >"$work/log" 2>&1 ||
	say_fail 'the server takes the definitions'
control_plane_until 30 kube get reports,clusterreports -A >/dev/null 2>&1
# creates every namespace of the objects, then the objects; an unknown field is
# an error
# shellcheck disable=SC2317
taken() { # NAME
	python3 -c 'import json, sys
for item in json.load(open(sys.argv[1]))["items"]:
	if "namespace" in item["metadata"]:
		print("---\napiVersion: v1\nkind: Namespace\nmetadata: {name: %s}" %
		      item["metadata"]["namespace"])' "$work/$1.json" |
		kube apply --server-side -f - >/dev/null &&
		kube apply --server-side --validate=strict -f "$work/$1.json"
}
check 'a server takes the reports of the rules' taken rules
[ -d "$corpus" ] && check 'and of the corpus' taken corpus
check 'and of hostile texts' taken hostile
# As in lint/docs/README.md: delete the old reports, and apply new ones from a
# pipe.
# shellcheck disable=SC2317
renewed() {
	kube delete reports,clusterreports -A -l app.kubernetes.io/managed-by=gpugate \
		>/dev/null && [ -z "$(kube get reports,clusterreports -A -o name)" ] &&
		{ kube create namespace serving || :; } >/dev/null 2>&1 &&
		{ kube create namespace research || :; } >/dev/null 2>&1 &&
		"$gpugate" lint --isolated --fail-on never --format openreports \
			deploy/examples/bad | kube apply --server-side -f - &&
		[ -n "$(kube get reports -A -o name)" ]
}
check 'they are deleted, and renewed' renewed
finish openreports
