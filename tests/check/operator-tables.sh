#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the verdicts of gpugate and of the operators' code on the objects of
# the operators' unit tests (operator_tables.py). KAI-Scheduler is read from
# KAI_SOURCE, a checkout of v0.13.0, because the module proxy does not serve it.
# Without KAI_SOURCE, it is skipped. LWS is left out, because the unit tests of
# its webhook need an API server.
# usage: [KAI_SOURCE=FOLDER] operator-tables.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
go_is_new || skip_all 'no Go >= 1.26'
need_pyyaml
oracle=$tests/oracle/operators
programs=$("$oracle/build.sh") || {
	say_fail "the operators' programs do not build"
	finish operator-tables
}

# compare OPERATOR SOURCE
compare() {
	local folders
	mapfile -t folders < <(sed -n "s/^$1 //p" "$programs/definitions")
	{
		printf '#!/bin/sh\nexec %q' "$programs/$1"
		printf ' %q' "${folders[@]}"
		echo
	} >"$work/$1-program"
	chmod +x "$work/$1-program"
	"$python" "$tests/check/operator_tables.py" "$gpugate" "$work/tables" \
		"$tests/check/operator-differences.txt" \
		"$1=$2=$work/$1-program" >"$work/log"
	check "$1" [ $? -eq 0 ]
	cat "$work/log"
}

# compare_module OPERATOR MODULE [FOLDER]: compares with the version of MODULE
# in FOLDER/go.mod
compare_module() {
	compare "$1" "$(cd "$oracle/${3:-.}" && go list -m -f '{{.Dir}}' "$2")"
}

compare_module kuberay github.com/ray-project/kuberay/ray-operator
compare_module kueue sigs.k8s.io/kueue
compare_module jobset sigs.k8s.io/jobset
compare_module training github.com/kubeflow/training-operator
compare_module trainer github.com/kubeflow/trainer/v2
compare_module mpi github.com/kubeflow/mpi-operator
compare_module volcano volcano.sh/volcano volcano
compare_module kserve github.com/kserve/kserve kserve
if [ -n "${KAI_SOURCE:-}" ]; then
	compare kai "$KAI_SOURCE"
else
	echo 'skip: KAI_SOURCE is not set'
fi
finish operator-tables
