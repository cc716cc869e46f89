#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the path of the zig compiler, after installing it into a cache from its
# Python package: a fixed version, so that a release can be rebuilt.
set -eu
version=0.17.1
home=${XDG_CACHE_HOME:-$HOME/.cache}/gpugate/zig-$version
if [ ! -e "$home/done" ]; then
	rm -rf "$home"
	python3 -m venv "$home" >&2
	"$home/bin/pip" --disable-pip-version-check install -q \
		"ziglang==$version" >&2
	touch "$home/done"
fi
echo "$home"/lib/python*/site-packages/ziglang/zig
