#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Generates the pages of this folder: the output of `gpugate explain --format
# markdown` for each rule, its presets, and links to other pages and to the
# sources; README.md is the index, by category.
# usage: generate.sh GPUGATE FOLDER
set -eu
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$2"
rm -f "$2"/*.md
for preset in recommended strict all; do
	"$1" config --isolated --preset "$preset" | awk -v preset="$preset" '
		NF > 1 && $1 !~ /:$/ {
			print $1, preset, $2, $2 == "off" ? "off" : $3 }'
done >"$work/settings"
for path in "$root"/deploy/vap/policies/*.yaml; do
	basename "$path" .yaml
done >"$work/policies"
"$1" rules --isolated | cut -d ' ' -f 1 >"$work/names"
while read -r rule; do
	echo "%% $rule"
	"$1" explain --isolated --format markdown "$rule"
done <"$work/names" >"$work/pages"

awk -v folder="$2" -v work="$work" '
	function link(name) { return "[`" name "`](" name ".md)" }
	# Names of other rules become links.
	function linked(text,   before, name) {
		before = ""
		while (match(text, /`[a-z0-9-]+`/)) {
			name = substr(text, RSTART + 1, RLENGTH - 2)
			before = before substr(text, 1, RSTART - 1) \
				(name in rules && name != rule ? link(name) : \
				 "`" name "`")
			text = substr(text, RSTART + RLENGTH)
		}
		return before text
	}
	function facts(   file) {
		if (rule in before_this)
			print "**Others yield to it:** " before_this[rule] "\n" >page
		file = rule
		gsub(/-/, "_", file)
		printf "**Source:** [rule](../catalog/%s/%s.c), " \
			"[tests](../../tests/rules/%s)", category, file, rule >page
		if (rule in policies)
			printf ", [admission policy]" \
				"(../../deploy/vap/policies/%s.yaml)", rule >page
		print "\n\n## Presets\n" >page
		print "| preset | severity | at admission |\n" \
			"| --- | --- | --- |" >page
		print settings[rule] >page
	}
	BEGIN {
		while ((getline line <(work "/names")) > 0)
			rules[line] = 1
		while ((getline line <(work "/policies")) > 0)
			policies[line] = 1
		while ((getline line <(work "/settings")) > 0) {
			split(line, s, " ")
			settings[s[1]] = settings[s[1]] sprintf("| `%s` | %s | %s |\n",
				s[2], s[3], s[4])
		}
	}
	NR == FNR && /^%% / { rule = $2 }
	NR == FNR && /^\*\*Yields to:\*\* / {
		for (i = 3; i <= NF; i++) {
			gsub(/[`,]/, "", $i)
			before_this[$i] = before_this[$i] \
				(before_this[$i] ? ", " : "") link(rule)
		}
	}
	NR == FNR { next }
	/^%% / {
		if (page)
			close(page)
		rule = $2
		page = folder "/" rule ".md"
		told = code = 0
		next
	}
	/^```/ { code = !code }
	code { print >page; next }
	/^\*\*Category:\*\* / {
		category = $2
		$0 = $1 " [" category "](README.md#" category ")"
	}
	/^## / && !told++ { facts() }
	{ print linked($0) >page }' "$work/pages" "$work/pages"

{
	cat <<-END
		# Rules by category

		One page per rule, written by \`make docs\`: the output of \`gpugate explain RULE\`,
		its severity in the presets, and its sources. In the column fix, \`safe\` means that
		\`--fix\` makes the fix, and \`opt-in\` that \`--unsafe-fixes\` makes it, or \`--fix\` if
		the policy gives the value.

	END
	"$1" rules --isolated --format markdown |
		sed -n 's/---|/ --- |/g; s/|  |/| |/; s/^| `\([a-z0-9-]*\)` /| [`\1`](\1.md) /; /^## /,$p'
} >"$2/README.md"
