#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the rows of lint/commands/example.c: <rule>/bad.yaml and good.yaml of a folder.
# Of a long file the first documents, at most 60 lines; comments before the
# first line of YAML are for the test's reader and left out.
set -eu
LC_ALL=C
export LC_ALL

excerpt() {
	awk '
	function flush() {
		for (i = 1; i <= n; i++)
			print line[i]
		total += n
		n = 0
	}
	!begun && (/^#/ || /^[ \t]*$/ || /^---/) { next }
	{ begun = 1 }
	/^---/ { flush(); }
	{ line[++n] = $0 }
	total + n > 60 { exit }
	END {
		if (total + n <= 60) {
			flush()
		} else if (!total) {
			n = 59
			flush()
			print "# ..."
		}
	}' "$1"
}

string() {
	if [ ! -f "$1" ]; then
		echo '	 NULL'
		return
	fi
	excerpt "$1" | awk '
	{
		sub(/# want .*/, "# flagged")
		sub(/# near: /, "# ")
		gsub(/\\/, "\\\\")
		gsub(/"/, "\\\"")
		gsub(/\t/, "\\t")
		gsub(/\?\?/, "?\\?")
		printf "	 \"%s\\n\"\n", $0
	}
	END { if (!NR) print "	 \"\"" }'
}

echo '/* Made by lint/commands/examples.sh: do not edit. */'
for folder in "$1"/*/; do
	[ -f "$folder/bad.yaml" ] || continue
	printf '	{"%s",\n' "$(basename "$folder")"
	string "$folder/bad.yaml"
	echo '	 ,'
	string "$folder/good.yaml"
	echo '	},'
done
