#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The script of the GitLab job: lints, and leaves a code quality report and a
# JUnit report in the working folder. They are written elsewhere first, because
# a linted folder must not contain a partial JSON file.
set -eu
home=$(cd "$(dirname "$0")/../.." && pwd)
. "$home/deploy/ci/common.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
get_gpugate
get_since
get_policy "${CI_MERGE_REQUEST_TARGET_BRANCH_NAME:-}"
set -- lint --fail-on "${INPUT_FAIL_ON:-error}" --format full \
	--format "gitlab:$work/gl-code-quality-report.json" \
	--format "junit:$work/gpugate-junit.xml"
[ -z "${INPUT_CONFIG:-}" ] || set -- "$@" --config "$INPUT_CONFIG"
[ -z "$policy" ] || set -- "$@" "$policy"
[ -z "$policy_file" ] || set -- "$@" "$policy_file"
[ -z "$since" ] || set -- "$@" --since "$since"
set -f
status=0
# shellcheck disable=SC2086
"$gpugate" "$@" ${INPUT_ARGS:-} -- ${INPUT_PATHS:-.} || status=$?
set +f
[ -z "$changed" ] ||
	echo 'gpugate: warning: this change alters the configuration of gpugate' \
		"(.gpugate.yaml, $(echo "$changed" | wc -l) in all)" >&2
for report in gl-code-quality-report.json gpugate-junit.xml; do
	[ ! -s "$work/$report" ] || cp "$work/$report" .
done
exit "$status"
