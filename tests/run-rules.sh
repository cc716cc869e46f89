#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Rule tests. Each folder tests/rules/<rule>/ holds
#   bad.yaml     lines marked `... # want RULE[:SEVERITY] [RULE...]`. Each of
#                these rules must report on that line, and the rule of the
#                folder on no other line
#   good.yaml    near misses, each with a comment `# near: REASON`. The rule of
#                the folder reports nothing, and there are at least as many near
#                misses as marks in bad.yaml
#   policy.yaml  optional: the policy that gives the rule its parameters.
#                x.policy.yaml is for x.yaml alone
#   cluster.json optional: the cluster state (--cluster). x.cluster.json is for
#                x.yaml alone. A file that begins with `# no cluster` gets none
#   admission.yaml optional: the cluster's own policies (--admission-policy)
#   bad-*.yaml, good-*.yaml  more of the same, each checked separately
#   fixed.yaml   for a rule with a fix: the result of --fix on bad.yaml
#                (fixed-x.yaml of bad-x.yaml). A second --fix changes nothing,
#                and the rule then reports exactly the lines that say
#                `# no repair`. If the first line is `# unsafe`, it is the
#                result of --unsafe-fixes, and --fix alone changes nothing
#
# usage: [UPDATE=1] run-rules.sh [--ignore RULE] GPUGATE [FOLDER...]
# --ignore RULE runs as if RULE did not exist (the mutation check).
# UPDATE=1 rewrites the existing fixed files: read the difference.
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

if [ -n "${UPDATE-}" ] && [ "${CI-}" = true ]; then
	echo 'UPDATE=1 is not for CI: it would pass whatever comes out' >&2
	exit 2
fi
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

pass=0 fail=0
say_fail() {
	fail=$((fail + 1))
	echo "FAIL $1" >&2
}

