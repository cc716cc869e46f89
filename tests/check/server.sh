#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the webhook's server alone, in front of a webhook that checks nothing:
# rejections that reach the client, overload, two servers that are drained in
# turn, thousands of slow clients, memory, and its CPU time compared with the
# least that libmicrohttpd needs.
# usage: server.sh BUILD [PART...]
# About 2 minutes. Parts: refusals overload drain memory slow floor
#
# SECONDS_SLOW=25: how long slow clients run. SECONDS_CPU=5: how long each
# timing takes.
# Without Go or wrk the parts that need them are skipped
# with a message.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
shift
[ $# -gt 0 ] || set -- refusals overload drain memory slow floor
pids=()
end() {
	for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; done
	rm -rf "$work"
}
trap end EXIT
pass=0 fail=0 skip=0
ok() { pass=$((pass + 1)) && echo "ok: $1"; }
bad() { fail=$((fail + 1)) && echo "FAIL: $1" >&2; }
skipped() { skip=$((skip + 1)) && echo "skip: $1"; }
# figure TEXT COMMAND...: prints whether a time is within its limit. It is
# checked only with TIMES=strict, on a machine without other work.
figure() {
	if [ "${TIMES:-}" = strict ]; then
		verdict "$@"
	elif "${@:2}"; then
		echo "figure within its limit: $1"
	else
		echo "figure NOT within its limit: $1"
	fi
}
verdict() { if "${@:2}"; then ok "$1"; else bad "$1"; fi; }

ulimit -n "$(ulimit -Hn)"
link=(-lyaml -lpcre2-8 -ljansson -lmicrohttpd -lgnutls -lssl -lcrypto -lcurl)
${CC:-gcc} -std=c11 -D_GNU_SOURCE -Iinclude -I. -O2 -g -pthread -fno-lto \
	-o "$work/host" tests/webhook/server_host.c "$build/libgpugated.a" \
	"$build/libgpugate.a" "${link[@]}" || exit 1
${CC:-gcc} -O2 -pthread -o "$work/floor" tests/bench/mhd_floor.c \
	-lmicrohttpd || exit 1
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
	-keyout "$work/key.pem" -out "$work/cert.pem" -days 30 \
	-subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null

# start NAME PROGRAM ARGUMENTS...: starts a server, and sets pid, port and
# probe.
start() {
	local name=$1
	shift
	: >"$work/$name.out"
	"$@" >"$work/$name.out" 2>"$work/$name.err" &
	pid=$!
	pids+=("$pid")
	for _ in $(seq 100); do
		grep -q listening "$work/$name.out" && break
		sleep 0.05
	done
	read -r _ port probe <"$work/$name.out"
}
host() {
	local name=$1
	shift
	start "$name" "$work/host" "$work/cert.pem" "$work/key.pem" \
		127.0.0.1:0 "$@"
}
stop() {
	kill "$1" && wait "$1" 2>/dev/null
}
load() { "$work/load" load "$@" 2>"$work/reasons"; }
field() { echo "$2" | grep -o "$1=[0-9-]*" | cut -d= -f2; }
rss() { awk '/VmRSS/ { print $2 }' "/proc/$1/status"; }

refusals() {
	local line
	host refusals
	line=$(load -to "$port" -rate 50 -seconds 3 -body 8000000 -want 413)
	verdict "each of 150 bodies of 8 MB hears 413: $line" \
		[ "$(field failed "$line")" = 0 ]
	stop "$pid"
}

overload() {
	local line
	host overload max_in_flight=4
	line=$(load -to "$port" -rate 0 -seconds 5 -callers 64 \
		-body 4000000 -retry)
	verdict "overload asks callers to come again, and all are served: $line" \
		[ "$(field failed "$line")" = 0 ]
	verdict "overload was reached" [ "$(field retried "$line")" -gt 0 ]
	stop "$pid"
}

drain() {
	local line first second ports probes
	host first
	first=$pid ports=$port probes=$probe
	host second
	second=$pid ports=$ports,$port probes=$probes,$probe
	load -to "$ports" -ready "$probes" -rate 600 -seconds 28 \
		>"$work/drain" &
	local loader=$!
	sleep 3
	for turn in first second first; do
		kill "${!turn}"
		wait "${!turn}"
		start "$turn" "$work/host" "$work/cert.pem" "$work/key.pem" \
			"127.0.0.1:$(cut -d, -f"$([ $turn = first ] && echo 1 || echo 2)" <<<"$probes")" \
			"listen=127.0.0.1:$(cut -d, -f"$([ $turn = first ] && echo 1 || echo 2)" <<<"$ports")"
		printf -v "$turn" '%s' "$pid"
		sleep 1.5
	done
	wait $loader
	line=$(cat "$work/drain")
	verdict "three drains in turn lose nothing: $line" \
		[ "$(field failed "$line")" = 0 ]
	cat "$work/reasons" >&2
	kill "$first" "$second"
}

slow() {
	local before under after limit line seconds=${SECONDS_SLOW:-25}
	host slow handshake=5 header=5 body=5 max_in_flight=600
	load -to "$port" -rate 300 -seconds 2 >/dev/null
	before=$(load -to "$port" -rate 300 -seconds 8)
	"$work/load" slow -to "$port" -kinds idle -each 2000 \
		-spread 2 -seconds $((seconds + 15)) >"$work/idle" &
	local idle=$!
	"$work/load" slow -to "$port" -kinds handshake,header,body,read \
		-each 250 -spread 5 -seconds $((seconds + 10)) >"$work/slow" &
	local slow=$!
	pids+=("$idle" "$slow")
	for _ in $(seq 200); do
		grep -q ready "$work/idle" && grep -q ready "$work/slow" && break
		sleep 0.1
	done
	sleep 2
	under=$(load -to "$port" -rate 300 -seconds "$seconds" -retry)
	echo "memory with 3,000 clients, 250 of which leave 1 MB unread: $(rss "$pid") kB"
	wait $slow $idle
	after=$(load -to "$port" -rate 300 -seconds 8)
	echo "before: $before"
	echo "under:  $under"
	echo "after:  $after"
	limit=$(field p99 "$before")
	[ "$(field p99 "$after")" -gt "$limit" ] && limit=$(field p99 "$after")
	verdict "1,000 slow and 2,000 idle clients: nothing is lost" \
		[ "$(field failed "$under")" = 0 ]
	figure "p99 with them is at most twice that without (and 2 ms)" \
		[ "$(field p99 "$under")" -le $((2 * limit + 2000)) ]
	figure 'and half of the callers notice next to nothing' \
		[ "$(field p50 "$under")" -le $((3 * $(field p50 "$before"))) ]
	line=$(tr '\n' ' ' <"$work/slow")
	for kind in handshake header body; do
		verdict "$kind was cut again and again: $line" \
			[ "$(grep -o "$kind [0-9]*" "$work/slow" | cut -d' ' -f2)" -ge 250 ]
	done
	verdict 'the idle ones were left alone' grep -qx 'idle 0' "$work/idle"
	stop "$pid"
}

memory() {
	local idle
	host memory
	idle=$(rss "$pid")
	"$work/load" slow -to "$port" -kinds idle -each 1000 -seconds 4 \
		>"$work/idle" &
	local client=$!
	sleep 3.5
	echo "memory: $idle kB idle, $(rss "$pid") kB with 1,000 connections"
	verdict 'with 1,000 connections it takes at most 40 MB' \
		[ "$(rss "$pid")" -le 40960 ]
	wait $client
	for _ in $(seq 50); do
		[ "$(rss "$pid")" -le $((idle + 4096)) ] && break
		sleep 0.1
	done
	echo "memory: $(rss "$pid") kB when they are gone"
	verdict 'when they are gone their memory is given back' \
		[ "$(rss "$pid")" -le $((idle + 4096)) ]
	stop "$pid"
}

# --- CPU time ---------------------------------------------------------------

ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# cpu NAME: prints the CPU nanoseconds per request of the server $pid
cpu() {
	local before after requests
	wrk -t2 -c32 -d1 -s "$work/post.lua" \
		"https://127.0.0.1:$port/mutate?timeout=10s" >/dev/null
	before=$(ticks "$pid")
	wrk -t2 -c32 -d"${SECONDS_CPU:-5}" -s "$work/post.lua" \
		"https://127.0.0.1:$port/mutate?timeout=10s" >"$work/wrk"
	after=$(ticks "$pid")
	requests=$(awk '/requests in/ { print $1 }' "$work/wrk")
	grep -q Non-2xx "$work/wrk" && bad "$1: not all were answered"
	echo $(((after - before) * 10000000 / (requests + 1)))
}

least() { printf '%s\n' "$@" | sort -n | head -1; }

floor() {
	local servers=() floors=()
	cat >"$work/post.lua" <<'LUA'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"kind":"AdmissionReview","x":"' .. string.rep("y", 3060) .. '"}'
LUA
	for _ in 1 2 3; do
		start floor "$work/floor" "$work/cert.pem" "$work/key.pem" 2
		floors+=("$(cpu floor)")
		stop "$pid"
		host server threads=2
		servers+=("$(cpu server)")
		stop "$pid"
	done
	echo "CPU, ns a request: server ${servers[*]}, libmicrohttpd's floor ${floors[*]}"
	figure 'the server takes no more than 1.1 of the floor' \
		[ $(($(least "${servers[@]}") * 10)) -le \
		$(($(least "${floors[@]}") * 11)) ]
}

has_go=
command -v go >/dev/null &&
	go build -o "$work/load" tests/webhook/server_load.go && has_go=1
for part; do
	case $part in
	floor)
		if ! command -v wrk >/dev/null; then
			skipped 'server: wrk is not here: no CPU time'
			continue
		fi
		;;
	*)
		if [ -z "$has_go" ]; then
			skipped "server: Go is not here: no $part"
			continue
		fi
		;;
	esac
	"$part"
done
echo "server: $pass passed, $fail failed, $skip skipped"
[ "$fail" -eq 0 ]
