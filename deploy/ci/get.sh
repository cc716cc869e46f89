#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first step of the GitHub action: downloads the executable if this source is
# a release, or else outputs the key by which a build of this source is cached.
set -eu
home=$(cd "$(dirname "$0")/../.." && pwd)
. "$home/deploy/ci/common.sh"

# fetch_release FOLDER: downloads the executable, if there is one for this
# machine.
fetch_release() {
	find_release || return
	name=gpugate-$version-$system
	for file in SHA256SUMS "$name.tar.gz"; do
		curl -fsSL --retry 2 --max-time 120 -o "$1/$file" \
			"$release/$file" || return
	done
	(cd "$1" && grep " $name.tar.gz\$" SHA256SUMS | sha256sum -c - >&2) ||
		die "$release/$name.tar.gz does not match SHA256SUMS"
	tar -xf "$1/$name.tar.gz" -C "$1" --strip-components=1 "$name/gpugate"
}

sum=$(cd "$home" && find . -name .git -prune -o -type f ! -path './build/*' \
	-exec sha256sum {} + | LC_ALL=C sort | sha256sum | cut -c1-32)
key=gpugate-$(uname -sm | tr ' ' -)-$sum
folder=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate-action/$key
mkdir -p "$folder"
echo "folder=$folder" >>"$GITHUB_OUTPUT"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -x "$folder/gpugate" ]; then
	:
elif fetch_release "$work"; then
	mv "$work/gpugate" "$folder/"
else
	echo "key=$key" >>"$GITHUB_OUTPUT"
fi
