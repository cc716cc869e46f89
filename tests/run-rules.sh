#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Rule tests. Each folder tests/rules/<rule>/ holds
#   bad.yaml     marked lines: `... # want RULE [RULE...]`; each mark must be
#                met by a finding of that rule on that line, and the folder's
#                own rule may report on no other line
#   good.yaml    near misses, each with a `# near: why not` comment: the
#                folder's rule reports nothing, and there are at least as many
#                near misses as wants
#   policy.yaml  optional: the policy that gives the rule its parameters
#   bad-*.yaml, good-*.yaml  more of the same, each a set of its own
#
# usage: run-rules.sh [--ignore RULE] GPUGATE [FOLDER...]
# --ignore RULE runs as if RULE did not exist (the mutation check).
set -u
LC_ALL=C
export LC_ALL
here=$(dirname "$0")
ignore=
if [ "${1-}" = --ignore ]; then
	ignore=$2
	shift 2
fi
gpugate=$1
shift
[ $# -gt 0 ] || set -- "$here"/rules/*/

pass=0 fail=0
say_fail() {
	fail=$((fail + 1))
	echo "FAIL $1" >&2
}

# Lines "LINE RULE" that the marks of a file ask for.
wanted() {
	awk '{
		if (!match($0, /# want [a-z0-9 -]+/)) next
		n = split(substr($0, RSTART + 7, RLENGTH - 7), words, " ")
		for (i = 1; i <= n; i++) print NR, words[i]
	}' "$1" | sort
}

# Lines "LINE RULE" that gpugate reports for a file.
reported() {
	set -- "$1" "$(dirname "$1")/policy.yaml"
	if [ -f "$2" ]; then
		set -- "$1" --config "$2"
	else
		set -- "$1" --isolated
	fi
	file=$1
	shift
	"$gpugate" lint "$@" --preset all --format concise --fail-on never \
		--no-ignore-vcs ${ignore:+--ignore "$ignore"} "$file" |
		sed -n 's/^.*:\([0-9][0-9]*\):[0-9][0-9]*: .*\[\([a-z0-9-]*\)\]$/\1 \2/p' |
		sort -u
}

check_file() {
	folder=$1 rule=$2 file=$3
	if ! got=$(reported "$file"); then
		say_fail "$file: gpugate did not end well"
		return
	fi
	want=$(wanted "$file")
	case $file in
	*/good*) [ -z "$want" ] || say_fail "$file: a good file wants findings" ;;
	*) [ -n "$want" ] || say_fail "$file: a bad file without a want" ;;
	esac
	missing=$(printf '%s\n' "$want" | sed '/^$/d' | while read -r line name; do
		printf '%s\n' "$got" | grep -qx "$line $name" ||
			echo "  line $line: wanted $name, not reported"
	done)
	extra=$(printf '%s\n' "$got" | grep " $rule\$" | while read -r line name; do
		printf '%s\n' "$want" | grep -qx "$line $name" ||
			echo "  line $line: $name reported, not wanted"
	done)
	if [ -n "$missing$extra" ]; then
		say_fail "$file"
		printf '%s\n' "$missing" "$extra" | sed '/^$/d' >&2
	else
		pass=$((pass + 1))
	fi
}

for folder; do
	folder=${folder%/}
	rule=$(basename "$folder")
	wants=0 nears=0
	for file in "$folder"/bad*.yaml "$folder"/good*.yaml; do
		[ -f "$file" ] || continue
		check_file "$folder" "$rule" "$file"
		wants=$((wants + $(wanted "$file" | grep -c " $rule\$")))
		nears=$((nears + $(grep -c '# near:' "$file")))
	done
	[ "$wants" -gt 0 ] || say_fail "$folder: nothing wants $rule"
	[ "$nears" -ge "$wants" ] ||
		say_fail "$folder: $nears near misses for $wants wants"
done
echo "rules: $pass passed, $fail failed"
[ "$fail" -eq 0 ]
