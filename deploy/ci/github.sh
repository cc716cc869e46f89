#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The step of the GitHub action: lint, annotate, SARIF, job summary. Text of a
# manifest may look like a workflow command, so commands are disabled until the
# report is printed. The annotations escape their text.
set -eu
home=$(cd "$(dirname "$0")/../.." && pwd)
. "$home/deploy/ci/common.sh"

token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/gpugate.XXXXXX")
sarif=${INPUT_SARIF:-$work/gpugate.sarif}

# number NAME: reads a number from the summary, the last part of the last line.
number() {
	sed -n "\$s/.*\"$1\":\\([0-9]*\\).*/\\1/p" "$work/findings.jsonl"
}

echo "::stop-commands::$token"
trap 'echo "::$token::"' EXIT
get_gpugate
get_since
get_policy "${GITHUB_BASE_REF:-}"
set -- lint --fail-on "${INPUT_FAIL_ON:-error}" --format full \
	--format "github:$work/annotations" --format "sarif:$sarif" \
	--format "markdown:$work/summary.md" --format "jsonl:$work/findings.jsonl"
[ -z "${INPUT_CONFIG:-}" ] || set -- "$@" --config "$INPUT_CONFIG"
[ -z "$policy" ] || set -- "$@" "$policy"
[ -z "$policy_file" ] || set -- "$@" "$policy_file"
[ -z "$since" ] || set -- "$@" --since "$since"
set -f
status=0
# shellcheck disable=SC2086
"$gpugate" "$@" ${INPUT_ARGS:-} -- ${INPUT_PATHS:-.} || status=$?
set +f
trap - EXIT
echo "::$token::"

if [ ! -s "$work/findings.jsonl" ]; then
	echo '::error title=gpugate::gpugate could not run, see the log'
	exit "$status"
fi
grep '^::' "$work/annotations" || :
{
	cat "$work/summary.md"
	[ -z "$changed" ] || printf '\n%s\n' \
		'This change alters the configuration of gpugate (`.gpugate.yaml`).'
} >>"$GITHUB_STEP_SUMMARY"
[ -z "$changed" ] ||
	echo '::warning title=gpugate::this change alters the configuration of' \
		"gpugate (.gpugate.yaml, $(echo "$changed" | wc -l) in all)"
{
	echo "sarif-file=$sarif"
	echo "findings=$(($(number errors) + $(number warnings) + $(number infos)))"
} >>"$GITHUB_OUTPUT"
exit "$status"
