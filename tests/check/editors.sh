#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that Neovim, from 0.7 on, shows findings of a file with the
# configuration of deploy/editors/README.md. Tests that the extension of Visual
# Studio Code can be packed by its own tool, with all files that it needs to
# start.
# usage: editors.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate/editors
command -v nvim >/dev/null || need_program neovim
if nvim --headless -c 'lua os.exit(vim.fn.has("nvim-0.11"))' 2>/dev/null; then
	block=2 # has() gave 0: older than 0.11, which needs the second block
else
	block=1
fi
awk -v block=$block '/^```/ { open = /lua/ && ++n == block; next } open' \
	deploy/editors/README.md >"$work/init.lua"
cat >"$work/after.lua" <<'END'
vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 50)
for _, found in ipairs(vim.diagnostic.get(0)) do
  io.stdout:write(found.source .. " " .. found.code .. "\n")
end
vim.cmd("qa!")
END
cp deploy/examples/bad/train.yaml "$work/"
(cd "$work" && PATH=$build:$PATH HOME=$work timeout 60 nvim --headless \
	-u init.lua --cmd 'filetype on' train.yaml -c 'luafile after.lua') \
	>"$work/log" 2>&1
check 'Neovim shows findings' grep -q 'gpugate shm-missing' "$work/log"
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
