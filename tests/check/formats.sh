#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reads every report format with independent parsers: SARIF by its schema, XML
# with expat, JSON with Python, Markdown with markdown-it. All formats must
# have the same findings, and hostile text must not forge any. Inputs: made-up
# findings (plain, hostile, none, many) and the corpus if it is there.
# usage: formats.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
set -e
unset GITHUB_ACTIONS # changes SARIF
schema=$shared/suites/sarif/sarif-schema-2.1.0.json
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate/formats
formats='full concise json jsonl sarif junit github gitlab rdjson markdown html openreports'

python=python3
if ! python3 -c 'import jsonschema, markdown_it' 2>/dev/null; then
	python=$cache/bin/python
	python_with "$cache" 'import jsonschema, markdown_it' jsonschema \
		markdown-it-py || {
		echo 'skip: no network to install the JSON schema and Markdown validators'
		[ -x "$python" ] || python=python3
	}
fi
[ -f "$schema" ] || { echo "skip: $schema is absent"; schema=; }

# dump CASE ARGUMENTS...: writes made-up findings in every format
dump() {
	local name=$1
	shift
	mkdir "$work/$name"
	for format in $formats; do
		"$build/tests/tools/report_dump" "$format" "$@" \
			>"$work/$name/$format"
	done
}

# lint CASE PATHS...: runs the linter itself. Exit 2 means unreadable files,
# which the corpus does not contain; findings do not count here.
lint() {
	local name=$1
	shift
	mkdir "$work/$name"
	for format in $formats; do
		"$build/gpugate" lint --isolated --no-ignore-vcs --preset all \
			--show-all --fail-on never --format "$format" "$@" \
			>"$work/$name/$format" 2>"$work/log" || {
			cat "$work/log" >&2
			echo "gpugate lint --format $format fails on $name" >&2
			exit 1
		}
	done
}

dump none 3 0
dump plain 3 7
dump hostile 4 60 hostile
dump many 40 100
if [ ! -x "$build/gpugate" ]; then
	echo "skip: $build/gpugate is absent"
elif [ -d "$shared/corpus" ]; then
	lint corpus "$shared/corpus"
else
	echo "skip: $shared/corpus is absent"
fi
"$python" "$tests/check/formats.py" "$work" "$schema"
