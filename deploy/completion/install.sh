#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs manual pages, completions of bash, zsh and fish, and kubectl's plugin
# for `make install`. A missing gpugated is left out.
# usage: install.sh GPUGATE GPUGATED PREFIX
set -eu
gpugate=$1 gpugated=$2 prefix=$3
here=$(dirname "$0")
bash=$prefix/share/bash-completion/completions
zsh=$prefix/share/zsh/site-functions
fish=$prefix/share/fish/vendor_completions.d
man=$prefix/share/man
mkdir -p "$prefix/bin" "$bash" "$zsh" "$fish" "$man/man1" "$man/man5"

# completions PROGRAM NAME
completions() {
	"$1" completion bash >"$bash/$2"
	"$1" completion zsh >"$zsh/_$2"
	"$1" completion fish >"$fish/$2.fish"
}

completions "$gpugate" gpugate
# Shells look for a completion under the name of the command.
ln -sf gpugate "$bash/kubectl-gpugate"
ln -sf gpugate.fish "$fish/kubectl-gpugate.fish"
"$gpugate" manpage 1 >"$man/man1/gpugate.1"
"$gpugate" manpage 5 >"$man/man5/gpugate-policy.5"
ln -sf gpugate "$prefix/bin/kubectl-gpugate"
install -m 755 "$here/kubectl_complete-gpugate" "$prefix/bin/"

[ -x "$gpugated" ] || exit 0
completions "$gpugated" gpugated
mkdir -p "$man/man8"
"$gpugated" manpage >"$man/man8/gpugated.8"
