#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Collects the licenses of the libraries that are linked into the linter from
# the packages of the libraries.
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
