#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the linter and the floors (floor.c) in the same run. Only ratios
# are compared, because times depend on the machine. Other tools (kubeconform,
# conftest, gator, kyverno, kube-score) are timed as well if they are on PATH or
# in build/peers. The webhook comes last (webhook.sh).
set -eu
build=$1
here=$(dirname "$0")
corpus=${GPUGATE_SHARED:-../shared}/corpus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Measures a copy of the executable, because the linker writes its output in random
# order, and the kernel takes 100 us more to map such a file. Users have a copy.
gpugate=$work/gpugate
cp "$build/gpugate" "$gpugate"
PATH=$PWD/$build/peers:$PATH
cc -O2 -static -o "$work/floor" "$here/floor.c" -lyaml
cc -O2 -static -o "$work/times" "$here/times.c"
echo 'int main(void){return 0;}' >"$work/bare.c"
cc -O2 -static -o "$work/bare" "$work/bare.c"
lint="$gpugate lint --isolated --no-ignore-vcs --fail-on never --format json"

# rows N NAME COMMAND... [-- NAME COMMAND...]: runs each command N times in turn,
# prints a row for each, and stores its least wall and CPU time in T[NAME] and
# C[NAME]
declare -A T C
rows() {
	local n=$1 names=() commands=() expect=1 word wall busy kb i=0
	shift
	for word; do
		if [ $expect = 1 ]; then
			names+=("$word") expect=0
		else
			commands+=("$word")
			[ "$word" != -- ] || expect=1
		fi
	done
	while read -r wall busy kb; do
		T[${names[i]}]=$wall C[${names[i]}]=$busy
		printf '  %-34s %10s us wall %10s us CPU %8s KB\n' \
			"${names[i]}" "$wall" "$busy" "$kb"
		i=$((i + 1))
	done < <("$work/times" "$n" "${commands[@]}")
}
ratio() { # TEXT VALUE FLOOR AIM
	awk -v t="$1" -v a="$2" -v b="$3" -v aim="$4" 'BEGIN {
		printf "  => %-46s %6.2f (aim <= %s) %s\n", t, a / b, aim,
			a / b <= aim ? "ok" : "MISSED" }'
}

echo 'one file (best of 200):'
rows 200 bare "$work/bare" -- \
	one-file $lint "$here/../../deploy/examples/bad/train.yaml"
ratio 'one file / bare static executable' "${T[one-file]}" "${T[bare]}" 2

echo "rules of one's own, 4,000 workloads (best of 20):"
for _ in $(seq 4000); do
	cat "$here/../../deploy/examples/bad/train.yaml"
	echo ---
done >"$work/workloads.yaml"
for n in 1 1000; do
	mkdir "$work/custom-$n"
	printf 'apiVersion: gpugate.dev/v1\nkind: Policy\ncustom: [r.yaml]\n' \
		>"$work/custom-$n/p.yaml"
	{
		printf 'apiVersion: gpugate.dev/v1\nkind: Rules\nrules:\n'
		for i in $(seq "$n"); do
			printf -- '- name: rule-%d\n  summary: s\n' "$i"
			[ "$i" = 1 ] || printf '  match: {kinds: [Kind%d]}\n' "$i"
			echo '  assert: has(object.metadata.name)'
		done
	} >"$work/custom-$n/r.yaml"
done
own="$gpugate lint --no-ignore-vcs --fail-on never --format json -j 1"
rows 20 custom-1 $own --config "$work/custom-1/p.yaml" "$work/workloads.yaml" -- \
	custom-1000 $own --config "$work/custom-1000/p.yaml" "$work/workloads.yaml"
ratio '1,000 rules, 999 of other kinds / 1' "${C[custom-1000]}" "${C[custom-1]}" 1.3

"$here/cel.sh" "$build"

