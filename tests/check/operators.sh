#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that gpugate rejects the objects that operators reject: the verdicts of
# the operators' own code (tests/oracle/operators) and of gpugate are compared for
# COUNT objects of each operator (2,000 if not set), which operators.py makes.
# KAI-Scheduler is compared if KAI_SOURCE is a checkout of v0.13.0 (see build.sh).
# usage: [COUNT=N] [SEED=N] [KAI_SOURCE=FOLDER] operators.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
go_is_new || skip_all 'no Go >= 1.26'
need_pyyaml
programs=$("$tests/oracle/operators/build.sh") || {
	say_fail "the operators' programs do not build"
	finish operators
}

# judge OPERATOR: prints its program, with its definitions, as one command
judge() {
	local folders
	mapfile -t folders < <(sed -n "s/^$1 //p" "$programs/definitions")
	printf '#!/bin/sh\nexec %q' "$programs/$1"
	printf ' %q' "${folders[@]}"
	echo
}

programs_by_name=
for operator in kuberay kueue jobset lws training trainer mpi volcano kserve \
	${KAI_SOURCE:+kai}; do
	judge "$operator" >"$work/$operator"
	chmod +x "$work/$operator"
	programs_by_name+=" $operator=$work/$operator"
	"$python" "$tests/check/operators.py" "$operator" "$work/$operator" \
		"$gpugate" "$work/objects-$operator" "${COUNT:-2000}" \
		"${SEED:-1}" "$tests/check/operator-differences.txt" \
		>"$work/log"
	check "$operator" [ $? -eq 0 ]
	head -n 1 "$work/log"
done
# shellcheck disable=SC2086 # words
check receipts "$python" "$tests/check/operator_receipts.py" "$gpugate" \
	"$tests/check/operator-receipts.tsv" "$work/receipts" $programs_by_name
cat "$work/check.log"
finish operators
