#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the live cluster state with a server that fails in many ways. Then tests
# it with a real API server: with the rights that deploy/ grants, while the
# server is not reachable, and with 50,000 objects and 1,000 changes per second
# while the server is killed three times.
#
# usage: live.sh BUILD [SECONDS]
# LIVE_REAL=no leaves the real API server out, LIVE_LOAD=no the 50,000 objects.
# A sanitized BUILD shows leaks.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
seconds=${2:-60}
. tests/control-plane/control-plane.sh
. tests/webhook/account.sh
trap 'control_plane_stop; rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
fail=0

sanitize=()
if grep -q __asan_init "$build/libgpugated.a"; then
	sanitize=(-fsanitize=address,undefined)
	export LIVE_PATIENCE=${LIVE_PATIENCE:-4}
fi
${CC:-cc} -std=c11 -D_GNU_SOURCE -Iinclude -I. -O2 -g -pthread -fno-lto \
	"${sanitize[@]}" -o "$work/live_tool" tests/webhook/live_tool.c \
	"$build/libgpugated.a" "$build/libgpugate.a" -lyaml -lpcre2-8 -ljansson \
	-Wl,--as-needed -lmicrohttpd -lgnutls -lssl -lcrypto -lcurl || exit 1

LIVE_SECONDS=$seconds python3 tests/webhook/live.py "$work/live_tool" || fail=1

if [ "${LIVE_REAL:-yes}" = no ]; then
	exit $fail
fi
cat >"$work/restart" <<-END
. tests/control-plane/control-plane.sh
control_plane_restart_apiserver
END
${CC:-cc} -O1 -shared -fPIC -o "$work/clock.so" tests/webhook/live_clock.c ||
	exit 1
status=0
crds=--crds
[ -d ../shared/crds ] || crds=
# shellcheck disable=SC2086
control_plane_start "$work/account" $crds || status=$?
case $status in
0)
	if [ ${#sanitize[@]} -gt 0 ]; then
		echo 'skip: live account: not with a sanitizer'
	else
		account_make deploy/components/cluster-state/rbac.yaml &&
			python3 tests/webhook/live_account.py "$build/gpugated" \
				"$work/account" "$work/clock.so" \
				"bash $work/restart" "$(control_plane_free_port)" \
				"$(control_plane_free_port)" || fail=1
	fi
	control_plane_stop
	;;
77) echo 'skip: live state before a real API server (no Go)' ;;
*) exit 1 ;;
esac
if [ $status = 77 ] || [ "${LIVE_LOAD:-yes}" = no ]; then
	exit $fail
fi
# Tests 1,000 changes per second. Two processors suffice for this if etcd's files
# are in memory and the API server runs without the parts that the test does not
# need.
memory=$(mktemp -d -p /dev/shm 2>/dev/null) || memory=$work
trap 'control_plane_stop; rm -rf "$work" "$memory"' EXIT
GOGC=400 control_plane_start "$memory/cluster" --audit-policy-file= \
	--audit-log-path= --profiling=false --enable-priority-and-fairness=false ||
	status=$?
if [ $status = 77 ] || ! command -v go >/dev/null; then
	echo 'skip: live state under load before a real API server (no Go)'
	exit $fail
fi
[ $status = 0 ] || exit 1
go build -o "$work/live_load" tests/webhook/live_load.go || exit 1
account_make deploy/components/cluster-state/rbac.yaml || exit 1
python3 tests/webhook/live_churn.py "$work/live_tool" "$build/gpugated" \
	"$work/live_load" "$memory/cluster" "GOGC=400 bash $work/restart" \
	"$seconds" || fail=1
exit $fail
