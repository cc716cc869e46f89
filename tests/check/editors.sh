#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The extension of Visual Studio Code: its own tool packs it, with all that it
# needs to start.
# usage: editors.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate/editors
command -v npm >/dev/null || {
	skip 'no npm'
	finish editors
}
check 'JavaScript' node --check deploy/editors/vscode/extension.js
if ! [ -x "$cache/node_modules/.bin/vsce" ]; then
	mkdir -p "$cache"
	timeout 300 npm install --prefix "$cache" --no-audit --no-fund --silent \
		--ignore-scripts @vscode/vsce@3 >"$work/log" 2>&1 || {
		skip 'no network to install @vscode/vsce'
		finish editors
	}
fi
cp -r deploy/editors/vscode "$work/vscode"
cd "$work/vscode" || exit 2
timeout 120 npm install --no-audit --no-fund --silent --ignore-scripts \
	--omit=dev --cache "$cache/npm" >"$work/log" 2>&1 || {
	skip 'no network to install vscode-languageclient'
	finish editors
}
check 'vsce package' "$cache/node_modules/.bin/vsce" package --skip-license \
	--out "$work/gpugate.vsix" </dev/null
python3 -m zipfile -l "$work/gpugate.vsix" >"$work/list" 2>"$work/log"
for name in extension/extension.js extension/package.json \
	extension/node_modules/vscode-languageclient/node.js; do
	check "the package holds $name" grep -q "^$name " "$work/list"
done
finish editors
