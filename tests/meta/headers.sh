#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone and opens with its licence line.
set -u
fail=0
cc=${CC:-cc}
for header in include/*/*.h lint/*.h rules/*/*.h; do
	[ -f "$header" ] || continue
	"$cc" -std=c11 -D_GNU_SOURCE -Iinclude -Ibuild/gen -Wall -Wextra \
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
[ "$fail" -eq 0 ] && echo 'headers: ok'
exit "$fail"
