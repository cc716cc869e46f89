#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the rows of examples in lint/commands/explain.c from <rule>/bad.yaml and
# good.yaml of a folder: the first document that is flagged, and the first near
# miss. For a rule that needs other objects, the first documents, at most 60
# lines. Comments before the first line of YAML are for readers of the test and
# omitted, except the reason of a near miss.
# usage: examples.sh FOLDER
set -eu
LC_ALL=C
export LC_ALL
catalog=$(dirname "$0")/../../rules/catalog
together=" $(grep -lE 'NEEDS_SET|claim_use\(|container_claims_' "$catalog"/*/*.c |
	sed 's#.*/##; s#\.c$##; y#_#-#' | tr '\n' ' ')"

# excerpt RULE FILE: replaces `# want RULE` by `# flagged` and removes marks of
# other rules.
excerpt() {
	most=0 mark=0
	case $together in *" $1 "*) most=60 ;; esac
	case $2 in *bad.yaml) mark=1 ;; esac
	awk -v rule="$1" -v most="$most" -v mark="$mark" '
	function flush() {
		for (i = 1; i <= n; i++)
			print line[i]
		total += n
		n = 0
	}
	function marked(text) {
		sub(/.*# want /, " ", text)
		return (text " ") ~ (" " rule "[ :]")
	}
	!begun && (/^---/ || /^[ \t]*$/ || /^#/ && !/^# (near|gpugate):/) {
		next
	}
	{ begun = 1 }
	/^---/ && most { flush() }
	/^---/ && !most {
		if (!mark || found)
			exit
		begun = n = 0
		next
	}
	/# want / {
		found = marked($0) ? 1 : found
		sub(/ *# want .*/, marked($0) ? " # flagged" : "")
	}
	{ sub(/# near: /, "# ") }
	{ line[++n] = $0 }
	most && total + n > most { exit }
	END {
		if (!most || total + n <= most)
			flush()
	}' "$2"
}

string() {
	if [ ! -f "$2" ]; then
		echo '	 NULL'
		return
	fi
	excerpt "$1" "$2" | awk '
	{
		gsub(/\\/, "\\\\")
		gsub(/"/, "\\\"")
		gsub(/\t/, "\\t")
		gsub(/\?\?/, "?\\?")
		printf "	 \"%s\\n\"\n", $0
	}
	END { if (!NR) print "	 \"\"" }'
}

echo '/* Made by lint/commands/examples.sh: do not edit. */'
# Sorted without the slash: `a` before `a-b`.
for rule in $(cd "$1" && printf '%s\n' */ | tr -d / | sort); do
	[ -f "$1/$rule/bad.yaml" ] || continue
	printf '	{"%s",\n' "$rule"
	string "$rule" "$1/$rule/bad.yaml"
	echo '	 ,'
	string "$rule" "$1/$rule/good.yaml"
	echo '	},'
done
