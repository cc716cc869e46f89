#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The live cluster state: before a server that fails in all ways it can, at
# 1,000 changes a second, and before a real API server with 50,000 objects
# that is killed three times. usage: check-live.sh BUILD [SECONDS]
#
# LIVE_REAL=no leaves the real API server out; a sanitized BUILD shows leaks.
set -u
build=$(cd "$1" && pwd) || exit 2
seconds=${2:-60}
cd "$(dirname "$0")/.." || exit 2
. tests/control-plane/control-plane.sh
work=$(mktemp -d)
trap 'control_plane_stop; rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
fail=0

sanitize=()
if grep -q __asan_init "$build/libgpugated.a"; then
	sanitize=(-fsanitize=address,undefined)
	export LIVE_PATIENCE=${LIVE_PATIENCE:-4}
fi
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -Iinclude -O2 -g -pthread -fno-lto \
	"${sanitize[@]}" -o "$work/live_tool" tests/webhook/live_tool.c \
	"$build/libgpugated.a" "$build/libgpugate.a" -lyaml -lpcre2-8 -ljansson \
	-Wl,--as-needed -lmicrohttpd -lgnutls -lssl -lcrypto -lcurl || exit 1

LIVE_SECONDS=$seconds python3 tests/webhook/live.py "$work/live_tool" || fail=1

if [ "${LIVE_REAL:-yes}" = no ]; then
	exit $fail
fi
status=0
# Neither is needed here, and both cost time.
control_plane_start "$work/cluster" --audit-policy-file= --audit-log-path= ||
	status=$?
if [ $status = 77 ] || ! command -v go >/dev/null; then
	echo 'skip: live state before a real API server (no Go)'
	exit $fail
fi
[ $status = 0 ] || exit 1
go build -o "$work/live_load" tests/webhook/live_load.go || exit 1
cat >"$work/restart" <<-END
set -u
. tests/control-plane/control-plane.sh
control_plane_restart_apiserver
END
python3 tests/webhook/live_churn.py "$work/live_tool" "$build/gpugated" \
	"$work/live_load" "$work/cluster" "bash $work/restart" "$seconds" ||
	fail=1
exit $fail
