#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Both programs while malloc, read, write, fsync, accept, recv and sendmsg fail:
# no crash, no half file, no other result without an error, and never `allowed`
# where the truth is a denial. FAULTS=2000 failures, half of them in each.
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
# The linter as it is, but with a C library that can be replaced.
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
	"$work/fault.so" deploy/examples/bad/serve.yaml
check 'the webhook' injected serve $((faults / 2)) "$gpugated" \
	"$work/fault.so" "$work/certs"
finish faults
