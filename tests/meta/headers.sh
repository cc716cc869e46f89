#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that every header compiles alone, except headers for other systems. The
# build itself checks a header that some file includes first. Also checks that
# files begin with their license line, and that no two structs of the product
# have the same name.
set -u
fail=0
cc=${CC:-cc} # may have two words, such as "ccache gcc"
# Headers that a file includes first, under three names: as written, in the
# folder of the file, and in include/.
first=$(git ls-files '*.c' ':!tests' | xargs awk '
	FNR == 1 { done = 0 }
	!done && /^#include/ {
		done = 1
		gsub(/[<>"]/, "", $2)
		folder = FILENAME
		sub(/[^\/]*$/, "", folder)
		printf "%s\n%s%s\ninclude/%s\n", $2, folder, $2, $2
	}')
for header in $(git ls-files 'include/*.h' 'lint/*.h' 'rules/*.h' 'certs/*.h' \
	'webhook/*.h' ':!include/platform' | grep -vxF "$first"); do
	$cc -std=c11 -D_GNU_SOURCE -Iinclude -I. -Ibuild/gen -Wall -Wextra \
		-Wno-unused-function -fsyntax-only -x c "$header" || {
		echo "$header does not compile alone" >&2
		fail=1
	}
done
for file in $(git ls-files '*.c' '*.h'); do
	head -1 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || {
		echo "$file: no license line" >&2
		fail=1
	}
done
twice=$(git ls-files '*.c' '*.h' | grep -v '^tests/' |
	xargs sed -n 's/^\t\{0,1\}\(static \|const \)*\(struct [a-z0-9_]*\) {$/\2/p' |
	sort | uniq -d)
[ -z "$twice" ] || {
	echo "more than one struct of the name: $twice" >&2
	fail=1
}
[ "$fail" -eq 0 ] && echo 'headers: ok'
exit "$fail"