[ -d "$corpus" ] || {
	echo "skip: $corpus is absent"
	"$here/webhook.sh" "$build"
	exit 0
}
folder() { # NAME FOLDER RUNS
	rows "$3" "$1-read" "$work/floor" read "$2" -- \
		"$1-events" "$work/floor" events "$2" -- \
		"$1-lint" $lint -j 2 "$2" -- "$1-lint-j1" $lint -j 1 "$2"
	ratio "$1: wall / (walk + read + libyaml events) / 2" \
		"${T[$1-lint]}" "$(awk -v e="${T[$1-events]}" 'BEGIN{print e/2}')" 1.3
	ratio "$1: CPU on one core / floor" "${C[$1-lint-j1]}" \
		"${C[$1-events]}" 1.3
}
echo 'the corpus, 850 files (best of 30):'
folder corpus "$corpus" 30
for i in 1 2 3 4 5 6 7; do
	mkdir -p "$work/seven/$i"
	cp -r "$corpus"/. "$work/seven/$i/"
done
echo '5,950 files, the corpus seven times (best of 9):'
folder seven "$work/seven" 9
if [ "${BENCH_LARGE:-1}" = 1 ]; then
	for i in $(seq 17); do cp -r "$work/seven" "$work/many$i"; done
	mkdir "$work/many"
	mv "$work"/many[0-9]* "$work/many/"
	echo 'linear? 101,150 files (best of 2):'
	rows 2 many-lint $lint -j 2 "$work/many"
	ratio '101,150 files / 17 x 5,950 files' "${T[many-lint]}" \
		"$(awk -v e="${T[seven-lint]}" 'BEGIN{print e*17}')" 1.05
fi
echo 'peers on the corpus (best of 3), where present:'
has() {
	command -v "$1" >/dev/null && return 0
	echo "skip: $1 is not on PATH (make peers)"
	return 1
}
peer() { # NAME LINT-ROW COMMAND...
	local name=$1 lint_row=$2
	shift 2
	rows 3 "$name" "$@"
	ratio "gpugate / $name" "${T[$lint_row]}" "${T[$name]}" 0.1
}
has kubeconform && peer kubeconform corpus-lint kubeconform -n 2 -skip '' \
	-ignore-missing-schemas \
	-schema-location "$work/none/{{.ResourceKind}}.json" "$corpus"
if has conftest; then
	cat >"$work/p.rego" <<-'END'
	package main
	deny[msg] { input.kind == "Pod"; not input.spec.restartPolicy; msg = "x" }
	END
	peer conftest corpus-lint conftest test --rego-version v0 \
		-p "$work/p.rego" "$corpus"
fi
# These tools end at the first object that they cannot decode, so they get a folder
# of one repository with only native objects.
some=$corpus/ContainerSolutions__kubernetes-examples
rows 30 some-lint $lint -j 2 "$some"
if has gator; then
	cat >"$work/gator.yaml" <<-'END'
	apiVersion: templates.gatekeeper.sh/v1
	kind: ConstraintTemplate
	metadata: {name: restarts}
	spec:
	  crd: {spec: {names: {kind: Restarts}}}
	  targets:
	  - target: admission.k8s.gatekeeper.sh
	    rego: |
	      package restarts
	      violation[{"msg": "x"}] { input.review.object.kind == "Pod"; not input.review.object.spec.restartPolicy }
	---
	apiVersion: constraints.gatekeeper.sh/v1beta1
	kind: Restarts
	metadata: {name: restarts}
	END
	peer gator some-lint gator test -f "$work/gator.yaml" -f "$some"
fi
if has kyverno; then
	cat >"$work/kyverno.yaml" <<-'END'
	apiVersion: kyverno.io/v1
	kind: ClusterPolicy
	metadata: {name: restarts}
	spec:
	  background: false
	  rules:
	  - name: restarts
	    match: {any: [{resources: {kinds: [Pod]}}]}
	    validate:
	      failureAction: Audit
	      message: x
	      pattern: {spec: {restartPolicy: "?*"}}
	END
	peer kyverno some-lint kyverno apply "$work/kyverno.yaml" \
		$(find "$some" -name '*.yaml' | sed 's/^/--resource=/')
fi
has kube-score && peer kube-score some-lint kube-score score \
	$(find "$some" -name '*.yaml')
"$here/webhook.sh" "$build"
