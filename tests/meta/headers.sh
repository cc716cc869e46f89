#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone (but those for other systems), files open with
# their licence line, and no two structs of the product have one name.
set -u
fail=0
cc=${CC:-cc} # maybe with a launcher before it
for header in $(git ls-files 'include/*.h' 'lint/*.h' 'rules/*.h' 'certs/*.h' \
	'webhook/*.h' ':!include/platform'); do
	$cc -std=c11 -D_GNU_SOURCE -Iinclude -I. -Ibuild/gen -Wall -Wextra \
		-Wno-unused-function -fsyntax-only -x c "$header" || {
		echo "$header does not compile alone" >&2
		fail=1
	}
done
for file in $(git ls-files '*.c' '*.h'); do
	head -1 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || {
		echo "$file: no licence line" >&2
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
