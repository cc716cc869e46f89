#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write each rule of rules/catalog/*/*.cel as a complete custom rule into a
# folder. Name, severity and summary come from the C file of the same name. A
# line `$NAME` is replaced by the part of that name in common.cel, except for:
#   $devices all [VENDOR]...       names in rules/kube/data/accelerators.tsv
#   $devices counted [VENDOR]...   the same without shares of a device
#   $fabrics                       names in rules/kube/data/fabric.tsv
# usage: cel.sh FOLDER
set -eu
LC_ALL=C
export LC_ALL
catalog=$(cd "$(dirname "$0")" && pwd)
data=$catalog/../kube/data

for file in "$catalog"/*/*.cel; do
	to=$1${file#"$catalog"}
	mkdir -p "${to%/*}"
	awk -v data="$data" '
	function die(text) {
		print FILENAME ": " text >"/dev/stderr"
		failed = 1
		exit 1
	}
	# Names in a table; names that end in * are prefixes.
	function names(table, key, prefixes, words,    n, word, row, all, start) {
		n = split(words, word, " ")
		while ((getline row <(data "/" table)) > 0) {
			if (row ~ /^#/ || !is_wanted(row, word, n))
				continue
			sub(/\t.*/, "", row)
			if (sub(/\*$/, "", row))
				start = start ", " row
			else
				all = all ", " row
		}
		close(data "/" table)
		if (!all)
			die("no names in " table)
		print "    " key ": [" substr(all, 3) "]"
		print "    " prefixes ": [" substr(start, 3) "]"
	}
	function is_wanted(row, word, n,    cell, i) {
		split(row, cell, "\t")
		if (word[2] == "counted" && cell[3] == "share")
			return 0
		for (i = 3; i <= n; i++)
			if (cell[2] == word[i])
				return 1
		return n < 3
	}
	function text_of(field,    text) {
		if (!match(c, "\\." field " =[^;]*"))
			die("no " field)
		text = substr(c, RSTART, RLENGTH)
		sub(/^[^=]*=[ \n\t]*/, "", text)
		return text
	}
	FILENAME ~ /common\.cel$/ {
		if (/^\$/)
			part = substr($1, 2, length($1) - 2)
		else if (part)
			parts[part] = parts[part] $0 "\n"
		next
	}
	FILENAME ~ /\.c$/ {
		c = c $0 "\n"
		next
	}
	FNR == 1 {
		name = text_of("name")
		gsub(/"|,.*/, "", name)
		severity = text_of("severity")
		sub(/,.*/, "", severity)
		sub(/SEVERITY_/, "", severity)
		summary = text_of("summary")
		sub(/",\n.*/, "\"", summary)
		gsub(/"[ \n\t]+"/, "", summary)
		print $0 "\napiVersion: gpugate.dev/v1\nkind: Rules\nrules:"
		print "- name: gpugate-" name
		print "  severity: " tolower(severity)
		print "  failurePolicy: Ignore\n  summary: " summary
		next
	}
	$1 == "$devices" { names("accelerators.tsv", "devices", "families", $0); next }
	$1 == "$fabrics" { names("fabric.tsv", "fabrics", "fabricFamilies", $0); next }
	/^ *\$[a-z-]+$/ {
		if (!(substr($1, 2) in parts))
			die("no part " $1)
		printf "%s", parts[substr($1, 2)]
		next
	}
	{ print }
	END { exit failed }' "$catalog/common.cel" "${file%.cel}.c" "$file" \
		>"$to"
done
