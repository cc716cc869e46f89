#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the tag is the version of the Makefile and that the change log has
# a section for it. Prints that section as the release notes.
# usage: check-tag.sh TAG
set -eu
version=$(sed -n 's/^VERSION := //p' Makefile)
[ "$1" = "v$version" ] || {
	echo "check-tag.sh: the tag is $1, the Makefile says $version" >&2
	exit 1
}
mkdir -p build/release-work
awk -v version="$version" '
	/^## / { mine = $2 == version; next }
	mine' .github/CHANGELOG.md >build/release-work/notes.md
grep -q '^- ' build/release-work/notes.md || {
	echo "check-tag.sh: .github/CHANGELOG.md says nothing of $version" >&2
	exit 1
}