# Prints lines "LINE RULE" that the marks of a file require.
wanted() {
	awk '{
		if (!match($0, /# want [a-z0-9: -]+/)) next
		n = split(substr($0, RSTART + 7, RLENGTH - 7), words, " ")
		for (i = 1; i <= n; i++) print NR, words[i]
	}' "$1" | sort
}

# Prints lines "LINE RULE" and "LINE RULE:SEVERITY" that gpugate reports for a
# file.
reported() {
	file=$1
	set -- --isolated
	for policy in "${file%.yaml}.policy.yaml" "$(dirname "$file")/policy.yaml"; do
		[ -f "$policy" ] || continue
		set -- --config "$policy"
		break
	done
	for cluster in "${file%.yaml}.cluster.json" "$(dirname "$file")/cluster.json"; do
		[ -f "$cluster" ] || continue
		[ "$(head -n 1 "$file")" != '# no cluster' ] || continue
		set -- "$@" --cluster "$cluster"
		break
	done
	if [ -f "$(dirname "$file")/admission.yaml" ]; then
		set -- "$@" -q --admission-policy "$(dirname "$file")/admission.yaml"
	fi
	"$gpugate" lint "$@" --preset all --show-all --format concise --fail-on never \
		--no-ignore-vcs ${ignore:+--ignore "$ignore"} "$file" \
		>"$tmp/reported" || return
	! grep -F '(null)' "$tmp/reported" >&2 || return
	sed -nE 's/^.*:([0-9]+):[0-9]+: ([a-z]+): .*\[([a-z0-9-]*)\]$/\1 \3\n\1 \3:\2/p' \
		"$tmp/reported" | sort -u
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
	# A file that cannot be read has only findings of invalid-syntax.
	wrong=$(printf '%s\n--\n%s\n' "$want" "$got" | awk -v rule="$rule" '
		$0 == "--" { reported = 1; next }
		!reported && NF { want[$0]; split($2, w, ":"); named[$1 " " w[1]] }
		reported { got[$0] }
		reported && ($2 == rule || $2 == "invalid-syntax") &&
			!($0 in named) {
			print "  line " $1 ": " $2 " reported, not wanted" }
		END { for (line in want) if (!(line in got)) {
			split(line, w, " ")
			print "  line " w[1] ": wanted " w[2] ", not reported" } }')
	if [ -n "$wrong" ]; then
		say_fail "$file"
		printf '%s\n' "$wrong" >&2
	else
		pass=$((pass + 1))
	fi
}

# repair RULE FILE POLICY [OPTION...]: runs --fix in place.
repair() {
	rule=$1 file=$2 policy=$3
	shift 3
	if [ -f "$policy" ]; then
		set -- "$@" --config "$policy"
	else
		set -- "$@" --isolated
	fi
	[ ! -f "${file%.yaml}.cluster.json" ] ||
		set -- "$@" --cluster "${file%.yaml}.cluster.json"
	"$gpugate" lint "$@" --preset all --select "$rule" --fix --fail-on never \
		--no-ignore-vcs --show-all --format concise "$file" >"$tmp/report" 2>"$tmp/log" ||
		{ cat "$tmp/log" >&2; return 1; }
}

# check_left RULE FILE FIXED: checks that the rule still reports exactly the
# lines of FILE marked `# no repair`, by the report that repair() left in $tmp.
check_left() {
	sed -n "s/^.*:\([0-9][0-9]*\):[0-9][0-9]*: .*\[$1\]\$/\1/p" "$tmp/report" |
		sort -u >"$tmp/left"
	grep -n '# no repair' "$2" | cut -d: -f1 | sort >"$tmp/allowed"
	cmp -s "$tmp/left" "$tmp/allowed" ||
		say_fail "$3: left are lines $(tr '\n' ' ' <"$tmp/left")"
}

# check_fixed FOLDER RULE BAD FIXED: checks that --fix makes FIXED of BAD, or
# with UPDATE=1 rewrites FIXED.
check_fixed() {
	folder=$1 rule=$2 bad=$3 fixed=$4 unsafe=
	copy=$tmp/$(basename "$bad") policy=${bad%.yaml}.policy.yaml before=$fail
	[ -f "$policy" ] || policy=$folder/policy.yaml
	cp "$bad" "$copy"
	rm -f "$tmp"/*.cluster.json
	[ ! -f "${bad%.yaml}.cluster.json" ] || cp "${bad%.yaml}.cluster.json" "$tmp"
	if [ "$(head -n 1 "$fixed")" = '# unsafe' ]; then
		unsafe=--unsafe-fixes
		repair "$rule" "$copy" "$policy"
		cmp -s "$bad" "$copy" || say_fail "$bad: --fix alone changes it"
		cp "$bad" "$copy"
	fi
	repair "$rule" "$copy" "$policy" $unsafe ||
		say_fail "$bad: --fix did not end well"
	cp "$copy" "$tmp/first"
	{ [ -z "$unsafe" ] || echo '# unsafe'; cat "$copy"; } >"$tmp/expected"
	[ -z "${UPDATE-}" ] || cp "$tmp/expected" "$fixed"
	diff -u "$fixed" "$tmp/expected" >&2 || say_fail "$fixed: not what --fix makes"
	cmp -s "$bad" "$copy" && say_fail "$bad: nothing was repaired"
	repair "$rule" "$copy" "$policy" $unsafe ||
		say_fail "$fixed: --fix did not end well"
	cmp -s "$copy" "$tmp/first" || say_fail "$fixed: a second --fix changes it"
	check_left "$rule" "$copy" "$fixed"
	[ "$fail" -gt "$before" ] || pass=$((pass + 1))
}

# Succeeds if the rule has a fix, so that it must have a fixed file.
needs_fixed() {
	set -- "$here"/../rules/catalog/*/"$(echo "$1" | tr - _)".c
	[ -f "$1" ] && grep -q 'finding_fix(' "$1"
}

check_repairs() {
	folder=$1 rule=$2 any=
	for fixed in "$folder"/fixed*.yaml; do
		[ -f "$fixed" ] || continue
		any=1
		check_fixed "$folder" "$rule" \
			"$folder/bad${fixed#"$folder/fixed"}" "$fixed"
	done
	if [ -z "$any" ] && needs_fixed "$rule"; then
		say_fail "$folder: the rule repairs, and there is no fixed.yaml"
	fi
}

for folder; do
	folder=${folder%/}
	rule=$(basename "$folder")
	for file in "$folder"/bad*.yaml "$folder"/good*.yaml; do
		case $file in *.policy.yaml) continue ;; esac
		[ -f "$file" ] || continue
		check_file "$folder" "$rule" "$file"
		[ -z "$ignore" ] || [ "$fail" -eq 0 ] || break
	done
	counts=$(cat "$folder"/bad*.yaml "$folder"/good*.yaml 2>/dev/null |
		awk -v rule="$rule" '
		/# near:/ { nears++ }
		match($0, /# want [a-z0-9: -]+/) {
			n = split(substr($0, RSTART + 7, RLENGTH - 7), w, " ")
			for (i = 1; i <= n; i++)
				wants += w[i] ~ "^" rule "(:[a-z]+)?$"
		}
		END { print wants + 0, nears + 0 }')
	wants=${counts% *} nears=${counts#* }
	[ "$wants" -gt 0 ] || say_fail "$folder: nothing wants $rule"
	[ "$nears" -ge "$wants" ] ||
		say_fail "$folder: $nears near misses for $wants wants"
	[ -n "$ignore" ] || check_repairs "$folder" "$rule"
done
echo "rules: $pass passed, $fail failed"
[ "$fail" -eq 0 ]
