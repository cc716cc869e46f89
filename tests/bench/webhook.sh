#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures CPU time of the webhook per request and compares it with servers
# that check nothing, in the same run with the same certificate and the same
# client: wrk with 32 TLS connections that stay open. Only ratios are
# compared. The figures are written to BUILD/bench/webhook.txt.
#
# usage: webhook.sh BUILD        SECONDS_EACH=3: length of one measurement
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
each=${SECONDS_EACH:-3}
for need in wrk python3 cc; do
	command -v $need >/dev/null || {
		echo "skip: webhook: $need is not on PATH"
		exit 0
	}
done
[ -x "$build/gpugated" ] || {
	echo "skip: webhook: $build/gpugated is not built"
	exit 0
}
work=$(mktemp -d)
server=0
stop() {
	[ "$server" = 0 ] || kill "$server" 2>/dev/null || true
	[ "$server" = 0 ] || wait "$server" 2>/dev/null || true
	server=0
}
trap 'stop; rm -rf "$work"' EXIT
mkdir -p "$build/bench"
exec > >(tee "$build/bench/webhook.txt") 2>&1

python3 "$here/bodies.py" "$work"
"$build/gpugated" certs --dir "$work" --dns localhost >/dev/null
cat >"$work/policy.yaml" <<'END'
apiVersion: gpugate.dev/v1
kind: Policy
extends: [all]
mode: enforce
END
ticks=$(getconf CLK_TCK)
port=
declare -A CPU RATE RSS BUSY HELD
ulimit -n 8192 2>/dev/null || true

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
cpu_of() { # PID: prints its CPU ticks in user and kernel
	awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"
}
rss_of() {
	awk '/^VmRSS/ { print $2 }' "/proc/$1/status"
}
start() { # NAME COMMAND...: waits until it answers
	local name=$1
	shift
	"$@" >"$work/$name.log" 2>&1 &
	server=$!
	for _ in $(seq 100); do
		# The static server chooses its port itself.
		[ "$name" != static ] ||
			port=$(awk '/^listening/ { print $2 }' "$work/$name.log")
		[ -z "$port" ] || (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && [ -n "$port" ] && return 0
		kill -0 $server 2>/dev/null || break
		sleep 0.1
	done
	echo "webhook: $name does not start" >&2
	cat "$work/$name.log" >&2
	return 1
}
load() { # SECONDS CONNECTIONS MIX
	MIX=$3 wrk -t 2 -c "$2" -d "$1s" -s "$here/post.lua" \
		"https://127.0.0.1:$port/" >"$work/wrk.out"
	if grep -q 'Non-2xx' "$work/wrk.out"; then
		cat "$work/wrk.out" >&2
		exit 1
	fi
}
measure() { # NAME BODY MIX
	local before after n
	load 1 32 "$3"
	# Other programs can only increase the CPU time, so the smaller of two
	# measurements counts.
	for _ in 1 2; do
		before=$(cpu_of $server)
		load "$each" 32 "$3"
		after=$(cpu_of $server)
		n=$(awk '/requests in/ { print $1 }' "$work/wrk.out")
		CPU[$1-$2]=$(awk -v t=$((after - before)) -v hz="$ticks" \
			-v n="$n" -v old="${CPU[$1-$2]:-1e9}" 'BEGIN {
			new = t / hz * 1e6 / n
			printf "%.1f", new < old ? new : old }')
		RATE[$1-$2]=$(awk -v old="${RATE[$1-$2]:-0}" '/^Requests\/sec/ {
			printf "%d", ($2 > old ? $2 : old) }' "$work/wrk.out")
	done
	printf '  %-10s %-6s %8s CPU-us/request %8s requests/s\n' "$1" "$2" \
		"${CPU[$1-$2]}" "${RATE[$1-$2]}"
}
hold() { # sets held: resident KiB with 1,000 connections that were all served
	local client line
	coproc KEEP { python3 "$here/hold.py" "$port" 1000 "$work/pod.json"; }
	client=$KEEP_PID
	read -r line <&"${KEEP[0]}" && [ "$line" = held ]
	held=$(rss_of $server)
	kill "$client"
	wait "$client" || true
}
serve() { # NAME BODIES COMMAND...
	local name=$1 bodies=$2 body
	shift 2
	start "$name" "$@" || return 0
	RSS[$name]=$(rss_of $server)
	for body in $bodies; do
		measure "$name" "$body" "/validate $work/$body.json"
	done
	if [ "$name" = gpugated ]; then
		measure "$name" deny "/validate $work/deny.json"
		measure "$name" patch "/mutate $work/patch.json"
		measure "$name" mix "/validate $work/pod.json
/mutate $work/pod.json
/validate $work/pod.json
/validate $work/ptj.json
/mutate $work/patch.json
/validate $work/deny.json"
	fi
	stop
	start "$name" "$@"
	hold
	HELD[$name]=$held
	load 3 1000 "/validate $work/pod.json" &
	sleep 2
	BUSY[$name]=$(rss_of $server)
	wait $!
	printf '  %-10s %8s KB idle %8s KB with 1,000 connections %8s KB when all ask at once\n' \
		"$name" "${RSS[$name]}" "${HELD[$name]}" "${BUSY[$name]}"
	stop
}
ratio() { # TEXT VALUE FLOOR AIM
	[ -n "${2:-}" ] && [ -n "${3:-}" ] || return 0
	awk -v t="$1" -v a="$2" -v b="$3" -v aim="$4" 'BEGIN {
		printf "  => %-52s %6.3f (aim <= %s) %s\n", t, a / b, aim,
			a / b <= aim ? "ok" : "MISSED" }'
}

