#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the oracle available as BUILD/tests/oracle/oracle: a link to a program in
# the cache, which is built once for these sources, these versions of modules
# and this Go. If several checks run at the same time, one builds and the
# others wait.
# usage: build.sh BUILD
set -eu
mkdir -p "$1/tests/oracle"
folder=$(cd "$1/tests/oracle" && pwd)
cache=${GPUGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpugate-tests}
mkdir -p "$cache"
cd "$(dirname "$0")"
go=$(go env GOVERSION GOOS GOARCH GOFLAGS)
key=$({ echo "$go" && cat go.mod go.sum ./*.go; } | sha256sum | cut -c1-16)
oracle=$cache/oracle-$key
[ -x "$oracle" ] || flock "$cache/oracle.lock" sh -c '
	[ -x "$1" ] && exit
	# Leaves out the revision of the checkout, which would change the
	# program.
	go build -buildvcs=false -o "$1.new" . && mv "$1.new" "$1"' sh "$oracle"
ln -sfn "$oracle" "$folder/oracle.$$"
mv -fT "$folder/oracle.$$" "$folder/oracle"
