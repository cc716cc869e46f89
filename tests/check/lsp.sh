#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the language server: compares it with `gpugate lint` after random
# edits (LSP_EDITS of them), and runs a session of a real client library,
# pygls.
# usage: lsp.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
venv=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate/lsp
edits=${LSP_EDITS:-500}
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# Seed 1 tests positions in bytes, which the client then offers, and seed 2 in
# UTF-16.
for seed in 1 2; do
	check "random edits $seed" python3 "$tests/check/lsp_random.py" \
		"$gpugate" $((edits / 2)) "$seed"
	cat "$work/check.log"
done

if python_with "$venv" 'import pygls' 'pygls>=2.1,<3'; then
	check 'a session' "$venv/bin/python" "$tests/check/lsp_session.py" \
		"$gpugate"
	cat "$work/check.log"
else
	skip 'no network to install pygls'
fi
finish lsp
