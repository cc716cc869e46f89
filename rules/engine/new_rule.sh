#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write the skeleton of a rule: a file that compiles and a folder of tests that
# pass, for a made-up condition. tests/README.md describes the next steps.
# usage: new_rule.sh NAME CATEGORY      (make rule NAME=... CATEGORY=...)
set -eu
name=${1-} category=${2-}

die() {
	echo "make rule: $1" >&2
	echo "usage: make rule NAME=kebab-case CATEGORY=$(ls rules/catalog |
		tr '\n' '|' | sed 's/|$//')" >&2
	exit 2
}

is_word() {
	printf '%s\n' "$1" | grep -qxE '[a-z][a-z0-9]*(-[a-z0-9]+)*'
}

is_word "$name" || die "a name is lower-case words joined by '-'"
is_word "$category" || die "CATEGORY= is missing"
[ -d "rules/catalog/$category" ] || die "there is no category $category"
id=$(printf '%s' "$name" | tr - _)
! ls rules/catalog/*/"$id.c" >/dev/null 2>&1 || die "$name is there already"
file=rules/catalog/$category/$id.c
tests=tests/rules/$name
mkdir -p "$tests"

cat >"$file" <<END
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fact that the rule rests on: what Kubernetes, a driver or an operator
 * does, and what that costs.
 *
 * Source: the file, page or issue that shows it.
 */
#include "base/text.h"
#include "engine/rule.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (text_eq(c->name, "example") && !c->gpus.unknown)
			report_container(
				run, c, NULL,
				"container \`%s\` is an example with %s",
				container_title(c),
				rule_count(run, c->gpus.n, pod_device(pod)));
}

const struct rule rule_$id = {
	.name = "$name",
	.category = "$category",
	.severity = SEVERITY_INFO,
	.scope = GPU_PODS | PODSPEC,
	.summary = "what is flagged, in one line",
	.why = "What breaks, or what is wasted.",
	.remedy = "What to do.",
	.evidence = "where the fact comes from: a URL or a source path",
	.check_pod = check,
};
END

# pod CONTAINER GPUS [MARK]
pod() {
	cat <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: $1-$2, namespace: ml}
	spec:
	  containers:
	  - name: $1${3:+ # $3}
	    image: registry.example.com/run:1
	    resources: {limits: {nvidia.com/gpu: $2}}
	END
}

{
	pod example 1 "want $name"
	echo ---
	pod example 2 "want $name"
	echo ---
	pod example 4 "want $name"
} >"$tests/bad.yaml"
{
	echo '# near: another name'
	pod sample 1
	echo '---'
	echo '# near: a longer name'
	pod example-2 1
	echo '---'
	echo '# near: no GPU'
	pod example 0
} >"$tests/good.yaml"

cat <<END
$file       the fact, the check, the texts
$tests/bad.yaml      three places to flag, each with \`# want $name\`
$tests/good.yaml     three near misses, each with \`# near: why not\`

Change these, then: make check-rule NAME=$name
The guide: tests/README.md
END
