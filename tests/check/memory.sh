#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Sends many large reviews at once. Each is answered (200, 413 or 429 with
# Retry-After), small ones always with 200, and the process stays below 64 MiB.
#
# usage: memory.sh [BUILD]
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
"$gpugated" certs --dir "$work/certs" --dns localhost >/dev/null || exit 1
pid=
stop() { [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null; }
at_exit=stop

# start ARGUMENTS: starts the webhook, and sets pid, port and probe.
start() {
	"$gpugated" --listen 127.0.0.1:0 --probe-listen 127.0.0.1:0 --threads 2 \
		--tls-cert "$work/certs/tls.crt" --live off \
		--tls-key "$work/certs/tls.key" "$@" 2>"$work/log" &
	pid=$!
	for _ in $(seq 300); do
		grep -q '"msg":"ready"' "$work/log" && break
		sleep 0.1
	done
	port=$(sed -n 's/.*"msg":"listening".*"port":\([0-9]*\).*/\1/p' "$work/log")
	probe=$(sed -n 's/.*"probes listening".*"port":\([0-9]*\).*/\1/p' "$work/log")
}

flood() {
	python3 "$tests/check/memory.py" "$work/certs/ca.crt" "$port" "$pid" "$@"
}

said() {
	grep -q 'reviews were rejected with 429: --max-memory is in use' \
		"$work/log"
}

counted() {
	curl -sS "http://127.0.0.1:$probe/metrics" |
		grep -q '^gpugate_memory_refused_total [1-9]'
}

start --max-memory 47Mi
# Sanitizers use additional memory.
limit=64
strings "$gpugated" | grep -q __asan_init && limit=4096
check '24 bodies of 4.6 MB at once' flood texts 24 $limit
check '24 bodies of many values' flood values 24 $limit
check '24 updates that are long and have many findings' flood updates 24 $limit
check 'the log says so' said
check 'and a metric' counted
stop
start --max-memory 47Mi
limit=56
strings "$gpugated" | grep -q __asan_init && limit=4096
check '4 workflows of deep manifests' flood brackets 4 $limit
check '4 workflows of one long list' flood lists 4 $limit
stop
# With less memory than four of the reviews need, each is still answered, and
# the process is not killed.
if ! strings "$gpugated" | grep -q __asan_init; then
	ulimit -S -d 61440
	start --max-memory 160Mi
	ulimit -S -d unlimited
	check 'without enough memory' flood lists 4 $limit
fi
finish memory