echo "webhook: wrk, 32 connections, 2 x $each s each; threads $(nproc)"
port=
if cc -O2 -o "$work/mhd_floor" "$here/mhd_floor.c" -lmicrohttpd \
	2>"$work/cc.log"; then
	serve static 'pod ptj big' "$work/mhd_floor" "$work/tls.crt" \
		"$work/tls.key" "$(nproc)"
else
	echo "skip: webhook: no static floor (libmicrohttpd-dev)"
fi
port=$(free_port)
probe=$(free_port)
serve gpugated 'pod ptj big' "$build/gpugated" --listen "127.0.0.1:$port" \
	--probe-listen "127.0.0.1:$probe" --tls-cert "$work/tls.crt" \
	--tls-key "$work/tls.key" --policy "$work/policy.yaml" \
	--log-level error
if command -v go >/dev/null && (cd "$here/go" &&
	go build -o "$work/" ./nethttp ./ctrl >"$work/go.log" 2>&1); then
	port=$(free_port)
	serve nethttp 'pod ptj big' "$work/nethttp" "$port" \
		"$work/tls.crt" "$work/tls.key"
	port=$(free_port)
	serve ctrl 'pod ptj big' "$work/ctrl" "$port" \
		"$work/tls.crt" "$work/tls.key"
else
	echo "skip: webhook: no peers in Go (go, or its modules, are not here)"
fi

echo 'ratios:'
for body in pod ptj big; do
	ours=${CPU[gpugated-$body]:-}
	ratio "$body: CPU / static reply" "$ours" "${CPU[static-$body]:-}" 1.3
	ratio "$body: CPU / Go net/http always-allow" "$ours" \
		"${CPU[nethttp-$body]:-}" 0.25
	ratio "$body: CPU / controller-runtime always-allow" "$ours" \
		"${CPU[ctrl-$body]:-}" 0.1
done
ratio 'patch: CPU / validate' "${CPU[gpugated-patch]:-}" \
	"${CPU[gpugated-pod]:-}" 1.15
ratio 'resident idle / 14 MB' "${RSS[gpugated]:-}" 14336 1
ratio 'resident with 1,000 connections / 40 MB' "${HELD[gpugated]:-}" 40960 1
ratio 'resident, 1,000 ask at once / static reply' "${BUSY[gpugated]:-}" \
	"${BUSY[static]:-}" 1
