#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Counts the instructions of a decision at /validate, from the body to the
# answer, with all rules on, for three objects of the benchmark without
# findings, and the instructions for a linted file. Unlike times, they do not
# depend on the machine if libc chooses the same functions on every processor, so
# an increase of some per cent above the figures below is detected. The
# released program, optimized when it is linked, needs 3 to 8 % fewer on a
# processor with AVX2.
#
# Thousands of instructions for a Pod of 4 KB, a PyTorchJob of 8 KB and a Job of
# 42 KB:
#   JSON reader                                          27   58   268
#   rules, which are called for every pod in their scope 45   90   140
#     the calls themselves                                6   13     6
#   reading containers and their variables                3    9    63
#   checks of operators in CEL, such as trainer-rejects   0   65    20
# The linted file has a Kueue queue. Compiling its checks in CEL takes 325 of 850
# thousand.
#
# Since the figures were first set, reviews gained a limit on long texts, which
# the JSON reader finds (2 % of the large Job), one writer of JSON for reports and
# answers (1 % of the Pod), rules about probes' ports, node affinity and pods'
# names (3 % of the Pod), and rules about the words of commands, which have to be
# read first (5 % of the Pod, 6 % of the large Job), and about secrets in commands
# (1 % of the Pod, 2 % of the large Job).
#
# usage: instructions.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
command -v valgrind >/dev/null || { echo 'skip: no valgrind'; exit 0; }
few=10 many=60

# total FUNCTION COMMAND...: counts instructions in a function (empty: all), the
# same in any environment and on any processor
everywhere=glibc.cpu.hwcaps=-AVX2_Usable,-AVX2,-BMI2,-ERMS
total() {
	local only=()
	[ -z "$1" ] || only=("--toggle-collect=$1")
	shift
	env -i "PATH=$PATH" "GLIBC_TUNABLES=$everywhere" \
		valgrind --tool=callgrind "${only[@]}" --callgrind-out-file="$work/callgrind" "$@" \
		2>&1 >"$work/out" | sed -n 's/.*Collected : *//p'
}

# per_review NAME: counts instructions of one more review, after the first ones
per_review() {
	local n sums=()
	for n in $few $many; do
		yes "$work/$1.json" | head -n "$n" >"$work/list"
		sums+=("$(total admission_review \
			"$build/tests/tools/admission" --preset all validate \
			"@$work/list")")
	done
	echo $(((sums[1] - sums[0]) / (many - few)))
}

is_clean() {
	! grep -v '"allowed":true}}' "$work/out"
}

at_most() {
	echo "$1 instructions, at most $2"
	[ "$1" -gt 0 ] && [ "$1" -le "$2" ]
}

python3 "$tests/bench/bodies.py" "$work"
while read -r name most; do
	figure=$(per_review "$name")
	check "$name is clean" is_clean
	check "$name" at_most "$figure" "$most"
	echo "  $name: $figure"
done <<'END'
pod 121500
ptj 311500
big 617000
END
figure=$(total '' "$gpugate" lint --isolated --fail-on never \
	--format concise -j1 deploy/examples/good/train.yaml)
check 'one file' at_most "$figure" 875000
echo "  one file: $figure"
finish instructions
