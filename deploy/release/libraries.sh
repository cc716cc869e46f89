#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds static jansson, libyaml and PCRE2 (8 bits, no JIT) for another system,
# from the sources that sources.sh unpacked, without their configure scripts,
# which would run programs of that system.
# usage: CC= AR= CFLAGS= libraries.sh SOURCES PREFIX
set -eu
sources=$(cd "$1" && pwd)
prefix=$2
rm -rf "$prefix"
mkdir -p "$prefix/include" "$prefix/lib" "$prefix/build/config"
prefix=$(cd "$prefix" && pwd)

# library NAME OPTIONS FILE...
library() {
	name=$1 options=$2
	shift 2
	mkdir "$prefix/build/$name"
	for file; do
		object=$prefix/build/$name/$(basename "$file" .c).o
		printf '%s\n' "$CC $CFLAGS -I$prefix/include \
			-I$prefix/build/config -I. $options \
			-c -o $object $file"
	done | tr '\n' '\0' | xargs -0 -P "$(nproc)" -n 1 sh -c
	$AR rcs "$prefix/lib/lib$name.a" "$prefix/build/$name"/*.o
}

cd "$sources/jansson/src"
cp jansson.h "$prefix/include/"
: >"$prefix/build/config/jansson_private_config.h"
sed 's/@json_inline@/inline/; s/@json_have_long_long@/1/
	s/@json_have_localeconv@/1/; s/@json_have_atomic_builtins@/1/
	s/@json_have_sync_builtins@/1/' \
	jansson_config.h.in >"$prefix/include/jansson_config.h"
options='-DUSE_URANDOM -DHAVE_LOCALE_H'
for header in STDINT UNISTD FCNTL SYS_TIME SYS_TYPES; do
	options="$options -DHAVE_${header}_H"
done
for function in OPEN CLOSE READ GETPID GETTIMEOFDAY; do
	options="$options -DHAVE_$function"
done
library jansson "$options" ./*.c

cp "$sources/libyaml/include/yaml.h" "$prefix/include/"
version=$(sed -n 's/^m4_define(\[YAML_\(MAJOR\|MINOR\|PATCH\)\], *\([0-9]*\)).*/-DYAML_VERSION_\1=\2/p' \
	"$sources/libyaml/configure.ac" | tr '\n' ' ')
cd "$sources/libyaml/src"
library yaml "$version -DYAML_VERSION_STRING='\"$(echo "$version" |
		sed 's/[^=]*=\([0-9]*\) */\1./g; s/\.$//')\"'" ./*.c

cd "$sources/pcre2/src"
cp pcre2.h.generic "$prefix/include/pcre2.h"
cp config.h.generic "$prefix/build/config/config.h"
cp pcre2_chartables.c.dist "$prefix/build/config/pcre2_chartables.c"
files=$(find . -maxdepth 1 -name 'pcre2_*.c' | sort |
	grep -vE '_(dftables|fuzzsupport|jit_match|jit_misc|jit_test|printint|ucptables)\.c')
# shellcheck disable=SC2086
library pcre2-8 "-DHAVE_CONFIG_H \
	-DSUPPORT_UNICODE -DPCRE2_CODE_UNIT_WIDTH=8 -DPCRE2_STATIC" \
	$files "$prefix/build/config/pcre2_chartables.c"
rm -r "$prefix/build"
