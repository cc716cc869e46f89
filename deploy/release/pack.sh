#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packs a folder into a tar archive with the same bytes for the same files.
# usage: pack.sh PARENT FOLDER ARCHIVE.tar.gz|ARCHIVE.tgz
set -eu
: "${SOURCE_DATE_EPOCH:?the time of every file}"
tar -C "$1" -cf - --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
	--owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "$2" |
	gzip -n -9 >"$3"
