#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The licenses of what is linked into the linter, as the libraries' packages
# have them.
# usage: licenses.sh FOLDER /usr/share/doc/PACKAGE/copyright...
set -eu
out=$1
shift
rm -rf "$out"
mkdir -p "$out"
for file; do
	package=$(basename "$(dirname "$file")")
	case $package in
	libyaml-dev | libpcre2-dev | libjansson-dev | libc6-dev)
		cp -L "$file" "$out/$package.txt"
		;;
	esac
done
set -- "$out"/*
[ $# -eq 4 ] || {
	echo "licenses.sh: not all libraries have a copyright file: $*" >&2
	exit 1
}
