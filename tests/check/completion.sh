#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the installed completions in real shells (the first TAB, lists after a
# comma, files), and the manual pages with mandoc.
# usage: completion.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
sh deploy/completion/install.sh "$gpugate" "$gpugated" "$work/usr" \
	>"$work/log" 2>&1 || say_fail 'install'

folder=$work/folder
mkdir "$folder" "$work/bin"
for name in gpugate kubectl-gpugate gpugated; do
	cat >"$work/bin/$name" <<-'END'
		#!/bin/sh
		printf 'GOT'
		printf ' [%s]' "$@"
		echo
	END
done
chmod +x "$work/bin/"*
export PATH=$work/bin:$PATH
: >"$folder/manifest.yaml"

for shell in bash zsh fish; do
	if ! command -v "$shell" >/dev/null &&
		! apt-get install -y -qq --no-install-recommends "$shell" \
			>/dev/null 2>&1; then
		skip "no $shell"
		continue
	fi
	check "$shell" python3 "$tests/check/completion.py" "$shell" \
		"$work/usr/share" "$folder"
done
check 'the plugin' test -x "$work/usr/bin/kubectl_complete-gpugate"
for page in man1/gpugate.1 man5/gpugate-policy.5 man8/gpugated.8; do
	check "$page" test -s "$work/usr/share/man/$page"
	if command -v mandoc >/dev/null; then
		check "$page by mandoc" mandoc -Tlint -Wwarning \
			"$work/usr/share/man/$page"
	elif command -v man >/dev/null; then
		check "$page by man" man --warnings=all -l \
			"$work/usr/share/man/$page"
	else
		skip 'neither mandoc nor man'
	fi
done
finish completion
