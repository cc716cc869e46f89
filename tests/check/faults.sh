#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests both programs while calls for memory, files, sockets, threads and random
# bytes fail. There must be no crash, no incomplete file, no different result
# without an error, and never `allowed` in place of a denial. FAULTS is the
# number of failures (default: 2000), half of them in each program. The
# installed linter is also run with each of its system calls failing in turn,
# and with too little memory. Calls of the webhook also fail while it starts,
# and while it reads the cluster and replaces its own certificates.
#
# usage: faults.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
faults=${FAULTS:-2000}
compiler=${CC:-gcc}
if strings "$gpugated" | grep -q '__[at]san_init'; then
	echo 'skip: sanitizers replace malloc themselves'
	exit 0
fi
# Links the linter so that its C library can be replaced.
mapfile -t objects < <(find "$build/lint" -name '*.o')
$compiler -shared -fPIC -O2 -fno-builtin -D_GNU_SOURCE -o "$work/fault.so" \
	tests/check/fault.c || exit 1
$compiler -pthread -o "$work/gpugate" "${objects[@]}" "$build/libgpugate.a" \
	-lyaml -lpcre2-8 -ljansson || exit 1
"$gpugated" certs --dir "$work/certs" --dns localhost >/dev/null || exit 1

injected() {
	python3 "$tests/check/faults.py" "$@" >"$work/log" 2>&1
	local status=$?
	tail -n 1 "$work/log" >&3
	return "$status"
}
exec 3>&1
check 'the linter' injected lint $((faults / 2)) "$work/gpugate" \
	"$work/fault.so"
if strace -qq -o /dev/null true 2>/dev/null ||
	{ need_program strace && strace -qq -o /dev/null true 2>/dev/null; }; then
	check 'the linter, system calls' injected kernel 100 "$gpugate"
else
	skip 'no strace that may trace'
fi
check 'the linter, little memory' injected bounded $((faults / 100)) "$gpugate"
check 'the webhook' injected serve $((faults / 2)) "$gpugated" \
	"$work/fault.so" "$work/certs"
check 'the webhook, start' injected start $((faults / 40)) "$gpugated" \
	"$work/fault.so" "$work/certs"
cluster() {
	python3 tests/check/faults_cluster.py "$@" >"$work/log" 2>&1
	local status=$?
	tail -n 1 "$work/log" >&3
	return "$status"
}
check 'the webhook and an API server' cluster $((faults / 4)) "$gpugated" \
	"$work/fault.so"
finish faults
