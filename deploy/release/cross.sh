#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the linter for another system with the zig compiler: its tarball and
# its wheel go to $RELEASE_DIR. Linux executables are static, with musl as C
# library, and optimized at link time, which zig cannot do for macOS.
# usage: cross.sh linux-arm64|linux-amd64|darwin-arm64|darwin-amd64 WORK
set -eu
here=$(dirname "$0")
system=$1
all=$2
work=$all/$system
root=$PWD
case $system in
*-arm64) machine=aarch64 ;;
*-amd64) machine=x86_64 ;;
esac
case $system in
linux-*)
	target=$machine-linux-musl
	lto=-flto
	libc=musl
	set -- LTO=$lto
	;;
darwin-*)
	target=$machine-macos.11.0
	lto=
	libc=macos
	set -- LINK_STATIC=
	;;
esac
zig=$("$here/zig.sh")
mkdir -p "$work"
export ZIG_GLOBAL_CACHE_DIR="$root/$all/zig"
export ZIG_LOCAL_CACHE_DIR="$ZIG_GLOBAL_CACHE_DIR"
export CC="$zig cc -target $target" AR="$zig ar"
export CFLAGS="-O2 -ffile-prefix-map=$root=. $lto"
"$here/sources.sh" "$all/sources"
[ -f "$work/libraries/lib/libpcre2-8.a" ] ||
	"$here/libraries.sh" "$all/sources" "$work/libraries"
make --no-print-directory "-j$(nproc)" gpugate BUILD="$work" CC="$CC" \
	AR="$AR" COMMIT="$COMMIT" "$@" \
	CFLAGS="$CFLAGS -I$work/libraries/include -I$root/include/platform \
	-I$root/include/platform/$libc -include platform.h" LDFLAGS="-L$work/libraries/lib -s" >"$work/log" 2>&1 || {
	tail -n 40 "$work/log" >&2
	exit 1
}
mkdir -p "$work/licenses"
for library in jansson libyaml pcre2; do
	cp "$all/sources/$library/debian/copyright" "$work/licenses/$library.txt"
done
[ -z "$lto" ] ||
	cp "${zig%/zig}/lib/libc/musl/COPYRIGHT" "$work/licenses/musl.txt"
"$here/tarball.sh" "$system" "$work/gpugate" "$work/licenses"
GPUGATE_BINARY=$work/gpugate GPUGATE_LICENSES=$work/licenses \
	python3 deploy/python/gpugate_build.py wheel "$RELEASE_DIR"
