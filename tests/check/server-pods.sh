#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that gpugate rejects the pods that the API server rejects: the verdicts
# of the server's own code (tests/oracle/operators/pods) and of gpugate are
# compared for COUNT pods (20,000 if not set). server_pods.py makes them, as Pods
# and as templates of custom kinds.
# usage: [COUNT=N] [SEED=N] server-pods.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
go_is_new || skip_all 'no Go >= 1.26'
need_pyyaml
programs=$("$tests/oracle/operators/build.sh") || {
	say_fail "the operators' programs do not build"
	finish server-pods
}
"$python" "$tests/check/server_pods.py" "$programs/pods" "$gpugate" \
	"$work/pods" "${COUNT:-20000}" "${SEED:-1}" \
	"$tests/check/operator-differences.txt" >"$work/log"
check 'pods' [ $? -eq 0 ]
head -n 1 "$work/log"
finish server-pods
