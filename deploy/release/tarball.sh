#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packs the linter for one system, with its manual and completions, in
# $RELEASE_DIR.
# usage: tarball.sh SYSTEM-ARCHITECTURE EXECUTABLE LICENSES
set -eu
here=$(dirname "$0")
name=gpugate-$VERSION-$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
top=$work/$name
share=$STAGE/usr/share
mkdir -p "$top/man" "$top/completions"
install -m 755 "$2" "$top/gpugate"
cp LICENSE "$top/"
cp -r "$3" "$top/licenses"
cp "$share/man/man1/gpugate.1" "$share/man/man5/gpugate-policy.5" "$top/man/"
cp "$share/bash-completion/completions/gpugate" "$top/completions/gpugate.bash"
cp "$share/zsh/site-functions/_gpugate" \
	"$share/fish/vendor_completions.d/gpugate.fish" "$top/completions/"
"$here/pack.sh" "$work" "$name" "$RELEASE_DIR/$name.tar.gz"
