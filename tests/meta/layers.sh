#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the layers depend on each other in one direction only, as in
# base <- doc <- kube <- cel <- engine <- catalog. lint and webhook are above
# these and independent of each other.
set -u
fail=0
# forbid PATHSPECS PATTERN REASON: fails if a line of these files matches. A * in
# a pathspec of git also matches slashes.
forbid() {
	# shellcheck disable=SC2046,SC2086
	hits=$(set -f; grep -nE "$2" $(git ls-files $1) /dev/null)
	[ -z "$hits" ] && return
	echo "$3:" >&2
	printf '%s\n' "$hits" >&2
	fail=1
}
inc='#include "'
forbid 'rules/base/*.[ch] include/base/*.h' "$inc(cli|doc|kube|cel|engine)/" \
	'base must not know what is above it'
forbid 'rules/cli/*.[ch] include/cli/*.h' "$inc(doc|kube|cel|engine)/" \
	'cli must know base only'
forbid 'rules/doc/*.[ch] include/doc/*.h' "$inc(kube|cel|engine)/" \
	'doc must not know kube, cel, engine'
forbid 'rules/kube/*.[ch] include/kube/*.h' "$inc(cel|engine)/" \
	'kube must not know cel, engine'
forbid 'rules/cel/*.[ch] include/cel/*.h' "$inc(engine)/" \
	'cel must not know engine'
forbid 'rules/engine/*.[ch] include/engine/*.h' "$inc(rules/catalog|lint|webhook)" \
	'engine must not know catalog or the programs'
forbid 'rules/catalog/*.c' "$inc(engine/(run|policy|suppress|finding|registry)|rules/|.*\.\./)" \
	'a rule sees engine/rule.h, kube, doc and base only'
forbid 'rules/catalog/*.c' '[^a-z_](malloc|calloc|realloc|free|printf|fprintf|fopen|puts)\(' \
	'a rule neither allocates nor prints'
forbid 'rules/*.c lint/*.c webhook/*.c certs/*.c' '[^a-z_](sprintf|strcpy|strcat|gets)\(' \
	'unbounded copies'
forbid 'lint/*.[ch]' "${inc}webhook" 'lint must not see webhook'
forbid 'webhook/*.[ch]' "${inc}lint" 'webhook must not see lint'
forbid 'certs/*.[ch] include/certs/*.h' "$inc(doc|kube|engine|webhook)/" \
	'certs must know base only'
[ "$fail" -eq 0 ] && echo 'layers: ok'
exit "$fail"
