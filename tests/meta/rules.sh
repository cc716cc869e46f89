#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks each rule: file name = name, folder = category, all texts are
# present, it has a test folder, and its object file has no writable data.
set -u
gpugate=$1
build=$2
fail=0
bad() {
	echo "$1" >&2
	fail=1
}
for file in rules/catalog/*/*.c; do
	name=$(basename "$file" .c | tr _ -)
	category=$(basename "$(dirname "$file")")
	grep -q "^const struct rule rule_$(echo "$name" | tr - _) = {\$" "$file" ||
		bad "$file does not define its rule"
	grep -q "\.name = \"$name\"" "$file" || bad "$file: name is not $name"
	grep -q "\.category = \"$category\"" "$file" ||
		bad "$file: category is not $category"
	fields='summary why evidence'
	# Messages of these rules name the field and the condition to meet.
	case $name in
	*-rejects | pod-invalid) ;;
	*) fields="$fields remedy" ;;
	esac
	for field in $fields; do
		grep -q "\.$field = *\$\|\.$field = \"..*\|\.$field =" "$file" ||
			bad "$file: no $field"
	done
	lines=$(wc -l <"$file")
	[ "$lines" -le 300 ] || bad "$file: $lines lines (at most 300)"
	[ -d "tests/rules/$name" ] || bad "$file: no tests/rules/$name"
	object=$build/${file%.c}.o
	if [ -f "$object" ]; then
		size -A "$object" | awk -v f="$file" \
			'($1 == ".data" || $1 == ".bss") && $2 > 0 {
				print f ": writable data in " $1; bad = 1 }
			END { exit bad }' >&2 || fail=1
	fi
done
for folder in tests/rules/*/; do
	name=$(basename "$folder")
	ls rules/catalog/*/"$(echo "$name" | tr - _)".c >/dev/null 2>&1 ||
		bad "$folder belongs to no rule"
done
"$gpugate" rules --format json | python3 -c '
import json, sys
rules = json.load(sys.stdin)
rules = rules["rules"] if isinstance(rules, dict) else rules
names = [r["name"] for r in rules]
assert names == sorted(names) and len(set(names)) == len(names), "not sorted"
for r in rules:
    for key in ("summary", "why", "evidence", "category", "severity"):
        assert r.get(key), (r["name"], key)
' 2>/dev/null || { command -v python3 >/dev/null && bad 'rules --format json is not in order'; }
# Checks that every part of common.cel, which rules in CEL share, is used, and that
# the table of kinds has the kinds of its part $workloads.
for part in $(sed -n 's/^\$\(.*\):$/\1/p' rules/catalog/common.cel); do
	grep -qx " *\\\$$part" rules/catalog/*/*.cel ||
		bad "no rule in CEL uses \$$part"
done
for kind in $(sed -n '/^\$workloads/,/\]/p' rules/catalog/common.cel |
	grep -oE '[a-z0-9.-]+/[A-Za-z]+' | sed 's#^core/#-/#'); do
	grep -q "^kind ${kind%/*} ${kind#*/} " rules/kube/data/kinds.txt ||
		bad "common.cel: no kind $kind"
done
[ "$fail" -eq 0 ] && echo 'rule files: ok'
exit "$fail"
