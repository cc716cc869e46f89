#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the JSON Schemas in deploy/schemas against what the programs write and
# read: reports and snapshots are valid, and the schema accepts and rejects the
# same policies and rules files as the program.
# usage: schemas.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
venv=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate/schemas
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
python_with "$venv" 'import jsonschema, yaml' jsonschema pyyaml ||
	skip_all 'no network to install jsonschema and pyyaml'
check 'the schemas' "$venv/bin/python" "$tests/check/schemas.py" "$gpugate" \
	"$work"
cat "$work/check.log"
finish schemas
